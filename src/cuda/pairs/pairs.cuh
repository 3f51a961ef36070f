// Sums over the pairs of a sample on the device, as api.cu sees them.
#ifndef KESTREL_CUDA_PAIRS_PAIRS_CUH
#define KESTREL_CUDA_PAIRS_PAIRS_CUH

#include <cstddef>

#include "cuda/direct/direct.cuh"
#include "gpu/gpu_abi.h"

namespace kestrel_cuda {

/// See pair_sums() in gpu/gpu_abi.h; false if the poll stopped it. Memory on the device: of a
/// sample 16 d + 16 bytes, in single 8 d + 4 more, with moments 16 d to 128 d more, and at most 128
/// MiB of partial sums (of many monomials one number for each and each 128 samples).
bool pair_sums(const kestrel_gpu_pairs& pairs, const double* x, std::size_t stride, const double* w,
               std::size_t n, double* sum, const Poll& poll);

}  // namespace kestrel_cuda

#endif
