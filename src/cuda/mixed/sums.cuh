// Sums over all samples at every one of them, by a thread for each.
#ifndef KESTREL_CUDA_MIXED_SUMS_CUH
#define KESTREL_CUDA_MIXED_SUMS_CUH

#include "cuda/base/exp2.cuh"
#include "gpu/gpu_abi.h"

namespace kestrel_cuda {

/// Threads of a block: points, and samples in shared memory at a time.
constexpr unsigned kMixedThreads = 128;
constexpr double kHalfLog2E = 0.5 * kestrel::kLog2E;

struct MixedTask {
  const double *x, *y;    // column c of sample j is x[c n + j]
  const unsigned* first;  // of each cell, and n
  unsigned n, cells, factors;
  /// Of a sample in cell b at a point in cell a: weight[b cells + a], the product of the kernels of
  /// its factors, and its derivative by lambda k: weight[((k + 1) cells + b) cells + a].
  const double* weight;
  double scale[KESTREL_GPU_MIXED_COLUMNS];         // 1 / h, or 0
  double inverse_unit[KESTREL_GPU_MIXED_COLUMNS];  // of z, see core/mixed/mixed_plane.hpp
  const double*
      fit;  // of changes: `weight` and `beta` of MixedFit; number k of point i is fit[k n + i]
  unsigned first_point, end_point;  // the points that are summed at, the last one excluded
  unsigned first_block;             // of the points of this launch
  unsigned slices;                  // pieces of the samples, each summed by blocks of its own
  // Sum s of slice l at point i: partial[(l sums + s) (end_point - first_point) + i - first_point].
  double* partial;
};

__device__ inline unsigned mixed_cell_of(const MixedTask& task, unsigned j) {
  unsigned low = 0, high = task.cells;
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    if (task.first[middle] <= j) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/// What a pair adds to the moments of a local constant or linear fit, in the order of
/// MixedPlane::solve_sums().
template <int kColumns, bool kLinear>
struct MixedMoments {
  static constexpr int kSums = kLinear ? 2 + 2 * kColumns + kColumns * (kColumns + 1) / 2 : 2;

  __device__ MixedMoments(const MixedTask&, unsigned) {}

  __device__ __forceinline__ void add(double w, double v, const double*, const double* z,
                                      double* sum) const {
    sum[0] += w;
    sum[1] = fma(w, v, sum[1]);
    if constexpr (kLinear) {
      int next = 2 + 2 * kColumns;
#pragma unroll
      for (int k = 0; k < kColumns; ++k) {
        const double moved = w * z[k];
        sum[2 + k] += moved;
        sum[2 + kColumns + k] = fma(moved, v, sum[2 + kColumns + k]);
#pragma unroll
        for (int m = 0; m <= k; ++m, ++next) sum[next] = fma(moved, z[m], sum[next]);
      }
    }
  }

  __device__ static int sums(unsigned) { return kSums; }
  /// The sums over the samples of a cell, times its weights.
  __device__ static void fold(const MixedTask& task, unsigned cell, unsigned at, const double* sum,
                              double* total) {
    const double weight = task.weight[std::size_t{cell} * task.cells + at];
#pragma unroll
    for (int s = 0; s < kSums; ++s) total[s] = fma(weight, sum[s], total[s]);
  }
};

/// What it adds to the derivatives of the fit and of weight[0] (MixedRow::by_bandwidth()): two sums
/// for each column, and then for each factor.
template <int kColumns, bool kLinear>
struct MixedChanges {
  static constexpr int kPlane = kLinear ? kColumns + 1 : 1;
  static constexpr int kSums = 2 * kColumns + 2;

  double weight[kPlane], beta[kPlane];

  __device__ MixedChanges(const MixedTask& task, unsigned i) {
#pragma unroll
    for (int k = 0; k < kPlane; ++k) {
      weight[k] = task.fit[static_cast<std::size_t>(k) * task.n + i];
      beta[k] = task.fit[static_cast<std::size_t>(kPlane + k) * task.n + i];
    }
  }

  __device__ __forceinline__ void add(double w, double v, const double* squared, const double* z,
                                      double* sum) const {
    double t = weight[0], off = v - beta[0];
    if constexpr (kLinear) {
#pragma unroll
      for (int k = 0; k < kColumns; ++k) {
        t = fma(weight[k + 1], z[k], t);
        off = fma(-beta[k + 1], z[k], off);
      }
    }
    const double pull = w * t, of_fit = pull * off, of_weight = -pull * t;
    sum[0] += of_fit;
    sum[1] += of_weight;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      sum[2 + 2 * c] = fma(squared[c], of_fit, sum[2 + 2 * c]);
      sum[3 + 2 * c] = fma(squared[c], of_weight, sum[3 + 2 * c]);
    }
  }

  __device__ static int sums(unsigned factors) {
    return 2 * (kColumns + static_cast<int>(factors));
  }
  __device__ static void fold(const MixedTask& task, unsigned cell, unsigned at, const double* sum,
                              double* total) {
    const double weight = task.weight[std::size_t{cell} * task.cells + at];
#pragma unroll
    for (int s = 0; s < 2 * kColumns; ++s) total[s] = fma(weight, sum[2 + s], total[s]);
    for (unsigned k = 0; k < task.factors; ++k) {
      const double slope =
          task.weight[((k + std::size_t{1}) * task.cells + cell) * task.cells + at];
      total[2 * (kColumns + k)] = fma(slope, sum[0], total[2 * (kColumns + k)]);
      total[2 * (kColumns + k) + 1] = fma(slope, sum[1], total[2 * (kColumns + k) + 1]);
    }
  }
};

/// The sums of one slice of the samples at the points of a block. The samples of a cell are summed
/// without the weights of factors, which they share.
template <class Terms, int kColumns>
__device__ void mixed_sums(const MixedTask& task, int most) {
  extern __shared__ double totals[];
  __shared__ double tile[kColumns + 1][kMixedThreads];
  const Exp2Double exp2;
  const unsigned n = task.n;
  const unsigned given =
      task.first_point + (task.first_block + blockIdx.x) * kMixedThreads + threadIdx.x;
  const unsigned i = min(given, task.end_point - 1), at = mixed_cell_of(task, i);
  const unsigned length = (n + task.slices - 1) / task.slices;
  const unsigned begin = min(n, blockIdx.y * length), end = min(n, begin + length);
  const Terms terms(task, i);
  double point[kColumns], sum[Terms::kSums] = {};
  double* total = totals + threadIdx.x * most;
  for (int s = 0; s < most; ++s) total[s] = 0.0;
#pragma unroll
  for (int c = 0; c < kColumns; ++c) point[c] = task.x[static_cast<std::size_t>(c) * n + i];
  const double y = task.y[i];
  unsigned cell = mixed_cell_of(task, begin), next = begin < end ? task.first[cell + 1] : n;
  for (unsigned from = begin; from < end; from += kMixedThreads) {
    __syncthreads();
    const unsigned j = min(from + threadIdx.x, n - 1);
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      tile[c][threadIdx.x] = task.x[static_cast<std::size_t>(c) * n + j];
    }
    tile[kColumns][threadIdx.x] = task.y[j];
    __syncthreads();
    const unsigned count = min(kMixedThreads, end - from);
    for (unsigned k = 0; k < count; ++k) {
      if (from + k == next) {
        Terms::fold(task, cell, at, sum, total);
#pragma unroll
        for (int s = 0; s < Terms::kSums; ++s) sum[s] = 0.0;
        next = task.first[++cell + 1];
      }
      double squared[kColumns], z[kColumns], v = 0.0;
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        const double off = tile[c][k] - point[c], u = off * task.scale[c];
        z[c] = off * task.inverse_unit[c];
        squared[c] = u * u;
        v = fma(u, u, v);
      }
      const double w = exp2.of(fmax(-kHalfLog2E * v, -1100.0));
      terms.add(from + k == i ? 0.0 : w, tile[kColumns][k] - y, squared, z, sum);
    }
  }
  if (begin < end) Terms::fold(task, cell, at, sum, total);
  if (given >= task.end_point) return;
  const std::size_t points = task.end_point - task.first_point;
  for (int s = 0; s < most; ++s) {
    task.partial[(std::size_t{blockIdx.y} * most + s) * points + i - task.first_point] = total[s];
  }
}

template <int kColumns, bool kLinear>
__global__ void __launch_bounds__(kMixedThreads) mixed_moments(MixedTask task) {
  using Terms = MixedMoments<kColumns, kLinear>;
  mixed_sums<Terms, kColumns>(task, Terms::sums(task.factors));
}

template <int kColumns, bool kLinear>
__global__ void __launch_bounds__(kMixedThreads) mixed_changes(MixedTask task) {
  using Terms = MixedChanges<kColumns, kLinear>;
  mixed_sums<Terms, kColumns>(task, Terms::sums(task.factors));
}

/// The sums of the slices, in their order.
__global__ void add_mixed_slices(const double* partial, unsigned slices, std::size_t numbers,
                                 double* sum) {
  const std::size_t at = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (at >= numbers) return;
  double total = partial[at];
  for (unsigned slice = 1; slice < slices; ++slice) total += partial[slice * numbers + at];
  sum[at] = total;
}

}  // namespace kestrel_cuda

#endif
