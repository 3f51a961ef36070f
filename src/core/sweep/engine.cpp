#include "core/sweep/engine.hpp"

#include <algorithm>
#include <cmath>

#include "core/data/passes.hpp"
#include "core/sweep/costs.hpp"
#include "core/sweep/density.hpp"

namespace kestrel {

namespace {

/// Memory of a sample or point: its value, its position in the order and the pair that is sorted;
/// also a sample's weight, and a point's result.
constexpr double kSweepBytes = 36;

std::string takes_sweep() { return "one dimension and " + names_of_kernels(is_polynomial, "\""); }

bool fits_sweep(const KernelChoice& kernel, std::size_t d, bool) {
  return d == 1 && is_polynomial(kernel.kernel);
}

std::optional<DensityPlan> plan_sweep(const DensityTask& task, bool, bool) {
  const double n = task.samples(), m = task.points();
  DensityPlan plan;
  plan.tolerance = std::min(task.tolerance, kEngineError);
  plan.bytes = kSweepBytes * (n + m);
  plan.seconds = sweep_seconds(n, m);
  return plan;
}

void run_sweep(const DensityTask& task, const DensityPlan&, const RunOptions& how,
               Span<double> out) {
  sweep_density(task.sample.x().column(0), task.sample.w(), task.at.line(), task.kernel.kernel,
                task.root[0], how, out);
  divide(out, task.divisor, task.how.parallel);
}

}  // namespace

double sweep_seconds(double n, double m) {
  return 1e-9 * kSweepDoublingNs * (n + m) * std::log2(std::max(2.0, n + m));
}

const DensityEngine sweep_engine{
    "sweep",     "sorts samples and points and sums windows in one sweep",
    takes_sweep, true,
    fits_sweep,  plan_sweep,
    run_sweep};

}  // namespace kestrel
