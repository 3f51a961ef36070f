// Sums over mixed data on the device: their interface to api.cu.
#ifndef KESTREL_CUDA_MIXED_MIXED_CUH
#define KESTREL_CUDA_MIXED_MIXED_CUH

#include <memory>

#include "cuda/direct/direct.cuh"
#include "gpu/gpu_abi.h"

namespace kestrel_cuda {

/// A sample of mixed data on the device; see mixed_open() in gpu/gpu_abi.h. sums() returns false if
/// the poll stopped it.
class Mixed {
 public:
  virtual ~Mixed() = default;
  virtual void kernel(const kestrel_gpu_mixed_kernel& kernel) = 0;
  virtual bool sums(int task, std::size_t first, std::size_t count, const double* given,
                    double* sum, const Poll& poll) = 0;
};

/// `from`: null, or one that was made of the same data on another device.
std::unique_ptr<Mixed> make_mixed(const kestrel_gpu_mixed& data, const Mixed* from,
                                  int from_device);

}  // namespace kestrel_cuda

#endif
