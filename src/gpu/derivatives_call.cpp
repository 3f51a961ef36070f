#include "gpu/derivatives_call.hpp"

#include <algorithm>

#include "core/data/passes.hpp"
#include "core/plan/derivatives.hpp"
#include "gpu/derivatives.hpp"

namespace kestrel {

namespace {

/// Whether a device computes them; if not, `plan` is that of the CPU.
bool takes_device(const DensityTask& task, int order, const std::string& asked, GpuUse& use,
                  DerivativePlan* plan) {
  const std::size_t d = task.sample.d();
  const auto seconds = [&](const kestrel_gpu_device& device) {
    return gpu_derivative_seconds(task.samples(), task.points(), d, order, device);
  };
  if (use.asked() == Backend::cuda) return use.choose(0, seconds);
  *plan = plan_derivatives(task, order, asked);
  const bool suited = (asked == "auto" || asked == "direct") && d <= KESTREL_GPU_MOMENT_VARIABLES;
  return suited && use.asked() == Backend::automatic &&
         use.choose(plan->seconds / std::max(1, task.how.parallel.threads), seconds);
}

}  // namespace

std::string compute_derivatives(const DensityTask& task, int order, const std::string& asked,
                                GpuUse& use, const RunOptions& how, Span<double> out) {
  DerivativePlan plan;
  bool on_device = takes_device(task, order, asked, use, &plan);
  if (on_device) {
    try {
      gpu_derivatives(task.sample.x(), task.sample.w(), task.at, task.root, order, how, out);
      plan.engine = "direct";
    } catch (const gpu_error& problem) {
      use.fall_back(problem);
      on_device = false;
    }
  }
  if (!on_device) density_derivatives(task, order, plan, how, out);
  divide(out, task.samples(), task.how.parallel);
  return plan.engine;
}

}  // namespace kestrel
