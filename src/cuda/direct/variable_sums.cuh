// The loop over pairs whose kernels have bandwidths of the sample or of the point. The order of
// every sum depends on the number of samples alone, as in sums.cuh.
#ifndef KESTREL_CUDA_DIRECT_VARIABLE_SUMS_CUH
#define KESTREL_CUDA_DIRECT_VARIABLE_SUMS_CUH

#include <cstddef>

#include "cuda/direct/sums.cuh"
#include "shared/coordinates.hpp"
#include "shared/profile.hpp"

namespace kestrel_cuda {

/// What a sum reads and writes, all in device memory. Rows of a sample or a point are: its
/// coordinates; in single precision what remains of these; of a sample its weight; and 1 / h^2, of
/// a sample or of a point.
template <class Real>
struct VariableSum {
  const Real* sample;         // rows of sample_stride; padding has weight zero
  const Real* point;          // rows of point_stride
  std::size_t sample_stride;  // a multiple of kChunkUnit
  std::size_t point_stride;   // a multiple of kPointUnit
  std::size_t chunk;          // samples of a chunk, a multiple of kChunkUnit
  std::size_t first_chunk;    // that of blockIdx.y = 0
  const double* h;            // as given, `given` of them: for the uniform kernel
  std::size_t given;
  double* partial;  // [chunk * point_stride + point]
};

/// Numbers that a coordinate consists of.
template <class Real>
constexpr int kParts = sizeof(Real) == sizeof(double) ? 1 : 2;

/// Whether the uniform kernel of bandwidth h has value one at differences u, v, w (zero in fewer
/// variables): as the CPU decides it (core/data/compact_pairs.hpp), to the bit.
static __device__ __noinline__ bool within_bandwidth(double u, double v, double w, double h) {
  const double a = __ddiv_rn(u, h), b = __ddiv_rn(v, h), c = __ddiv_rn(w, h);
  const double square = __dadd_rn(__dmul_rn(a, a), __dmul_rn(b, b));
  return __dadd_rn(square, __dmul_rn(c, c)) <= 1.0;
}

constexpr int kVariableThreads = 256, kVariablePoints = 4;
static_assert(kVariableThreads == kChunkUnit, "a thread loads one sample of each tile");
static_assert(kVariableThreads * kVariablePoints == kPointUnit, "points are whole blocks");

/// The kernel of the form with bandwidths of the samples or, kByPoint, of the points. Every thread
/// has kVariablePoints points. Differences are of the coordinates as given, so that their error is
/// relative to the difference, whatever the bandwidth. Grid: (points / kPointUnit, chunks).
template <kestrel::KernelForm kForm, int kInner, int kOuter, class Real, int D, bool kByPoint>
__global__ void __launch_bounds__(kVariableThreads) variable_sum(const VariableSum<Real> task) {
  constexpr bool kIndicator = kForm == kestrel::KernelForm::power && kOuter == 0;
  constexpr int kCoordinates = D * kParts<Real>, kRows = kCoordinates + (kByPoint ? 1 : 2);
  constexpr int kStep = Vector16<Real>::kLength;
  __shared__ __align__(16) Real tile[kRows][kChunkUnit];
  const std::size_t first_point = static_cast<std::size_t>(blockIdx.x) * kPointUnit + threadIdx.x;
  Real point[kCoordinates][kVariablePoints], rate[kVariablePoints];
  double total[kVariablePoints];
#pragma unroll
  for (int i = 0; i < kVariablePoints; ++i) {
    const Real* from = task.point + first_point + i * kVariableThreads;
    total[i] = 0.0;
#pragma unroll
    for (int k = 0; k < kCoordinates; ++k) point[k][i] = from[k * task.point_stride];
    rate[i] = kByPoint ? from[kCoordinates * task.point_stride] : Real(1);
  }
  const std::size_t chunk = task.first_chunk + blockIdx.y;
  const std::size_t begin = chunk * task.chunk;
  const std::size_t end =
      begin + task.chunk < task.sample_stride ? begin + task.chunk : task.sample_stride;
  for (std::size_t start = begin; start < end; start += kChunkUnit) {
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      tile[k][threadIdx.x] = task.sample[k * task.sample_stride + start + threadIdx.x];
    }
    __syncthreads();
    Real sum[kVariablePoints] = {};
#pragma unroll 2
    for (int j = 0; j < kChunkUnit; j += kStep) {
      Real row[kRows][kStep];
#pragma unroll
      for (int k = 0; k < kRows; ++k) load16(&tile[k][j], row[k]);
#pragma unroll
      for (int s = 0; s < kStep; ++s) {
        const Real weight = row[kCoordinates][s];
#pragma unroll
        for (int i = 0; i < kVariablePoints; ++i) {
          Real u[D], q = 0;
#pragma unroll
          for (int k = 0; k < D; ++k) {
            u[k] = row[k][s] - point[k][i];
            if constexpr (kParts<Real> == 2) u[k] += row[D + k][s] - point[D + k][i];
            q = fma(u[k], u[k], q);
          }
          const Real v = -(q * (kByPoint ? rate[i] : row[kRows - 1][s]));
          if constexpr (kIndicator) {
            bool inside = v > Real(-1);
            const std::size_t at = kByPoint ? first_point + i * kVariableThreads : start + j + s;
            if (fabs(1 + v) < kestrel::kRim && weight > 0 && at < task.given) {
              inside = within_bandwidth(u[0], D > 1 ? u[D > 1 ? 1 : 0] : 0.0,
                                        D > 2 ? u[D > 2 ? 2 : 0] : 0.0, task.h[at]);
            }
            sum[i] += inside ? weight : Real(0);
          } else {
            sum[i] = fma(kestrel::number::profile<kForm, kInner, kOuter>(v), weight, sum[i]);
          }
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kVariablePoints; ++i) total[i] += static_cast<double>(sum[i]);
  }
#pragma unroll
  for (int i = 0; i < kVariablePoints; ++i) {
    task.partial[chunk * task.point_stride + first_point + i * kVariableThreads] = total[i];
  }
}

}  // namespace kestrel_cuda

#endif
