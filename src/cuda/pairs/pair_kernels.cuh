// Loops over pairs of a sample. The pairs i < j are an upper triangle (Andrzejewski et al. 2013,
// figure 3) of tiles: a block has kPairThreads points i, one a thread, and pairs them with one
// chunk of the samples j, from its own first point on. Every block writes its sums to memory of its
// own, so that they are added in the same order in every run.
#ifndef KESTREL_CUDA_PAIRS_PAIR_KERNELS_CUH
#define KESTREL_CUDA_PAIRS_PAIR_KERNELS_CUH

#include <cstddef>

#include "cuda/base/block_sum.cuh"
#include "cuda/base/exp2.cuh"
#include "cuda/direct/sums.cuh"

namespace kestrel_cuda {

constexpr int kPairThreads = 128;
/// Samples that a block keeps in shared memory at a time, and samples that a thread takes at a time
/// for moments (for sums it is Leaf::kStep).
constexpr int kPairTile = 32, kMomentStep = 4;
/// Bandwidths of one sweep over the pairs: the sums for this many stay in registers.
constexpr int kPairFactors = 16;
/// Exponents are clamped to this: 2 to the power of minus this is zero, and within the range of the
/// exponential.
constexpr double kFarthestSquare = kestrel::kExp2Range / 2;

/// min(q, kFarthestSquare) for q >= 0. The high words of such numbers are in the order of the
/// numbers, and that of kFarthestSquare is the smallest of all numbers not below it.
__device__ __forceinline__ double cut_square(double q) {
  constexpr int kHighWord = 0x41700000;
  return __double2hiint(q) < kHighWord ? q : kFarthestSquare;
}
__device__ __forceinline__ float cut_square(float q) {
  return fminf(q, static_cast<float>(kFarthestSquare));
}

/// Rows of a coordinate: in single precision the rounding error of one number is in a second one,
/// so that the difference of two samples has a relative error of 2^-23 however far they are from
/// the centre.
template <class Real>
constexpr int kPairRows = sizeof(Real) == sizeof(double) ? 1 : 2;

/// What a loop over pairs reads and writes, all but `parameter` in device memory.
template <class Real>
struct PairTask {
  const Real* z;       // d kPairRows rows of `stride`, a multiple of kChunkUnit: whitened
                       // coordinates
  const Real* weight;  // of the samples; those that pad the last block have weight zero
  std::size_t stride;
  std::size_t chunk;        // samples of a chunk, a multiple of kChunkUnit
  std::size_t first_chunk;  // that of blockIdx.y = 0
  Real scale;               // q = scale |z_i - z_j|^2
  double* partial;          // [(blockIdx.y * gridDim.x + blockIdx.x) * sums + sum]
  int d;
  Real parameter[kPairFactors];  // coefficients, or factors
};

template <class Real>
struct PairExponential;
template <>
struct PairExponential<double> {
  using type = Exp2Double;
};
template <>
struct PairExponential<float> {
  using type = Exp2Single<0>;
};

/// P(q) 2^-q.
template <class Number>
struct PairPolynomial {
  using Real = Number;
  static constexpr int kSums = 1, kStep = 8, kBlocks = 8;
  typename PairExponential<Real>::type exponential;
  __device__ __forceinline__ void add(const PairTask<Real>& task, Real square, Real weight,
                                      Real* sum) const {
    const Real q = cut_square(square);
    Real p = task.parameter[KESTREL_GPU_PAIR_COEFFICIENTS - 1];
#pragma unroll
    for (int r = KESTREL_GPU_PAIR_COEFFICIENTS - 2; r >= 0; --r) p = fma(p, q, task.parameter[r]);
    sum[0] = fma(p * exponential.of(-q), weight, sum[0]);
  }
};

/// For kFactors bandwidths e = 2^-(q f) and its square, that is K*K and K with one exponential
/// (Andrzejewski et al. 2013, eqs 24-27, but no distances are stored). The product q f is clamped,
/// not q: pairs that are a million of the smallest bandwidths apart may be within the largest.
template <int kFactors, class Number>
struct PairCurve {
  using Real = Number;
  static constexpr int kSums = 2 * kFactors, kStep = kFactors > 4 ? 4 : 8;
  static constexpr int kBlocks = kFactors > 4 ? 3 : 6;  // on a multiprocessor
  typename PairExponential<Real>::type exponential;
  __device__ __forceinline__ void add(const PairTask<Real>& task, Real q, Real weight,
                                      Real* sum) const {
#pragma unroll
    for (int s = 0; s < kFactors; ++s) {
      const Real e = exponential.of(-cut_square(q * task.parameter[s]));
      const Real weighted = e * weight;
      sum[2 * s] += weighted;
      sum[2 * s + 1] = fma(weighted, e, sum[2 * s + 1]);
    }
  }
};

/// Splits coordinates z into two numbers each. Grid: (samples / kPairThreads, rows).
__global__ void split_rows(const double* z, std::size_t stride, float* to) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const double value = z[blockIdx.y * stride + i];
  const float high = static_cast<float>(value);
  to[2 * blockIdx.y * stride + i] = high;
  to[(2 * blockIdx.y + 1) * stride + i] = static_cast<float>(value - high);
}

__global__ void round_row(const double* from, float* to) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  to[i] = static_cast<float>(from[i]);
}

/// Loads samples [start, start + kPairTile) into shared memory: `rows` rows of coordinates, zero
/// beyond those of the d variables, and the weights as the last row.
template <class Real>
__device__ __forceinline__ void load_pair_tile(const PairTask<Real>& task, std::size_t start,
                                               int rows, Real* tile) {
  const int used = task.d * kPairRows<Real>;
  for (int at = threadIdx.x; at < (rows + 1) * kPairTile; at += kPairThreads) {
    const int k = at / kPairTile;
    const std::size_t j = start + at % kPairTile;
    tile[at] = k == rows ? task.weight[j] : k < used ? task.z[k * task.stride + j] : Real(0);
  }
}

/// q of point i and kCount samples of the tile from position j on. Finite, since coordinates are
/// clamped.
template <int kCount, class Real>
__device__ __forceinline__ void pair_distances(const PairTask<Real>& task, std::size_t i,
                                               const Real* tile, int j, Real* q) {
  constexpr int kRows = kPairRows<Real>, kLength = Vector16<Real>::kLength;
#pragma unroll
  for (int s = 0; s < kCount; ++s) q[s] = 0;
  for (int k = 0; k < task.d; ++k) {
    Real z[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) z[r] = task.z[(k * kRows + r) * task.stride + i];
#pragma unroll
    for (int s = 0; s < kCount; s += kLength) {
      Real x[kRows][kLength];
#pragma unroll
      for (int r = 0; r < kRows; ++r) load16(tile + (k * kRows + r) * kPairTile + j + s, x[r]);
#pragma unroll
      for (int t = 0; t < kLength; ++t) {
        Real u = x[0][t] - z[0];
        if constexpr (kRows == 2) u += x[1][t] - z[1];
        q[s + t] = fma(u, u, q[s + t]);
      }
    }
  }
#pragma unroll
  for (int s = 0; s < kCount; ++s) q[s] *= task.scale;
}

/// Sums of the Leaf over the pairs i < j. In single precision only the sums of a tile are in
/// single; all tiles are added in double. Grid: (blocks of points, chunks); shared memory: d
/// kPairRows + 1 rows of kPairTile.
template <class Leaf>
__global__ void __launch_bounds__(kPairThreads, Leaf::kBlocks)
    pair_sum(const PairTask<typename Leaf::Real> task) {
  using Real = typename Leaf::Real;
  extern __shared__ __align__(16) double shared[];
  Real* const tile = reinterpret_cast<Real*>(shared);
  __shared__ double room[kPairThreads / 32];
  const Leaf leaf;
  const int rows = task.d * kPairRows<Real>;
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kPairThreads;
  const std::size_t i = first + threadIdx.x;
  const std::size_t chunk = (task.first_chunk + blockIdx.y) * task.chunk;
  const std::size_t end = chunk + task.chunk < task.stride ? chunk + task.chunk : task.stride;
  double total[Leaf::kSums];
#pragma unroll
  for (int t = 0; t < Leaf::kSums; ++t) total[t] = 0.0;
  for (std::size_t start = chunk > first ? chunk : first; start < end; start += kPairTile) {
    __syncthreads();
    load_pair_tile(task, start, rows, tile);
    __syncthreads();
    Real sum[Leaf::kSums];
#pragma unroll
    for (int t = 0; t < Leaf::kSums; ++t) sum[t] = sizeof(Real) == 8 ? Real(total[t]) : Real(0);
    for (int j = 0; j < kPairTile; j += Leaf::kStep) {
      Real q[Leaf::kStep], weight[Leaf::kStep];
      pair_distances<Leaf::kStep>(task, i, tile, j, q);
#pragma unroll
      for (int s = 0; s < Leaf::kStep; s += Vector16<Real>::kLength)
        load16(tile + rows * kPairTile + j + s, weight + s);
#pragma unroll
      for (int s = 0; s < Leaf::kStep; ++s) {
        leaf.add(task, q[s], start + j + s > i ? weight[s] : Real(0), sum);
      }
    }
#pragma unroll
    for (int t = 0; t < Leaf::kSums; ++t) {
      total[t] =
          sizeof(Real) == 8 ? static_cast<double>(sum[t]) : total[t] + static_cast<double>(sum[t]);
    }
  }
  const double weight = task.weight[i];
  double* to =
      task.partial + (static_cast<std::size_t>(blockIdx.y) * gridDim.x + blockIdx.x) * Leaf::kSums;
#pragma unroll
  for (int t = 0; t < Leaf::kSums; ++t) {
    const double of_block = block_sum(total[t] * weight, room);
    if (threadIdx.x == 0) to[t] = of_block;
  }
}

/// total[t] = sum_b partial[b * sums + t], b < blocks. One block for each sum t.
__global__ void add_blocks(const double* partial, std::size_t blocks, std::size_t sums,
                           double* total) {
  __shared__ double room[32];
  double sum = 0.0;
  for (std::size_t b = threadIdx.x; b < blocks; b += blockDim.x) {
    sum += partial[b * sums + blockIdx.x];
  }
  sum = block_sum(sum, room);
  if (threadIdx.x == 0) total[blockIdx.x] = sum;
}

/// Points i = first, ..., first + count - 1; both are multiples of kPairThreads.
struct PairPoints {
  std::size_t first, count;
};

/// y_i = sum_j w_j e (z_i - z_j) over all j, for e and e^2, kVariables variables at a time. Then
/// sum_{i<j} w_i w_j e (z_i - z_j) (z_i - z_j)' = sum_i w_i z_i y_i', which takes d operations a
/// pair instead of d^2. Writes y of point number p of `points` to task.partial[((part * 2 + c) * d
/// + k) * points.count + p]. blockIdx.y is the part, one chunk of the samples, blockIdx.z counts
/// groups of variables, and the first of `points` is that of block `first_block`. Shared memory: d,
/// rounded up to kVariables, + 1 rows of kPairTile.
template <int kVariables>
__global__ void __launch_bounds__(kPairThreads)
    pair_differences(const PairTask<double> task, const PairPoints points,
                     std::size_t first_block) {
  extern __shared__ __align__(16) double tile[];
  const Exp2Double exponential;
  const std::size_t place = (first_block + blockIdx.x) * kPairThreads + threadIdx.x;
  const std::size_t i = points.first + place;
  const int slab = blockIdx.z * kVariables, rows = gridDim.z * kVariables;
  const std::size_t begin = blockIdx.y * task.chunk;
  const std::size_t end = begin + task.chunk < task.stride ? begin + task.chunk : task.stride;
  double z[kVariables], y[2][kVariables];
#pragma unroll
  for (int k = 0; k < kVariables; ++k) {
    z[k] = slab + k < task.d ? task.z[(slab + k) * task.stride + i] : 0.0;
    y[0][k] = y[1][k] = 0.0;
  }
  for (std::size_t start = begin; start < end; start += kPairTile) {
    __syncthreads();
    load_pair_tile(task, start, rows, tile);
    __syncthreads();
    for (int j = 0; j < kPairTile; j += kMomentStep) {
      double q[kMomentStep], weighted[2][kMomentStep];
      pair_distances<kMomentStep>(task, i, tile, j, q);
#pragma unroll
      for (int s = 0; s < kMomentStep; ++s) {
        const double e = exponential.of(-cut_square(q[s]));
        weighted[0][s] = e * tile[rows * kPairTile + j + s];
        weighted[1][s] = e * weighted[0][s];
      }
#pragma unroll
      for (int k = 0; k < kVariables; ++k) {
#pragma unroll
        for (int s = 0; s < kMomentStep; s += 2) {
          double pair[2];
          load16(tile + (slab + k) * kPairTile + j + s, pair);
#pragma unroll
          for (int t = 0; t < 2; ++t) {
            const double u = z[k] - pair[t];
            y[0][k] = fma(weighted[0][s + t], u, y[0][k]);
            y[1][k] = fma(weighted[1][s + t], u, y[1][k]);
          }
        }
      }
    }
  }
#pragma unroll
  for (int k = 0; k < kVariables; ++k) {
    if (slab + k >= task.d) continue;
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const std::size_t row = (static_cast<std::size_t>(blockIdx.y) * 2 + c) * task.d + slab + k;
      task.partial[row * points.count + place] = y[c][k];
    }
  }
}

/// to[(c d + k) d + l] = sum_i w_i z_ik y_il over `points`, y added over its parts. Grid: (d, d, 2)
/// for l, k, c.
__global__ void add_products(const PairTask<double> task, const PairPoints points,
                             std::size_t parts, double* to) {
  __shared__ double room[32];
  const std::size_t l = blockIdx.x, k = blockIdx.y, c = blockIdx.z;
  double sum = 0.0;
  for (std::size_t place = threadIdx.x; place < points.count; place += blockDim.x) {
    const std::size_t i = points.first + place;
    double y = 0.0;
    for (std::size_t part = 0; part < parts; ++part) {
      y += task.partial[((part * 2 + c) * task.d + l) * points.count + place];
    }
    sum = fma(task.weight[i] * task.z[k * task.stride + i], y, sum);
  }
  sum = block_sum(sum, room);
  if (threadIdx.x == 0) to[(c * task.d + k) * task.d + l] = sum;
}

}  // namespace kestrel_cuda

#endif
