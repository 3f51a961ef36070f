#include "gpu/mixed_call.hpp"

#include <algorithm>

#include "gpu/cost.hpp"

namespace kestrel {

void MixedCall::choose(GpuUse use, const MixedKernel& kernel, double evaluations,
                       const ParallelOptions& options) {
  use_ = std::move(use);
  if (use_.asked() == Backend::cpu) return;
  const bool suited = gpu_takes_mixed(sample_, kernel);
  if (!suited && use_.asked() == Backend::automatic) {
    use_ = GpuUse(Backend::cpu, {});
    return;
  }
  const double seconds = evaluations * mixed_criterion_seconds(sample_, kernel);
  use_.choose(seconds / std::max(1, options.threads), [&](const kestrel_gpu_device& device) {
    return evaluations * gpu_mixed_seconds(sample_, kernel, device);
  });
}

MixedCriterion MixedCall::criterion(const MixedKernel& kernel, MixedMethod method, bool gradient,
                                    const RunOptions& options) {
  return use_.sums(
      [&] { return GpuMixed(sample_, kernel).criterion(kernel, method, gradient, options); },
      [&] { return mixed_criterion(sample_, kernel, method, gradient, options); });
}

}  // namespace kestrel
