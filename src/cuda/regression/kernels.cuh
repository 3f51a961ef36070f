// The loops over observations and bandwidths.
#ifndef KESTREL_CUDA_REGRESSION_KERNELS_CUH
#define KESTREL_CUDA_REGRESSION_KERNELS_CUH

#include "cuda/base/block_sum.cuh"
#include "cuda/base/exp2.cuh"
#include "cuda/base/warp.cuh"
#include "cuda/regression/fit.cuh"

namespace kestrel_cuda {

/// Observations of a block, one a thread.
constexpr unsigned kFitThreads = 128;
/// The number of sums that an observation adds to: those of FitTotals.
constexpr unsigned kFitSums = kestrel::kFitTotals;

/// Block b takes the kFitThreads observations of group b % blocks, at bandwidth b / blocks.
struct FitTask {
  RegressionSample sample;
  const double* bandwidth;
  unsigned blocks;    // of all observations
  unsigned first;     // that of blockIdx.x = 0
  double reach, cut;  // of the Gaussian kernel, see gpu/gpu_abi.h
  double* partial;    // [b * kFitSums + sum]
};

__device__ __forceinline__ double warp_total(double value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kWholeWarp, value, step);
  return value;
}

/// Repeats unstable fits, one after the other, by all threads of their warp.
template <class K>
__device__ __forceinline__ void settle(const RegressionSample& sample, const Window& window,
                                       unsigned i, double h, LocalFit& fit) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned left = __ballot_sync(kWholeWarp, fit.unstable); left != 0; left &= left - 1) {
    const int whose = __ffs(left) - 1;
    const Window its{__shfl_sync(kWholeWarp, window.first, whose),
                     __shfl_sync(kWholeWarp, window.end, whose)};
    const unsigned at = __shfl_sync(kWholeWarp, i, whose);
    const LocalFit found = direct_fit<K>(sample, its, at, h, lane, 32, warp_total);
    if (static_cast<int>(lane) == whose) fit = found;
  }
}

__device__ __forceinline__ void write_totals(const FitTotals& totals, unsigned block,
                                             double* partial) {
  __shared__ double room[kFitThreads / 32];
  const double value[kFitSums] = {totals.squares, totals.in_sample, totals.trace,
                                  totals.unsupported};
#pragma unroll
  for (unsigned s = 0; s < kFitSums; ++s) {
    const double total = block_sum(value[s], room);
    if (threadIdx.x == 0) partial[static_cast<std::size_t>(block) * kFitSums + s] = total;
  }
}

/// Fits by polynomial kernels. If K::kClosed, a distance of h is in the window.
template <class K, bool kLinear>
__global__ void __launch_bounds__(kFitThreads) polynomial_fits(const FitTask task) {
  const unsigned block = task.first + blockIdx.x;
  const unsigned i = block % task.blocks * kFitThreads + threadIdx.x;
  const double h = task.bandwidth[block / task.blocks];
  LocalFit fit;
  Window window{0, 0};
  if (i < task.sample.n) {
    window = window_of(task.sample, i, h, K::kClosed);
    fit = polynomial_fit<K, kLinear>(task.sample, window, i, h);
  }
  if constexpr (kLinear) settle<K>(task.sample, window, i, h, fit);
  FitTotals totals;
  if (i < task.sample.n) totals.add(fit, task.sample.weight(i));
  write_totals(totals, block, task.partial);
}

/// Fits by the Gaussian kernel, divided by its value at the nearest neighbour, over all samples in
/// the window whose share is not below 1e-20 of that neighbour's.
template <bool kLinear>
__global__ void __launch_bounds__(kFitThreads) gaussian_fits(const FitTask task) {
  using kestrel::kRootHalfLog2E;
  __shared__ double tile[3][kFitThreads];
  __shared__ unsigned range[2];
  const Exp2Double exponential;
  const RegressionSample& sample = task.sample;
  const unsigned block = task.first + blockIdx.x;
  const unsigned i = block % task.blocks * kFitThreads + threadIdx.x;
  const double h = task.bandwidth[block / task.blocks];
  const double scale = 1.0 / h, slope = kLinear ? sample.slope * h : 0.0;
  Window window{0, 0}, used{0, 0};
  double nearest = 0.0, x = 0.0, y = 0.0;
  if (threadIdx.x == 0) {
    range[0] = sample.n;
    range[1] = 0;
  }
  __syncthreads();
  if (i < sample.n) {
    x = sample.x[i];
    y = sample.y[i];
    window = window_of(sample, i, task.reach * h, false);
    nearest = nearest_neighbour(sample.x, window.first, window.end, i) * scale;
    if (window.end - window.first > 1) {  // the nearest distance, rounded, may be the reach
      const double counts = kestrel::gaussian_reach(nearest, task.cut, task.reach, h);
      used = window_of(sample, i, counts, false);
      atomicMin(&range[0], used.first);
      atomicMax(&range[1], used.end);
    }
  }
  __syncthreads();
  const unsigned begin = range[0], end = range[1];
  const double size = nearest * kRootHalfLog2E, square = size * size;
  LocalSums sums;
  for (unsigned start = begin; start < end; start += kFitThreads) {
    __syncthreads();
    const unsigned at = start + threadIdx.x;
    tile[0][threadIdx.x] = at < end ? sample.x[at] : 0.0;
    tile[1][threadIdx.x] = at < end ? sample.y[at] : 0.0;
    tile[2][threadIdx.x] = at < end ? sample.weight(at) : 0.0;
    __syncthreads();
    LocalSums part;
#pragma unroll 4
    for (unsigned t = 0; t < kFitThreads; ++t) {
      const unsigned j = start + t;
      const bool counts = j >= used.first && j < used.end && j != i;
      const double u = counts ? (tile[0][t] - x) * scale : 0.0;
      const double v = u * kRootHalfLog2E;
      const double power = fmax(fmin(fma(-v, v, square), 0.0), kestrel::kExp2Zero);
      const double weight = counts ? tile[2][t] * exponential.of(power) : 0.0;
      const double d = fma(slope, -u, tile[1][t] - y);
      part.s0 += weight;
      part.r0 = fma(weight, d, part.r0);
      if constexpr (kLinear) {
        const double first = weight * u;
        part.s1 += first;
        part.size += fabs(first);
        part.r1 = fma(first, d, part.r1);
        part.s2 = fma(first, u, part.s2);
      }
    }
    sums.s0 += part.s0;
    sums.r0 += part.r0;
    if constexpr (kLinear) {
      sums.s1 += part.s1;
      sums.size += part.size;
      sums.r1 += part.r1;
      sums.s2 += part.s2;
    }
  }
  LocalFit fit;
  if (i < sample.n) {
    bool alone = true;
    const int found = places(sample, window, i, &alone);
    fit = fit_from(sums, kLinear, kLinear ? found : (found > 0 ? 1 : 0),
                   exp(-0.5 * nearest * nearest), sample.slope);
    fit.exact = kLinear && kestrel::is_exact(alone, found);
  }
  if constexpr (kLinear) settle<GaussianFit>(sample, window, i, h, fit);
  FitTotals totals;
  if (i < sample.n) totals.add(fit, sample.weight(i));
  write_totals(totals, block, task.partial);
}

// ---- the sample and its blocks

__global__ void gather(const unsigned* order, const double* from, unsigned n, double* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[order[i]];
}

/// The trend of y at bandwidth h, by one block of kTrendPairs threads.
__global__ void find_trend(const RegressionSample sample, double h, double* trend) {
  __shared__ double room[kestrel::kTrendPairs / 32];
  const unsigned n = sample.n, pairs = min(n, kestrel::kTrendPairs), k = threadIdx.x;
  kestrel::TrendSums sums;
  if (k < pairs) {
    const unsigned i = static_cast<unsigned>(static_cast<unsigned long long>(k) * n / pairs);
    sums = kestrel::trend_pair(sample.x, sample.y, sample.w, n, i, h);
  }
  sums.product = block_sum(sums.product, room);
  sums.spread = block_sum(sums.spread, room);
  sums.squares = block_sum(sums.squares, room);
  if (k == 0) *trend = kestrel::trend_of(sums, h);
}

template <int kPowers>
__global__ void make_leaves(const RegressionSample sample, unsigned count) {
  const unsigned block = blockIdx.x * blockDim.x + threadIdx.x;
  if (block < count) make_leaf<kPowers>(sample, block);
}

template <int kPowers>
__global__ void make_blocks(const RegressionSample sample, unsigned level, unsigned count) {
  const unsigned block = blockIdx.x * blockDim.x + threadIdx.x;
  if (block < count) make_block<kPowers>(sample, level, block);
}

/// sum[bandwidth * kFitSums + s] is the sum over the blocks at one bandwidth. Grid: (kFitSums,
/// bandwidths).
__global__ void add_fits(const double* partial, unsigned blocks, double* sum) {
  __shared__ double room[32];
  partial += static_cast<std::size_t>(blockIdx.y) * blocks * kFitSums + blockIdx.x;
  double total = 0.0;
  for (std::size_t b = threadIdx.x; b < blocks; b += blockDim.x) total += partial[b * kFitSums];
  total = block_sum(total, room);
  if (threadIdx.x == 0) sum[blockIdx.y * kFitSums + blockIdx.x] = total;
}

}  // namespace kestrel_cuda

#endif
