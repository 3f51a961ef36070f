// Sums over columns and factors on the device: criteria and values of kernel regressions and
// densities, the counterpart of core/mixed.
#ifndef KESTREL_GPU_MIXED_HPP
#define KESTREL_GPU_MIXED_HPP

#include <string>
#include <vector>

#include "core/mixed/mixed_density.hpp"
#include "core/mixed/mixed_regression.hpp"
#include "gpu/devices.hpp"
#include "gpu/gpu_abi.h"

namespace kestrel {

/// Why GpuMixed does not take a sample with this kernel, "" if it does. It takes one to 6 columns,
/// up to 8 factors with up to 512 combinations of levels, fixed bandwidths and all kernels, but for
/// local linear fits those of order 2.
std::string gpu_mixed_objection(const MixedSample& sample, const MixedKernel& kernel);

/// Expected seconds of a criterion with its gradient on a device, or of sums for as many points as
/// there are samples.
double gpu_mixed_seconds(const MixedSample& sample, const MixedKernel& kernel,
                         const kestrel_gpu_device& device);

/// A sample on the devices, and points. All results are within 1e-12 of those of the CPU, with the
/// same bits from run to run on one kind of device. The device sums over pairs. Where these sums
/// would lose digits, the CPU computes them anew, O(n) each.
class GpuMixed {
 public:
  /// points: null for the samples themselves. Throws gpu_error: GpuProblem::unsuited if there is an
  /// objection to the sample with this kernel; and as gpu_table() does. A view of both. O((n + m)
  /// (p + q)).
  GpuMixed(const MixedSample& sample, const MixedSample* points, const MixedKernel& kernel);
  GpuMixed(const GpuMixed&) = delete;
  GpuMixed& operator=(const GpuMixed&) = delete;

  /// As mixed_criterion(). The CPU solves for the fits.
  MixedCriterion criterion(const MixedKernel& kernel, MixedMethod method, bool gradient,
                           const RunOptions& options);
  /// As mixed_fits() without gradients, and mixed_residuals().
  MixedFits fits(const MixedKernel& kernel, Span<const double> error2, const RunOptions& options);
  MixedResiduals residuals(const MixedKernel& kernel, const RunOptions& options);

  /// As mixed_log_likelihood() and mixed_squared_error(), and as mixed_densities() of a density
  /// that is not conditional, without gradients.
  MixedCriterion log_likelihood(const MixedKernel& kernel, const MixedGiven& given, bool gradient,
                                const RunOptions& options);
  MixedCriterion squared_error(const MixedKernel& kernel, bool gradient, const RunOptions& options);
  MixedDensities densities(const MixedKernel& kernel, const RunOptions& options);

 private:
  class OnDevice;
  class Fits;

  void* open(int device, const void* from) const;
  const MixedSample& at() const { return points_ == nullptr ? sample_ : *points_; }
  bool takes(const MixedKernel& kernel, const ParallelOptions& options) const;
  std::size_t piece() const;
  void give_kernel(const OnDevice& kernel, const DeviceTeam::Turn& turn);
  /// The sums of a task at all points, see kestrel_gpu_mixed_task.
  void sums(const OnDevice& kernel, int task, const double* given, double* to,
            const RunOptions& options);
  Fits solved(const OnDevice& kernel, const RunOptions& options);
  void criterion_sums(const OnDevice& kernel, bool gradient, Fits& fits, double* change,
                      const RunOptions& options);

  const MixedSample& sample_;
  const MixedSample* const points_;
  const bool local_linear_;
  const kestrel_gpu_table& table_;
  DeviceTeam team_;
  /// The number of the kernel that each device has.
  std::size_t kernels_ = 0;
  std::vector<std::size_t> kernel_of_;
};

}  // namespace kestrel

#endif
