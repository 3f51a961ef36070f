// Sums of the Gaussian kernel times monomials of the difference at evaluation points, for
// derivatives. Chunks are those of sums.cuh.
#ifndef KESTREL_CUDA_DIRECT_MOMENTS_CUH
#define KESTREL_CUDA_DIRECT_MOMENTS_CUH

#include <cstddef>

#include "cuda/base/exp2.cuh"
#include "cuda/direct/sums.cuh"

namespace kestrel_cuda {

/// A block has this many points, takes as many samples at a time, and sums as many moments of each
/// point.
constexpr int kMomentSide = 16;
constexpr int kMomentThreads = kMomentSide * kMomentSide;

/// The numbers of a pair in shared memory: e - x, 1 and the weighted exponential. Odd, so that
/// neighbouring pairs have no bank conflicts.
__host__ __device__ constexpr int moment_numbers(int d) { return (d + 2) | 1; }

/// Bytes of shared memory.
inline std::size_t moment_memory(int d) {
  const std::size_t pairs = static_cast<std::size_t>(kMomentThreads) * moment_numbers(d);
  return (pairs + static_cast<std::size_t>(2 * d + 1) * kMomentSide) * sizeof(double);
}

/// `factor`: kDegree rows of `moments` numbers, see kestrel_gpu_kernel. Each thread writes the
/// numbers of one pair, and then adds one moment of one point over all samples at hand. The partial
/// sum of moment s is in row s of `moments` for each chunk. Grid: (points / kMomentSide, chunks,
/// moments / kMomentSide).
template <int kDegree>
__global__ void __launch_bounds__(kMomentThreads)
    moment_sums(const SumTask<double> task, const int* factor, unsigned moments) {
  extern __shared__ __align__(16) double shared[];
  const int width = moment_numbers(task.d), me = static_cast<int>(threadIdx.x);
  const int side = me % kMomentSide, other = me / kMomentSide;
  double* const pairs = shared;                           // of sample `other`, point `side`
  double* const points = pairs + kMomentThreads * width;  // [variable][kMomentSide]
  double* const samples = points + task.d * kMomentSide;  // the same, and their weights
  const Exp2Double exponential;
  const unsigned moment = blockIdx.z * kMomentSide + side;
  int mine[kDegree];
#pragma unroll
  for (int r = 0; r < kDegree; ++r) {
    mine[r] = moment < moments ? factor[r * moments + moment] : task.d;
  }
  const std::size_t first_point = static_cast<std::size_t>(blockIdx.x) * kMomentSide;
  for (int at = me; at < task.d * kMomentSide; at += kMomentThreads) {
    points[at] = task.point[at / kMomentSide * task.point_stride + first_point + at % kMomentSide];
  }
  const std::size_t chunk = task.first_chunk + blockIdx.y;
  const std::size_t begin = chunk * task.chunk;
  const std::size_t end =
      begin + task.chunk < task.sample_stride ? begin + task.chunk : task.sample_stride;
  double* const row = pairs + me * width;
  row[task.d] = 1.0;
  double total = 0.0;
  for (std::size_t start = begin; start < end; start += kMomentSide) {
    __syncthreads();
    for (int at = me; at < (task.d + 1) * kMomentSide; at += kMomentThreads) {
      const int k = at / kMomentSide;
      const double* from = k < task.d ? task.sample + k * task.sample_stride : task.weight;
      samples[at] = from[start + at % kMomentSide];
    }
    __syncthreads();
    double v = samples[task.d * kMomentSide + other];
    for (int k = 0; k < task.d; ++k) {
      const double u = points[k * kMomentSide + side] - samples[k * kMomentSide + other];
      row[k] = u;
      v = fma(-u, u, v);
    }
    row[task.d + 1] = exponential.of(v);
    __syncthreads();
    for (int j = 0; j < kMomentSide; ++j) {
      const double* const pair = pairs + (j * kMomentSide + other) * width;
      double term = pair[task.d + 1];
#pragma unroll
      for (int r = 0; r < kDegree - 1; ++r) term *= pair[mine[r]];
      total = fma(term, pair[mine[kDegree - 1]], total);
    }
  }
  if (moment < moments) {
    task.partial[(chunk * moments + moment) * task.point_stride + first_point + other] = total;
  }
}

/// The kernel for that many factors.
inline auto moment_kernel(int degree) -> void (*)(SumTask<double>, const int*, unsigned) {
  switch (degree) {
    case 1: return moment_sums<1>;
    case 2: return moment_sums<2>;
    case 3: return moment_sums<3>;
    case 4: return moment_sums<4>;
    case 5: return moment_sums<5>;
    case 6: return moment_sums<6>;
    case 7: return moment_sums<7>;
    case 8: return moment_sums<8>;
    default: return nullptr;
  }
}

}  // namespace kestrel_cuda

#endif
