// Criteria and values of regressions and densities on columns and factors where a user asks for
// them: on the CPU or on a device.
#ifndef KESTREL_GPU_MIXED_CALL_HPP
#define KESTREL_GPU_MIXED_CALL_HPP

#include <utility>

#include "gpu/gpu_use.hpp"
#include "gpu/mixed.hpp"

namespace kestrel {

/// A sample of mixed data, and where sums over it are computed. All evaluations of a search stay
/// where the first was, unless the device fails. The sample goes to the device for each call, O(n),
/// so that R never holds memory of the device between calls.
class MixedCall {
 public:
  explicit MixedCall(MixedSample sample) : sample_(std::move(sample)) {}

  const MixedSample& sample() const { return sample_; }
  /// Chooses the place for this many evaluations of criteria, or of sums at as many points as there
  /// are samples.
  void choose(GpuUse use, const MixedKernel& kernel, double evaluations,
              const ParallelOptions& options);
  const GpuUse& use() const { return use_; }

  /// As mixed_criterion(), mixed_fits() and mixed_residuals(). Gradients of fits are computed on
  /// the CPU.
  MixedCriterion criterion(const MixedKernel& kernel, MixedMethod method, bool gradient,
                           const RunOptions& options);
  MixedFits fits(const MixedSample& points, const MixedKernel& kernel, Span<const double> error2,
                 bool gradients, const RunOptions& options);
  MixedResiduals residuals(const MixedKernel& kernel, const RunOptions& options);

  /// As mixed_log_likelihood(), mixed_squared_error() and mixed_densities(). Values of conditional
  /// densities and gradients are computed on the CPU.
  MixedCriterion log_likelihood(const MixedKernel& kernel, const MixedGiven& given, bool gradient,
                                const RunOptions& options);
  MixedCriterion squared_error(const MixedKernel& kernel, bool gradient, const RunOptions& options);
  MixedDensities densities(const MixedSample& points, const MixedKernel& kernel,
                           const MixedGiven& given, bool gradients, const RunOptions& options);

 private:
  /// Null if the points are the sample.
  const MixedSample* other(const MixedSample& points) const {
    return &points == &sample_ ? nullptr : &points;
  }

  const MixedSample sample_;
  GpuUse use_{Backend::cpu, {}};
};

}  // namespace kestrel

#endif
