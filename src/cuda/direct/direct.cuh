// The direct engine on the device: its interface to api.cu.
#ifndef KESTREL_CUDA_DIRECT_DIRECT_CUH
#define KESTREL_CUDA_DIRECT_DIRECT_CUH

#include <cstddef>
#include <functional>
#include <memory>

#include "gpu/gpu_abi.h"

namespace kestrel_cuda {

/// Returns false to stop.
using Poll = std::function<bool(double fraction)>;

/// See density_open() and the function after it in gpu/gpu_abi.h. Memory on the device: at most 24
/// d + 100 bytes a sample, 24 d + 80 a point, and 256 MiB of partial sums.
class Density {
 public:
  virtual ~Density() = default;
  virtual void samples(const double* x, std::size_t stride, const double* w, std::size_t n) = 0;
  /// Those of another density of the same kernel.
  virtual void samples(const Density& from, int from_device) = 0;
  /// Returns false if the poll stopped it.
  virtual bool sum(const double* centre, const double* e, std::size_t stride, std::size_t m,
                   double* sum, const Poll& poll) = 0;
};

std::unique_ptr<Density> make_density(const kestrel_gpu_kernel& kernel);

}  // namespace kestrel_cuda

#endif
