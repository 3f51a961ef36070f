// Cross-validation of kernel regression on the device: its interface to api.cu.
#ifndef KESTREL_CUDA_REGRESSION_REGRESSION_CUH
#define KESTREL_CUDA_REGRESSION_REGRESSION_CUH

#include <cstddef>
#include <memory>

#include "cuda/direct/direct.cuh"
#include "gpu/gpu_abi.h"

namespace kestrel_cuda {

/// See regression_open() in gpu/gpu_abi.h. Memory on the device: 80 bytes an observation and, for a
/// polynomial kernel of degree p (local linear: p + 2 instead of p), 8 p + 16 more; 32 MiB of
/// partial sums.
class Regression {
 public:
  virtual ~Regression() = default;
  /// Returns false if the poll stopped it.
  virtual bool sums(std::size_t first, std::size_t count, double* sum, const Poll& poll) = 0;
};

/// `from`: null, or one that was made of the same request on another device.
std::unique_ptr<Regression> make_regression(const kestrel_gpu_regression& request,
                                            const Regression* from, int from_device);

}  // namespace kestrel_cuda

#endif
