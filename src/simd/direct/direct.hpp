// Leaf loops of the direct engine: sums of kernels over one tile of samples, for one block of
// evaluation points.
#ifndef KESTREL_SIMD_DIRECT_DIRECT_HPP
#define KESTREL_SIMD_DIRECT_DIRECT_HPP

#include <cstddef>

#include "shared/kernel.hpp"
#include "simd/table.hpp"

namespace kestrel {
namespace simd {

// Evaluation points are taken in groups of at most this many; rows of a block are readable up to
// the next multiple, and so is the output.
constexpr std::size_t kTargets = 8;

// Samples, dimension after dimension: coordinate k of sample j is coordinate[k * stride + j]. Each
// row is readable for kLanes values past its last sample, where weights are zero, so that leaves
// need no remainder loops.
struct Tile {
  const double* coordinate;
  const double* weight;
  std::size_t stride;
  std::size_t count;
};

// Evaluation points in the same layout. `weight` is used by the leaves of sums over pairs only.
struct Block {
  const double* coordinate;
  const double* weight;
  std::size_t stride;
  std::size_t count;
};

// What a leaf computes for evaluation point z from samples z_j: sum_j w_j value(z - z_j). Each
// kernel of shared/kernels.def has two leaves: radial, the profile at |z - z_j|; and product, the
// product of the profiles at |z_k - z_jk|. The Gaussian kernel, 2^-q with q = |z - z_j|^2, is its
// own product. The uniform kernel is decided by the data as given: radial, it is 1 where |root^-1
// (z - z_j)|^2 <= 1; product, where |z_k - z_jk| <= root_kk for every k. The last leaf is
// gaussian_polynomial, (c_0 + c_1 (-q) + ... + c_p (-q)^p) 2^-q.
enum class Leaf {
#define KESTREL_KERNEL(name, form, inner, outer) name,
#include "shared/kernels.def"
#define KESTREL_KERNEL(name, form, inner, outer) product_##name,
#include "shared/kernels.def"
  gaussian_polynomial,
  count
};
constexpr std::size_t kLeaves = static_cast<std::size_t>(Leaf::count);

constexpr Leaf leaf_of(Kernel kernel, bool product) {
  return static_cast<Leaf>(static_cast<std::size_t>(kernel) +
                           (product && is_compact(kernel) ? kKernels : 0));
}

struct Parameters {
  std::size_t d;              // number of coordinates
  const double* root;         // d*d, row-major lower triangle: the uniform leaves' bandwidth root
  const double* coefficient;  // gaussian_polynomial: c_0 .. c_degree
  int degree;
  double* scratch;  // uniform and moments: scratch_size() doubles, 64-byte aligned
};

// sum[i] for i < block.count, overwritten; up to kTargets - 1 values past the end are clobbered.
using SumFunction = void (*)(const Tile&, const Block&, const Parameters&, double* sum);

// All products of coordinates up to some order, each as a product of an earlier one (its parent)
// and a coordinate: monomial 0 is the constant 1; monomial t = monomial parent[t] * u_axis[t].
struct Monomials {
  std::size_t count;
  const int* parent;
  const int* axis;
};

// sum[t] += sum_i w_i sum_j w_j 2^-q monomial_t(z_i - z_j).
using MomentFunction = void (*)(const Tile&, const Block&, const Parameters&, const Monomials&,
                                double* sum);

// Affine map of samples into a tile, see whitened() in shared/coordinates.inc. With a scale s, the
// lower Cholesky factor L, a_kk = s / L_kk and a_kl = L_kl / L_kk, this is z = s L^-1 (x - c) by
// forward substitution.
struct Whitening {
  const double* matrix;  // d*d row-major, lower triangle used
  const double* centre;  // d
  std::size_t d;
  bool diagonal;
  double farthest;
};
// Reads count values from each column x[k * column], writes them to rows z[k * stride], and pads
// each row with kLanes zeros.
using WhitenFunction = void (*)(const Whitening&, const double* x, std::size_t column,
                                std::size_t count, double* z, std::size_t stride);

struct DirectTable {
  SumFunction sum[kLeaves];
  MomentFunction moments;
  WhitenFunction whiten;
};

extern const DirectTable* const kDirectTables[kSets];

// Vectors of samples that `moments` takes at a time.
constexpr int kStrip = 4;

// Doubles of scratch that `Parameters::scratch` must offer.
inline std::size_t scratch_size(std::size_t d, std::size_t monomials) {
  return ((d + monomials) * kStrip + monomials) * kLanes;
}

}  // namespace simd
}  // namespace kestrel

#endif
