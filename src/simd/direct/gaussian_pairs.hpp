// Leaf loops of sums over pairs for cross-validation with the Gaussian kernel.
//
// With q = |z_i - z_j|^2 and z whitened by the root of 2H, e = 2^-q is the kernel K*K = K_2H and
// its square is K_H, both without their constants: one exponential per pair serves both.
#ifndef KESTREL_SIMD_DIRECT_GAUSSIAN_PAIRS_HPP
#define KESTREL_SIMD_DIRECT_GAUSSIAN_PAIRS_HPP

#include <cstddef>

#include "simd/direct/direct.hpp"

namespace kestrel {
namespace simd {

// Point i of the block and sample j of the tile are a pair iff j > i + offset.
struct PairVisit {
  Tile tile;
  Block block;
  std::ptrdiff_t offset;
  std::size_t d;
};
constexpr std::ptrdiff_t kAllPairs = -(std::ptrdiff_t{1} << 30);

// Adds the sums of w_i w_j e to sum[0] and of w_i w_j e^2 to sum[1].
using PairSumFunction = void (*)(const PairVisit&, double* sum);

// With v = z_i - z_j, and c = 0 for e or, if there are two kernels, c = 1 for e^2: adds numbers
// whose sum over the lanes l < kLanes is
//     sum w_i w_j e                           in sum[(c (1 + d d)) kLanes + l],
//     A_kl with A + A' = sum w_i w_j e v v'   in sum[(c (1 + d d) + 1 + k d + l') kLanes + l].
// Lanes that the instruction set does not have are left alone.
using PairMomentFunction = void (*)(const PairVisit&, double* scratch, double* sum);

// Point i against the tile: writes w_i w_j and q of each pair, in whole vectors, with q finite and
// weight 0 for what is no pair. Returns how many were written, at most tile.count + kLanes.
using PairDistanceFunction = std::size_t (*)(const PairVisit&, std::size_t i, double* distance,
                                             double* weight);

// Takes pairs as PairDistanceFunction writes them, a multiple of kCurveStrip and at most
// kCurvePairs. For factor s, f in (0, 1/2], and e = 2^-(q f): adds the sum of w_i w_j e to sum[2 s]
// and that of w_i w_j e^2 to sum[2 s + 1].
struct PairDistances {
  const double* distance;
  const double* weight;
  std::size_t count;
};
using PairCurveFunction = void (*)(const PairDistances&, const double* factor, std::size_t factors,
                                   double* sum);
constexpr std::size_t kCurveStrip = 64;
// How many pairs are written before they are added to the curve: they stay in a level-1 cache of 32
// KiB.
constexpr std::size_t kCurvePairs = 1536;

struct GaussianPairTable {
  PairSumFunction sums;
  PairDistanceFunction distances;
  PairCurveFunction curve;
  // [kernels - 1]. `direct` forms every product of every pair; `near` multiplies blocks. `near` is
  // faster from four dimensions on, and as exact where block coordinates are small (within e 2^-53
  // z^2 each).
  PairMomentFunction direct[2], near[2];
};

extern const GaussianPairTable* const kGaussianPairTables[kSets];

// Points that `near` takes at a time.
constexpr std::size_t kPairChunk = 32;

// Doubles of scratch that the moment functions need, for tiles of at most `samples`.
inline std::size_t pair_scratch_size(std::size_t d, std::size_t samples) {
  return 2 * kPairChunk * kLanes * (kStrip + 2) + kPairChunk * d +
         2 * (d + 1) * (samples + kStrip * kLanes);
}

}  // namespace simd
}  // namespace kestrel

#endif
