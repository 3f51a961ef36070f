#include "core/plan/plan.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/plan/engines.hpp"

namespace kestrel {

namespace {

bool takes(const DensityEngine& engine, const DensityTask& task) {
  return engine.fits(task.kernel, task.sample.d(), !task.at.axes.empty());
}

std::optional<DensityPlan> plan_of(const DensityEngine& engine, const DensityTask& task, bool asked,
                                   bool linear_taken) {
  std::optional<DensityPlan> plan = engine.plan(task, asked, linear_taken);
  if (plan) {
    plan->engine = &engine;
    plan->reason = asked ? "asked for" : engine.reason;
  }
  return plan;
}

}  // namespace

std::optional<DensityPlan> plan_density(const DensityTask& task, const std::string& asked) {
  if (asked != "auto") {
    const DensityEngine& engine = density_engine(asked);
    if (!takes(engine, task)) {
      throw error(ErrorKind::input, "engine \"" + asked + "\" takes " + engine.takes());
    }
    return plan_of(engine, task, true, false);
  }
  std::optional<DensityPlan> best;
  bool linear_taken = false;
  for (const bool linear : {true, false}) {
    for (const DensityEngine* engine : density_engines()) {
      if (engine->linear != linear || !takes(*engine, task)) continue;
      std::optional<DensityPlan> plan = plan_of(*engine, task, false, linear_taken);
      if (!plan) continue;
      linear_taken = linear_taken || linear;
      if (!best || plan->seconds <= best->seconds) best = std::move(plan);
    }
  }
  return best;
}

}  // namespace kestrel
