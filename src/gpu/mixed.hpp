// Criteria of kernel regression on columns and factors, on the device: the counterpart of
// core/mixed/mixed_regression.hpp.
#ifndef KESTREL_GPU_MIXED_HPP
#define KESTREL_GPU_MIXED_HPP

#include <vector>

#include "core/mixed/mixed_regression.hpp"
#include "gpu/devices.hpp"
#include "gpu/gpu_abi.h"

namespace kestrel {

/// Whether GpuMixed takes a sample, with this kernel.
bool gpu_takes_mixed(const MixedSample& sample, const MixedKernel& kernel);

/// Expected seconds of a criterion with its gradient on a device.
double gpu_mixed_seconds(const MixedSample& sample, const MixedKernel& kernel,
                         const kestrel_gpu_device& device);

/// A sample on the devices.
class GpuMixed {
 public:
  /// For fits of the kernel's kind. Throws gpu_error: GpuProblem::unsuited if there is no column,
  /// there are more than 6, more than 8 factors, or more than 512 combinations of their levels, or
  /// if the kernel is not the Gaussian one of order 2; and as gpu_table() does. A view of the
  /// sample. O(n (p + q)).
  GpuMixed(const MixedSample& sample, const MixedKernel& kernel);
  GpuMixed(const GpuMixed&) = delete;
  GpuMixed& operator=(const GpuMixed&) = delete;

  /// As mixed_criterion(), within 1e-12, with the same bits from run to run on one kind of device.
  /// The device sums over pairs, and the CPU solves for the fits. Fits that would lose digits are
  /// made again on the CPU, O(n) each.
  MixedCriterion criterion(const MixedKernel& kernel, MixedMethod method, bool gradient,
                           const RunOptions& options);

 private:
  /// Opens a handle on a device.
  void* open(int device, const void* from) const;
  void take_weights(const MixedKernel& kernel);

  const MixedSample& sample_;
  const bool local_linear_;
  const kestrel_gpu_table& table_;
  DeviceTeam team_;
  std::vector<double> weight_;  // of cells, as kestrel_gpu_mixed_kernel has them
  std::vector<MixedSample::CellWeights> at_cell_;
};

}  // namespace kestrel

#endif
