// Sums over all samples at every point, by a thread for each point.
#ifndef KESTREL_CUDA_MIXED_SUMS_CUH
#define KESTREL_CUDA_MIXED_SUMS_CUH

#include "cuda/mixed/task.cuh"

namespace kestrel_cuda {

/// What a pair has for a sum.
template <int kColumns>
struct MixedTerm {
  double w;          // the product of kernels and of the sample's weight
  double base;       // what `by` is to be multiplied by
  const double* by;  // derivatives by log(h)
  double v;          // the response
  const double* z;   // the columns of local linear fits
  double e;
};

// The tasks of kestrel_gpu_mixed_task. add() adds a pair of a cell, without the weights of factors;
// fold() adds the sums over a cell to those of all. `kSums`: numbers of a cell; sums(factors): of
// all. kSlopes: whether they need derivatives. enter(): before the pairs of a cell.

template <int kColumns, bool kLinear>
struct MixedMoments {
  static constexpr bool kSlopes = false;
  static constexpr int kSums = kLinear ? 2 + 2 * kColumns + kColumns * (kColumns + 1) / 2 : 2;

  __device__ MixedMoments(const MixedTask&, unsigned) {}
  __device__ void enter(const MixedTask&, unsigned, unsigned) {}

  template <bool kGaussian>
  __device__ __forceinline__ void add(const MixedTerm<kColumns>& of, double* sum) const {
    sum[0] += of.w;
    sum[1] = fma(of.w, of.v, sum[1]);
    if constexpr (kLinear) {
      int next = 2 + 2 * kColumns;
#pragma unroll
      for (int k = 0; k < kColumns; ++k) {
        const double moved = of.w * of.z[k];
        sum[2 + k] += moved;
        sum[2 + kColumns + k] = fma(moved, of.v, sum[2 + kColumns + k]);
#pragma unroll
        for (int m = 0; m <= k; ++m, ++next) sum[next] = fma(moved, of.z[m], sum[next]);
      }
    }
  }

  __device__ __host__ static int sums(unsigned) { return kSums; }
  __device__ static void fold(const MixedTask& task, unsigned cell, unsigned at, const double* sum,
                              double* total) {
    const double weight = task.weight_of(cell, at);
#pragma unroll
    for (int s = 0; s < kSums; ++s) total[s] = fma(weight, sum[s], total[s]);
  }
};

/// Two sums for each column, and then for each factor.
template <int kColumns, bool kLinear>
struct MixedChanges {
  static constexpr int kPlane = kLinear ? kColumns + 1 : 1;
  static constexpr bool kSlopes = true;
  static constexpr int kSums = 2 * kColumns + 2;

  double weight[kPlane], beta[kPlane];

  __device__ MixedChanges(const MixedTask& task, unsigned i) {
#pragma unroll
    for (int k = 0; k < kPlane; ++k) {
      weight[k] = task.given[static_cast<std::size_t>(k) * task.points.rows + i];
      beta[k] = task.given[static_cast<std::size_t>(kPlane + k) * task.points.rows + i];
    }
  }
  __device__ void enter(const MixedTask&, unsigned, unsigned) {}

  template <bool kGaussian>
  __device__ __forceinline__ void add(const MixedTerm<kColumns>& of, double* sum) const {
    double t = weight[0], off = of.v - beta[0];
    if constexpr (kLinear) {
#pragma unroll
      for (int k = 0; k < kColumns; ++k) {
        t = fma(weight[k + 1], of.z[k], t);
        off = fma(-beta[k + 1], of.z[k], off);
      }
    }
    const double pull = of.base * t, of_fit = pull * off, of_weight = -pull * t;
    if constexpr (kGaussian) {
      sum[0] += of_fit;
      sum[1] += of_weight;
    } else {
      const double whole = of.w * t;
      sum[0] = fma(whole, off, sum[0]);
      sum[1] = fma(-whole, t, sum[1]);
    }
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      sum[2 + 2 * c] = fma(of.by[c], of_fit, sum[2 + 2 * c]);
      sum[3 + 2 * c] = fma(of.by[c], of_weight, sum[3 + 2 * c]);
    }
  }

  __device__ __host__ static int sums(unsigned factors) {
    return 2 * (kColumns + static_cast<int>(factors));
  }
  __device__ static void fold(const MixedTask& task, unsigned cell, unsigned at, const double* sum,
                              double* total) {
    const double weight = task.weight_of(cell, at);
#pragma unroll
    for (int s = 0; s < 2 * kColumns; ++s) total[s] = fma(weight, sum[2 + s], total[s]);
#pragma unroll 1
    for (unsigned k = 0; k < task.factors; ++k) {
      const double slope = task.slope_of(k, cell, at);
      total[2 * (kColumns + k)] = fma(slope, sum[0], total[2 * (kColumns + k)]);
      total[2 * (kColumns + k) + 1] = fma(slope, sum[1], total[2 * (kColumns + k) + 1]);
    }
  }
};

/// The sum of the weights, and its derivatives by each column and factor.
template <int kColumns>
struct MixedShares {
  static constexpr bool kSlopes = true;
  static constexpr int kSums = kColumns + 1;

  __device__ MixedShares(const MixedTask&, unsigned) {}
  __device__ void enter(const MixedTask&, unsigned, unsigned) {}

  template <bool kGaussian>
  __device__ __forceinline__ void add(const MixedTerm<kColumns>& of, double* sum) const {
    sum[0] += of.w;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) sum[1 + c] = fma(of.by[c], of.base, sum[1 + c]);
  }

  __device__ __host__ static int sums(unsigned factors) {
    return kSums + static_cast<int>(factors);
  }
  __device__ static void fold(const MixedTask& task, unsigned cell, unsigned at, const double* sum,
                              double* total) {
    const double weight = task.weight_of(cell, at);
#pragma unroll
    for (int s = 0; s < kSums; ++s) total[s] = fma(weight, sum[s], total[s]);
#pragma unroll 1
    for (unsigned k = 0; k < task.factors; ++k) {
      total[kSums + k] = fma(task.slope_of(k, cell, at), sum[0], total[kSums + k]);
    }
  }
};

/// Squares are not of one cell's weight times sums, which would lose digits.
template <int kColumns, bool kLinear>
struct MixedSquares {
  static constexpr int kPlane = kLinear ? kColumns + 1 : 1;
  static constexpr bool kSlopes = false;
  static constexpr int kSums = 1;

  double less, plane[kPlane], factor = 0.0;

  __device__ MixedSquares(const MixedTask& task, unsigned i) {
    less = task.given[i];
#pragma unroll
    for (int k = 0; k < kPlane; ++k) {
      plane[k] = task.given[static_cast<std::size_t>(1 + k) * task.points.rows + i];
    }
  }
  __device__ void enter(const MixedTask& task, unsigned cell, unsigned at) {
    factor = task.weight_of(cell, at);
  }

  template <bool kGaussian>
  __device__ __forceinline__ void add(const MixedTerm<kColumns>& of, double* sum) const {
    double t = plane[0];
    if constexpr (kLinear) {
#pragma unroll
      for (int k = 0; k < kColumns; ++k) t = fma(plane[k + 1], of.z[k], t);
    }
    const double off = factor * of.w * t - less;
    sum[0] = fma(off * off, of.e, sum[0]);
  }

  __device__ __host__ static int sums(unsigned) { return 1; }
  __device__ static void fold(const MixedTask&, unsigned, unsigned, const double* sum,
                              double* total) {
    total[0] += sum[0];
  }
};

/// Whether all samples of a tile are out of reach of all points of another one.
template <int kColumns>
__device__ bool out_of_reach(const MixedTask& task, unsigned tile, unsigned of_points) {
  const MixedRows &s = task.sample, &p = task.points;
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    const double* low = s.box + static_cast<std::size_t>(2 * c) * s.tiles + tile;
    const double* point_low = p.box + static_cast<std::size_t>(2 * c) * p.tiles + of_points;
    const double away = fmax(low[0] - point_low[p.tiles], point_low[0] - low[s.tiles]);
    if (away * task.scale[c] > task.reach) return true;
  }
  return false;
}

/// The sums of one slice of the samples at the points of a block.
template <class Terms, int kColumns, bool kGaussian>
__global__ void __launch_bounds__(kMixedThreads)
    mixed_sums(const __grid_constant__ MixedTask task) {
  constexpr int kTogether = kGaussian ? 4 : 1;
  extern __shared__ double totals[];
  __shared__ double tile[kColumns + 3][kMixedThreads];
  const Exp2Double exp2;
  const MixedRows &sample = task.sample, &points = task.points;
  const unsigned n = sample.rows;
  const int most = Terms::sums(task.factors);
  const unsigned block = task.first_point / kMixedThreads + task.first_block + blockIdx.x;
  const unsigned given = block * kMixedThreads + threadIdx.x;
  const unsigned i = min(given, task.end_point - 1), at = points.cell_of(i);
  // Slices begin with a tile.
  const unsigned length = (sample.tiles + task.slices - 1) / task.slices * kMixedThreads;
  const unsigned begin = min(n, blockIdx.y * length), end = min(n, begin + length);
  Terms terms(task, i);
  double point[kColumns], sum[Terms::kSums] = {};
  double* total = totals + threadIdx.x * most;
#pragma unroll 1
  for (int s = 0; s < most; ++s) total[s] = 0.0;
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    point[c] = points.x[static_cast<std::size_t>(c) * points.rows + i];
  }
  const double y = points.y == nullptr ? 0.0 : points.y[i];
  unsigned cell = sample.cell_of(begin < n ? begin : 0), next = sample.first[cell + 1];
  terms.enter(task, cell, at);
  for (unsigned from = begin; from < end; from += kMixedThreads) {
    if (out_of_reach<kColumns>(task, from / kMixedThreads, block)) continue;
    __syncthreads();
    const unsigned j = min(from + threadIdx.x, n - 1);
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      tile[c][threadIdx.x] = sample.x[static_cast<std::size_t>(c) * n + j];
    }
    tile[kColumns][threadIdx.x] = sample.y == nullptr ? 0.0 : sample.y[j];
    tile[kColumns + 1][threadIdx.x] = task.w == nullptr ? 1.0 : task.w[j];
    tile[kColumns + 2][threadIdx.x] = task.e == nullptr ? 1.0 : task.e[j];
    __syncthreads();
    const unsigned count = min(kMixedThreads, end - from);
    const unsigned own = task.left_out ? i - from : kMixedThreads;
    unsigned k = 0;
    while (k < count) {
      while (next <= from + k) {
        Terms::fold(task, cell, at, sum, total);
#pragma unroll
        for (int s = 0; s < Terms::kSums; ++s) sum[s] = 0.0;
        next = sample.first[++cell + 1];
        terms.enter(task, cell, at);
      }
      const unsigned stop = min(count, next - from);
#pragma unroll kTogether
      for (; k < stop; ++k) {
        double off[kColumns], z[kColumns];
#pragma unroll
        for (int c = 0; c < kColumns; ++c) {
          off[c] = tile[c][k] - point[c];
          z[c] = off[c] * task.inverse_unit[c];
        }
        MixedPair<kColumns, kGaussian, Terms::kSlopes> pair;
        pair.set(task, exp2, off);
        const double times = k == own ? 0.0 : tile[kColumns + 1][k];
        const double w = pair.value * times;
        terms.template add<kGaussian>(
            {w, kGaussian ? w : times, pair.by, tile[kColumns][k] - y, z, tile[kColumns + 2][k]},
            sum);
      }
    }
  }
  if (begin < end) Terms::fold(task, cell, at, sum, total);
  if (given >= task.end_point) return;
  const std::size_t numbers = task.end_point - task.first_point;
#pragma unroll 1
  for (int s = 0; s < most; ++s) {
    task.partial[(std::size_t{blockIdx.y} * most + s) * numbers + i - task.first_point] = total[s];
  }
}

/// The boxes of tiles of rows, a block for each tile and column.
__global__ void mixed_boxes(const double* x, unsigned rows, unsigned tiles, double* box) {
  __shared__ double low[kMixedThreads], high[kMixedThreads];
  const unsigned j = min(blockIdx.x * kMixedThreads + threadIdx.x, rows - 1);
  low[threadIdx.x] = high[threadIdx.x] = x[std::size_t{blockIdx.y} * rows + j];
  for (unsigned half = kMixedThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x >= half) continue;
    low[threadIdx.x] = fmin(low[threadIdx.x], low[threadIdx.x + half]);
    high[threadIdx.x] = fmax(high[threadIdx.x], high[threadIdx.x + half]);
  }
  if (threadIdx.x > 0) return;
  box[std::size_t{2 * blockIdx.y} * tiles + blockIdx.x] = low[0];
  box[(std::size_t{2 * blockIdx.y} + 1) * tiles + blockIdx.x] = high[0];
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
