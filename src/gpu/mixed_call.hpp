// Criteria of regression on columns and factors where a user asks for them: on the CPU or on a
// device.
#ifndef KESTREL_GPU_MIXED_CALL_HPP
#define KESTREL_GPU_MIXED_CALL_HPP

#include <utility>

#include "gpu/gpu_use.hpp"
#include "gpu/mixed.hpp"

namespace kestrel {

/// A sample of mixed data, and where its criteria are computed. All evaluations of a search stay
/// where the first was, unless the device fails.
class MixedCall {
 public:
  explicit MixedCall(MixedSample sample) : sample_(std::move(sample)) {}

  const MixedSample& sample() const { return sample_; }
  /// Chooses the place for this many evaluations.
  void choose(GpuUse use, const MixedKernel& kernel, double evaluations,
              const ParallelOptions& options);
  const GpuUse& use() const { return use_; }
  /// As mixed_criterion(). The sample goes to the device for each criterion, O(n), so that R never
  /// holds memory of the device between calls.
  MixedCriterion criterion(const MixedKernel& kernel, MixedMethod method, bool gradient,
                           const RunOptions& options);

 private:
  const MixedSample sample_;
  GpuUse use_{Backend::cpu, {}};
};

}  // namespace kestrel

#endif
