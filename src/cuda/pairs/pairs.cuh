// Sums over the pairs of a sample on the device: their interface to api.cu.
#ifndef KESTREL_CUDA_PAIRS_PAIRS_CUH
#define KESTREL_CUDA_PAIRS_PAIRS_CUH

#include <cstddef>

#include "cuda/direct/direct.cuh"
#include "gpu/gpu_abi.h"

namespace kestrel_cuda {

/// See pair_sums() in gpu/gpu_abi.h; returns false if the poll stopped it. Memory on the device: 16
/// d + 16 bytes a sample, in single precision 8 d + 4 more, with moments 16 d to 128 d more, and at
/// most 128 MiB of partial sums (for many monomials one number for each of them and each 128
/// samples).
bool pair_sums(const kestrel_gpu_pairs& pairs, const double* x, std::size_t stride, const double* w,
               std::size_t n, double* sum, const Poll& poll);

}  // namespace kestrel_cuda

#endif
