// Cross-validation of kernel regression on the device, as api.cu sees it.
#ifndef KESTREL_CUDA_REGRESSION_REGRESSION_CUH
#define KESTREL_CUDA_REGRESSION_REGRESSION_CUH

#include "cuda/direct/direct.cuh"
#include "gpu/gpu_abi.h"

namespace kestrel_cuda {

/// See cross_validation() in gpu/gpu_abi.h; false if the poll stopped it. Memory on the device: of
/// an observation 80 bytes and, for a polynomial kernel of degree p (local linear: p + 2 in place
/// of p), 8 p + 16 more; 32 MiB of partial sums.
bool cross_validation(const kestrel_gpu_regression& regression, double* sum, const Poll& poll);

}  // namespace kestrel_cuda

#endif
