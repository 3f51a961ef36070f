#include "core/plan.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace kestrel {

namespace {

/// The direct engine's own error bound, relative to the largest value (core/tiles.hpp).
constexpr double kDirectError = 1e-12;

/// Seconds of one pair by the direct engine on one thread: vector operations of the Gaussian leaf
/// over the rate at which they run. Constants by bench/direct.R, section "plan" (2026-11, 2.5 GHz
/// Xeon): they order engines, they do not promise times.
double direct_pair_seconds(const DensityTask& task) {
  const double operations = 2.0 * static_cast<double>(task.d) + 13.0;
  switch (task.lanes) {
    case 8: return operations / (8 * 4.1e9);
    case 4: return operations / (4 * 3.2e9);
    case 2: return operations / (2 * 1.5e9);
    default: return operations / 1.5e9;
  }
}

}  // namespace

Plan plan_density(const DensityTask& task, const std::string& engine) {
  if (engine != "auto" && engine != "direct") {
    throw error(ErrorKind::input, "engine must be one of auto, direct, not " + engine);
  }
  Plan plan;
  plan.engine = "direct";
  plan.tolerance = std::min(task.tolerance, kDirectError);
  // The result, and the order of the points with their cells while they are cut into blocks.
  plan.bytes = 8 * task.m * (2 + static_cast<double>(task.d));
  plan.seconds = task.n * task.m * direct_pair_seconds(task) / std::max(1, task.threads);
  plan.reason = engine == "direct" ? "asked for" : "sums every pair, for any kernel and dimension";
  return plan;
}

}  // namespace kestrel
