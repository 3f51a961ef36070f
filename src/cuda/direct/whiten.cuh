// From data as given to whitened coordinates, in which every bandwidth is one.
#ifndef KESTREL_CUDA_DIRECT_WHITEN_CUH
#define KESTREL_CUDA_DIRECT_WHITEN_CUH

#include <cstddef>

#include "shared/coordinates.hpp"
#include "shared/exp2.hpp"

namespace kestrel_cuda {

using kestrel::kNoWeight;

struct Map {
  const double* matrix;  // null: coordinates are taken as they are
  const double* centre;
  double farthest;
  int d;
  bool diagonal;
};

/// A sum of squares that is rounded once, except for 2^-100: it keeps the rounding error of every
/// square and sum.
struct SumOfSquares {
  double high = 0.0, low = 0.0;
  __device__ void add(double v) {
    const double square = __dmul_rn(v, v);  // not to be contracted with the sum
    const double sum = high + square, part = sum - high;
    low += fma(v, v, -square) + ((high - (sum - part)) + (square - part));
    high = sum;
  }
  __device__ double value() const { return high + low; }
};

/// The coordinates of a sample that have been computed so far.
struct Kept {
  const double* first;
  std::size_t padded;
  KESTREL_HD KESTREL_INLINE double operator()(std::size_t l) const { return first[l * padded]; }
};

/// The output of whiten(): rows of `padded` values, with zeros past the number of data.
template <class Real>
struct Whitened {
  Real* coordinate;  // d rows
  double* square;    // null, or the squared length of the coordinates as they are stored
  Real* weight;      // null, or the weight
  double largest;    // above 0: the weight is log2(w / largest), and there is a second row:
                     // log2(w / largest) - |x|^2, rounded once
};

/// Turns row i of `from` (column-major, columns `stride` apart) into whitened coordinates.
/// `history` keeps them in double precision meanwhile; it may be the output itself.
template <class Real>
__global__ void whiten(Map map, const double* from, std::size_t stride, std::size_t count,
                       std::size_t padded, double* history, const double* weight,
                       Whitened<Real> to) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= padded) return;
  SumOfSquares square;
  for (int k = 0; k < map.d; ++k) {
    double v = 0.0;
    if (i < count) {
      v = from[k * stride + i];
      if (map.matrix != nullptr) {
        const double* row = map.matrix + static_cast<std::size_t>(k) * map.d;
        const Kept kept{history + i, padded};
        v = kestrel::number::whitened(v, map.centre[k], row, k, map.diagonal, map.farthest, kept);
        if (!map.diagonal) history[k * padded + i] = v;
      }
    }
    const Real stored = static_cast<Real>(v);
    to.coordinate[k * padded + i] = stored;
    square.add(static_cast<double>(stored));
  }
  if (to.square != nullptr) to.square[i] = square.value();
  if (to.weight == nullptr) return;
  const double w = i < count ? weight[i] : 0.0;
  if (!(to.largest > 0)) {
    to.weight[i] = static_cast<Real>(w);
    return;
  }
  const double logarithm = w > 0 ? fmax(log2(w / to.largest), kNoWeight) : kNoWeight;
  to.weight[i] = static_cast<Real>(logarithm);
  to.weight[padded + i] = static_cast<Real>(logarithm - square.value());
}

}  // namespace kestrel_cuda

#endif
