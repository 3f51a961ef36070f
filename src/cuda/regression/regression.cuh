// Cross-validation of kernel regression on the device: its interface to api.cu.
#ifndef KESTREL_CUDA_REGRESSION_REGRESSION_CUH
#define KESTREL_CUDA_REGRESSION_REGRESSION_CUH

#include "cuda/direct/direct.cuh"
#include "gpu/gpu_abi.h"

namespace kestrel_cuda {

/// See cross_validation() in gpu/gpu_abi.h; returns false if the poll stopped it. Memory on the
/// device: 80 bytes an observation and, for a polynomial kernel of degree p (local linear: p + 2
/// instead of p), 8 p + 16 more; 32 MiB of partial sums.
bool cross_validation(const kestrel_gpu_regression& regression, double* sum, const Poll& poll);

}  // namespace kestrel_cuda

#endif
