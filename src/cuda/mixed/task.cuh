// A task of sums over mixed data, and the product kernel of a pair.
#ifndef KESTREL_CUDA_MIXED_TASK_CUH
#define KESTREL_CUDA_MIXED_TASK_CUH

#include "cuda/base/exp2.cuh"
#include "gpu/gpu_abi.h"

namespace kestrel_cuda {

/// Threads of a block: points, and samples in shared memory at a time, a tile.
constexpr unsigned kMixedThreads = 128;
constexpr double kHalfLog2E = 0.5 * kestrel::kLog2E;

/// Samples or points in the order of their cells.
struct MixedRows {
  const double* x;        // column c of row j is x[c rows + j]
  const double* y;        // null: zeros
  const unsigned* first;  // of each cell, and the number of rows
  unsigned rows, cells;
  /// The least and the largest value of column c among the rows of tile t: box[2 c tiles + t] and
  /// box[(2 c + 1) tiles + t].
  const double* box;
  unsigned tiles;

  __device__ unsigned cell_of(unsigned j) const {
    unsigned low = 0, high = cells;
    while (high - low > 1) {
      const unsigned middle = (low + high) / 2;
      if (first[middle] <= j) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

struct MixedTask {
  MixedRows sample, points;
  const double *w, *e;  // of the samples; null: ones
  bool left_out;        // sample i does not count at point i
  unsigned factors;
  /// Of a sample in cell b at a point in cell a: weight[b points.cells + a], the product of the
  /// kernels of its factors, and its derivative by lambda k: weight[((k + 1) cells + b)
  /// points.cells + a].
  const double* weight;
  double scale[KESTREL_GPU_MIXED_COLUMNS];         // 1 / h, or 0
  double inverse_unit[KESTREL_GPU_MIXED_COLUMNS];  // of z, see core/mixed/mixed_plane.hpp
  int window, terms, inner;
  double q[KESTREL_GPU_MIXED_TERMS], p[KESTREL_GPU_MIXED_TERMS];
  double reach;                     // tiles that are farther away in some column do not count
  const double* given;              // number k of point i is given[k points.rows + i]
  unsigned first_point, end_point;  // the points that are summed at, the last one excluded
  unsigned first_block;             // of the points of this launch
  unsigned slices;                  // pieces of the samples, each summed by blocks of its own
  // Sum s of slice l at point i: partial[(l sums + s) (end_point - first_point) + i - first_point].
  double* partial;

  __device__ double weight_of(unsigned cell, unsigned at) const {
    return weight[std::size_t{cell} * points.cells + at];
  }
  __device__ double slope_of(unsigned k, unsigned cell, unsigned at) const {
    return weight[((k + std::size_t{1}) * sample.cells + cell) * points.cells + at];
  }
};

/// The product of the kernels of a pair and, with kSlopes, its derivatives by log(h) of each
/// column. Those of the Gaussian kernel of order 2 are to be multiplied by the product.
template <int kColumns, bool kGaussian, bool kSlopes>
struct MixedPair {
  double value, by[kColumns];

  __device__ __forceinline__ void set(const MixedTask& task, const Exp2Double& exp2,
                                      const double* off) {
    if constexpr (kGaussian) {
      double v = 0.0;
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        const double u = off[c] * task.scale[c];
        by[c] = u * u;
        v = fma(u, u, v);
      }
      value = exp2.of(fmax(-kHalfLog2E * v, -1100.0));
    } else if (task.window == KESTREL_GPU_mixed_triangle ||
               task.window == KESTREL_GPU_mixed_cubic) {
      set_by_edge(task, off);
      finish(1.0);
    } else {
      const double sum = set_by_square(task, off);
      const bool gaussian = task.window == KESTREL_GPU_mixed_gaussian;
      finish(gaussian ? exp2.of(fmax(-kHalfLog2E * sum, -1100.0)) : 1.0);
    }
  }

 private:
  double kernel_[kColumns];

  /// Where every kernel is zero, powers of u stay finite.
  __device__ __forceinline__ static double bounded(double u) { return fmax(fmin(u, 1e30), -1e30); }

  /// Polynomials of all columns side by side, since each step waits for the one before it.
  __device__ __forceinline__ static void polynomials(const double* term, int terms, const double* v,
                                                     double* sum) {
#pragma unroll
    for (int c = 0; c < kColumns; ++c) sum[c] = term[terms - 1];
#pragma unroll 1
    for (int k = terms - 2; k >= 0; --k) {
      const double next = term[k];
#pragma unroll
      for (int c = 0; c < kColumns; ++c) sum[c] = fma(sum[c], v[c], next);
    }
  }

  /// Kernels of v = u^2. Returns the sum of these.
  __device__ __forceinline__ double set_by_square(const MixedTask& task, const double* off) {
    const bool gaussian = task.window == KESTREL_GPU_mixed_gaussian;
    const bool uniform = task.window == KESTREL_GPU_mixed_uniform;
    double square[kColumns], v[kColumns], sum = 0.0;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const double u = bounded(off[c] * task.scale[c]);
      square[c] = u * u;
      v[c] = gaussian ? square[c] : fmin(square[c], 8.0);
      sum += square[c];
      kernel_[c] = by[c] = 1.0;
    }
    if (task.terms > 0) {
      polynomials(task.q, task.terms, v, kernel_);
      if constexpr (kSlopes) polynomials(task.p, task.terms, v, by);
    }
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const bool inside = gaussian || (uniform ? square[c] <= 1.0 : square[c] < 5.0);
      if (!inside) kernel_[c] = by[c] = 0.0;
      by[c] *= square[c];
    }
    return sum;
  }

  /// Kernels of t = 1 - |u|.
  __device__ __forceinline__ void set_by_edge(const MixedTask& task, const double* off) {
    double size[kColumns], t[kColumns], s[kColumns];
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      size[c] = fabs(bounded(off[c] * task.scale[c]));
      t[c] = fmax(1.0 - size[c], 0.0);
      s[c] = t[c] + t[c] - 1.0;
      kernel_[c] = t[c];
      by[c] = size[c] < 1.0 ? 1.0 : 0.0;
    }
    if (task.window == KESTREL_GPU_mixed_cubic) {
      polynomials(task.q, task.terms, s, kernel_);
      if constexpr (kSlopes) polynomials(task.p, task.terms, s, by);
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        kernel_[c] *= t[c] * t[c] * t[c];
        by[c] *= t[c] * t[c];
      }
      if (task.inner > 0) {
        double near[kColumns];
        polynomials(task.q + task.terms, task.inner, s, near);
#pragma unroll
        for (int c = 0; c < kColumns; ++c) kernel_[c] = s[c] > 0.0 ? near[c] : kernel_[c];
        if constexpr (kSlopes) {
          polynomials(task.p + task.terms, task.inner, s, near);
#pragma unroll
          for (int c = 0; c < kColumns; ++c) by[c] = s[c] > 0.0 ? near[c] : by[c];
        }
      }
    }
#pragma unroll
    for (int c = 0; c < kColumns; ++c) by[c] *= size[c];
  }

  /// From the kernels and slopes of the columns to those of the product.
  __device__ __forceinline__ void finish(double times) {
    double before = times;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      by[c] *= before;
      before *= kernel_[c];
    }
    value = before;
    double after = 1.0;
#pragma unroll
    for (int c = kColumns - 1; c >= 0; --c) {
      by[c] *= after;
      after *= kernel_[c];
    }
  }
};

}  // namespace kestrel_cuda

#endif
