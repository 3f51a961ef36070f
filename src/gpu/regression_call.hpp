// Cross-validation of a regression where a user asks for it: on the CPU or on a device.
#ifndef KESTREL_GPU_REGRESSION_CALL_HPP
#define KESTREL_GPU_REGRESSION_CALL_HPP

#include <memory>

#include "core/regression/regression.hpp"
#include "gpu/gpu_use.hpp"

namespace kestrel {

/// The regressions of one sample. The CPU sorts it when it is first needed there: a device sorts by
/// itself. The curves of a search stay where the first of them was, unless the device fails.
class RegressionCall {
 public:
  /// A view: the sample must outlive it.
  RegressionCall(const RegressionSample& sample, const ParallelOptions& options)
      : sample_(sample), options_(options) {}

  const RegressionSample& sample() const { return sample_; }
  /// Sorts the sample when it is first needed.
  const LocalRegression& sorted();
  /// Chooses the place for the curves of a search whose first has these bandwidths. O(n).
  void choose(GpuUse use, Span<const double> bandwidth, const LocalKernel& kernel,
              const RunOptions& options);
  const GpuUse& use() const { return use_; }
  /// As LocalRegression::cross_validate().
  CrossValidation cross_validate(Span<const double> bandwidth, const LocalKernel& kernel,
                                 const RunOptions& options);

 private:
  const RegressionSample sample_;
  const ParallelOptions options_;
  GpuUse use_{Backend::cpu, {}};
  std::unique_ptr<const LocalRegression> sorted_;
};

}  // namespace kestrel

#endif
