// Direct sums of compact kernels with bandwidths that vary: their interface to api.cu.
#ifndef KESTREL_CUDA_DIRECT_VARIABLE_CUH
#define KESTREL_CUDA_DIRECT_VARIABLE_CUH

#include <cstddef>
#include <memory>

#include "cuda/direct/direct.cuh"
#include "gpu/gpu_abi.h"

namespace kestrel_cuda {

/// See variable_open() and the function after it in gpu/gpu_abi.h. Memory on the device: at most 16
/// d + 32 bytes a sample, as much for a point, and 256 MiB of partial sums.
class Variable {
 public:
  virtual ~Variable() = default;
  virtual void samples(const double* x, std::size_t stride, const double* w, const double* h,
                       std::size_t n) = 0;
  /// Those of another object for the same request.
  virtual void samples(const Variable& from, int from_device) = 0;
  /// Returns false if the poll stopped it.
  virtual bool sum(const double* e, std::size_t stride, const double* h, std::size_t m, double* sum,
                   const Poll& poll) = 0;
};

std::unique_ptr<Variable> make_variable(const kestrel_gpu_variable& request);

}  // namespace kestrel_cuda

#endif
