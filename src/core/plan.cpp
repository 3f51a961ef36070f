#include "core/plan.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/sweep_kernel.hpp"

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

/// Seconds of the linear engines, from bench/one-dimension.R: sorting and sums of the sweep for
/// each sample and point; moments and Taylor sums of the cells for each, and what a pair of cells
/// costs. A point meets cells up to 10.5 bandwidths away, four cells a bandwidth or fewer.
constexpr double kSweepPointSeconds = 150e-9;
constexpr double kCellsPointSeconds = 30e-9;
constexpr double kCellPairSeconds = 60e-9;

double cells_density_seconds(const DensityTask& task) {
  const double cells_in_reach = 84;
  const double target_cells = std::min(task.m, 4 * task.spread + 1);
  const double source_cells = std::min({task.n, 4 * task.spread + 1, cells_in_reach});
  return kCellsPointSeconds * (task.n + task.m) + kCellPairSeconds * target_cells * source_cells;
}

bool fits_sweep(const DensityTask& task) {
  return task.d == 1 && is_polynomial(task.kernel.kernel);
}

bool fits_cells(const DensityTask& task) {
  return task.d == 1 && task.kernel.kernel == Kernel::gaussian;
}

void check_engine(const DensityTask& task, const std::string& engine) {
  const char* const names = "auto, direct, sweep, cells";
  if (engine != "auto" && engine != "direct" && engine != "sweep" && engine != "cells") {
    throw error(ErrorKind::input,
                "engine must be one of " + std::string(names) + ", not " + engine);
  }
  if (engine == "sweep" && !fits_sweep(task)) {
    throw error(ErrorKind::input,
                "engine \"sweep\" takes the kernels uniform, triangular, "
                "epanechnikov, biweight and triweight in one dimension");
  }
  if (engine == "cells" && !fits_cells(task)) {
    throw error(ErrorKind::input, "engine \"cells\" takes the Gaussian kernel in one dimension");
  }
}

Plan direct_plan(const DensityTask& task) {
  Plan plan;
  plan.engine = "direct";
  plan.tolerance = std::min(task.tolerance, kDirectError);
  // The result, and the order of the points with their cells while they are cut into blocks.
  plan.bytes = 8 * task.m * (2 + static_cast<double>(task.d));
  plan.seconds = task.n * task.m * direct_pair_seconds(task) / std::max(1, task.threads);
  plan.reason = "sums every pair, for any kernel and dimension";
  return plan;
}

/// Sorted copies of samples and points in both directions; most work runs on one thread.
Plan linear_plan(const DensityTask& task, const char* engine, double seconds, const char* reason) {
  Plan plan;
  plan.engine = engine;
  plan.tolerance = std::min(task.tolerance, kDirectError);
  plan.bytes = 64 * (task.n + task.m);
  plan.seconds = seconds;
  plan.reason = reason;
  return plan;
}

}  // namespace

std::string plan_pairs(double n, double spread, std::size_t lanes) {
  DensityTask task;
  task.lanes = lanes;
  // The lag table: at most n cells, and at most one pair of cells for each two samples.
  const double cells = std::min(n, 2 * spread + 1);
  const double seconds = kCellsPointSeconds * n + kCellPairSeconds * cells * std::min(cells, 40.0);
  // Fixed costs of building the cells and the table.
  const double direct = 0.5 * n * n * direct_pair_seconds(task);
  return seconds + 50e-6 < direct ? "cells" : "direct";
}

Plan plan_density(const DensityTask& task, const std::string& engine) {
  check_engine(task, engine);
  Plan plan = direct_plan(task);
  Plan linear = plan;
  if (fits_sweep(task)) {
    linear = linear_plan(task, "sweep", kSweepPointSeconds * (task.n + task.m) + 20e-6,
                         "sorts samples and points and sums windows in one sweep");
  } else if (fits_cells(task)) {
    linear = linear_plan(task, "cells", cells_density_seconds(task) + 20e-6,
                         "sums moments of cells, for any number of samples");
  }
  // Compared on one thread: a result has the same bits for any number of them.
  const double direct_seconds = plan.seconds * std::max(1, task.threads);
  if (engine == linear.engine || (engine == "auto" && linear.seconds < direct_seconds))
    plan = linear;
  if (engine != "auto") plan.reason = "asked for";
  return plan;
}

}  // namespace kestrel
