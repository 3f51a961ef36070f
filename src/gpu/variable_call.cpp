#include "gpu/variable_call.hpp"

#include <algorithm>

#include "core/plan/variable.hpp"
#include "gpu/cost.hpp"
#include "gpu/variable.hpp"

namespace kestrel {

void compute_variable(const VariableTask& task, const std::string& asked, bool single, GpuUse& use,
                      const ParallelOptions& options, Span<double> out) {
  const VariablePlan plan = plan_variable(task, asked);
  const auto seconds = [&](const kestrel_gpu_device& device) {
    return gpu_variable_seconds(task.kernel, static_cast<double>(task.x.rows),
                                static_cast<double>(out.size), static_cast<double>(task.x.cols),
                                device, single);
  };
  const bool suited = asked == "auto" || asked == "direct";
  if (suited && use.choose(plan.seconds / std::max(1, options.threads), seconds)) {
    try {
      return gpu_variable(task, single, options, out);
    } catch (const gpu_error& problem) {
      use.fall_back(problem);
    }
  }
  variable_sums(task, plan.engine, options, out);
}

}  // namespace kestrel
