#include "gpu/mixed_call.hpp"

#include <algorithm>

#include "gpu/cost.hpp"

namespace kestrel {

void MixedCall::choose(GpuUse use, const MixedKernel& kernel, double evaluations,
                       const ParallelOptions& options) {
  use_ = std::move(use);
  if (use_.asked() == Backend::cpu) return;
  const bool suited = gpu_mixed_objection(sample_, kernel).empty();
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
      [&] {
        return GpuMixed(sample_, nullptr, kernel).criterion(kernel, method, gradient, options);
      },
      [&] { return mixed_criterion(sample_, kernel, method, gradient, options); });
}

MixedFits MixedCall::fits(const MixedSample& points, const MixedKernel& kernel,
                          Span<const double> error2, bool gradients, const RunOptions& options) {
  const auto on_cpu = [&] {
    return mixed_fits(sample_, points, kernel, error2, gradients, options);
  };
  if (gradients || !sample_.responses() || points.size() == 0) return on_cpu();
  return use_.sums(
      [&] { return GpuMixed(sample_, other(points), kernel).fits(kernel, error2, options); },
      on_cpu);
}

MixedResiduals MixedCall::residuals(const MixedKernel& kernel, const RunOptions& options) {
  return use_.sums([&] { return GpuMixed(sample_, nullptr, kernel).residuals(kernel, options); },
                   [&] { return mixed_residuals(sample_, kernel, options); });
}

MixedCriterion MixedCall::log_likelihood(const MixedKernel& kernel, const MixedGiven& given,
                                         bool gradient, const RunOptions& options) {
  return use_.sums(
      [&] {
        return GpuMixed(sample_, nullptr, kernel).log_likelihood(kernel, given, gradient, options);
      },
      [&] { return mixed_log_likelihood(sample_, kernel, given, gradient, options); });
}

MixedCriterion MixedCall::squared_error(const MixedKernel& kernel, bool gradient,
                                        const RunOptions& options) {
  return use_.sums(
      [&] { return GpuMixed(sample_, nullptr, kernel).squared_error(kernel, gradient, options); },
      [&] { return mixed_squared_error(sample_, kernel, gradient, options); });
}

MixedDensities MixedCall::densities(const MixedSample& points, const MixedKernel& kernel,
                                    const MixedGiven& given, bool gradients,
                                    const RunOptions& options) {
  const auto on_cpu = [&] {
    return mixed_densities(sample_, points, kernel, given, gradients, options);
  };
  const bool conditional = std::find(given.begin(), given.end(), true) != given.end();
  if (gradients || conditional || points.size() == 0) return on_cpu();
  return use_.sums(
      [&] { return GpuMixed(sample_, other(points), kernel).densities(kernel, options); }, on_cpu);
}

}  // namespace kestrel
