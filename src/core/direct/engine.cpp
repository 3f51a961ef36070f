#include "core/direct/engine.hpp"

#include <algorithm>

#include "core/data/pair_seconds.hpp"
#include "core/data/passes.hpp"
#include "core/data/tiles.hpp"
#include "core/direct/costs.hpp"
#include "core/direct/direct.hpp"

namespace kestrel {

namespace {

std::string takes_direct() { return "every task"; }

bool fits_direct(const KernelChoice&, std::size_t, bool) { return true; }

std::optional<DensityPlan> plan_direct(const DensityTask& task, bool, bool) {
  const std::size_t d = task.sample.d();
  double spread = 0;
  if (d == 1) {
    const std::vector<double>& range = task.sample.ranges(task.how.parallel);
    spread = (range[1] - range[0]) / task.root[0];
  }
  DensityPlan plan;
  plan.tolerance = std::min(task.tolerance, kEngineError);
  // The result, and the order and cells of the points while they are cut into blocks.
  plan.bytes = 8 * task.points() * (2 + static_cast<double>(d));
  plan.seconds =
      direct_seconds(task.kernel, d, task.samples(), task.points(), spread, task.lanes());
  return plan;
}

void run_direct(const DensityTask& task, const DensityPlan&, const RunOptions& how,
                Span<double> out) {
  direct_density(task.sample.x(), task.sample.w(), task.at, task.kernel, task.root, how, out);
  divide(out, task.divisor, task.how.parallel);
}

}  // namespace

double direct_seconds(const KernelChoice& kernel, std::size_t d, double n, double m, double spread,
                      std::size_t lanes) {
  // Blocks of points hold kBlockSize of them, but are at most 2 kBlockRadius bandwidths wide.
  const double blocks = std::min(m, m / kBlockSize + spread / (2 * kBlockRadius));
  return n * (m * pair_seconds(kernel, d, lanes) + 1e-9 * blocks * kBlockSampleNs);
}

double direct_line_pairs_seconds(double n, std::size_t lanes) {
  const double pair = kPolynomialFactor * pair_seconds({}, 1, lanes);
  return n * (1e-9 * kCornerNs + 0.5 * n * pair);
}

const DensityEngine direct_engine{"direct",     "sums every pair, for any kernel and dimension",
                                  takes_direct, false,
                                  fits_direct,  plan_direct,
                                  run_direct};

}  // namespace kestrel
