// A sum over the threads of a block, always in the same order.
#ifndef KESTREL_CUDA_BASE_BLOCK_SUM_CUH
#define KESTREL_CUDA_BASE_BLOCK_SUM_CUH

#include "cuda/base/warp.cuh"

namespace kestrel_cuda {

/// Returns the sum over the block's threads in thread 0; `room`: shared memory for one number a
/// warp.
__device__ __forceinline__ double block_sum(double value, double* room) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(kWholeWarp, value, step);
  __syncthreads();
  if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = value;
  __syncthreads();
  double total = 0.0;
  if (threadIdx.x == 0) {
    for (int warp = 0; warp < static_cast<int>(blockDim.x) / 32; ++warp) total += room[warp];
  }
  return total;
}

}  // namespace kestrel_cuda

#endif
