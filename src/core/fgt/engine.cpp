#include "core/fgt/engine.hpp"

#include <algorithm>

#include "core/data/passes.hpp"
#include "core/fgt/costs.hpp"
#include "core/fgt/density.hpp"
#include "core/fgt/line_sample.hpp"

namespace kestrel {

namespace {

/// In a density cells are an eighth to a quarter of a bandwidth wide, and pairs of cells
/// within 11.7 bandwidths are summed (for 1000 samples of one weight).
constexpr double kCellsOfBandwidth = 6, kCellsInReach = 140;

/// In a sum over pairs cells are a quarter to a half of a bandwidth wide; pairs of cells within ten
/// bandwidths are summed.
constexpr double kWideCellsOfBandwidth = 3, kWideCellsInReach = 30, kBandwidthsInReach = 10;

/// Maximum memory. A value: four counters of cells, the key and the first position of its cell, its
/// own position and offset. A sample also: its weight, the key and slot of its cell and half of 40
/// moments. A point also: its sum, its piece of work and the result.
constexpr double kFgtSampleBytes = 228, kFgtPointBytes = 92;

std::string takes_fgt() { return "one dimension and the Gaussian kernel"; }

bool fits_fgt(const KernelChoice& kernel, std::size_t d, bool) {
  return d == 1 && !is_compact(kernel.kernel);
}

std::optional<DensityPlan> plan_fgt(const DensityTask& task, bool, bool) {
  const double n = task.samples(), m = task.points();
  const std::vector<double>& range = task.sample.ranges(task.how.parallel);
  DensityPlan plan;
  plan.tolerance = std::min(task.tolerance, kEngineError);
  plan.bytes = kFgtSampleBytes * n + kFgtPointBytes * m;
  plan.seconds = fgt_density_seconds(n, m, (range[1] - range[0]) / task.root[0]);
  return plan;
}

void run_fgt(const DensityTask& task, const DensityPlan&, const RunOptions& how, Span<double> out) {
  fgt_density(line_sample(task.sample, how), task.at.line(), task.root[0], how, out);
  divide(out, task.divisor, task.how.parallel);
}

}  // namespace

double fgt_density_seconds(double n, double m, double spread) {
  const double cells = kCellsOfBandwidth * spread + 1;
  const double sources = std::max(1.0, std::min(n, cells));
  const double targets = std::max(1.0, std::min(m, cells));
  const double samples = n / sources, points = m / targets;  // of a cell
  const double met = sources * std::min(1.0, kCellsInReach / cells);
  const double pair = std::min(kFgtCellPairNs, samples * points * kFgtExponentialNs);
  return 1e-9 * (kFgtCallNs + kFgtValueNs * (n + m) + kFgtCellNs * (sources + targets) +
                 targets * met * pair);
}

double fgt_pairs_seconds(double n, double spread) {
  const double cells = kWideCellsOfBandwidth * spread + 1, full = std::min(n, cells);
  const double met = std::max(1.0, full * std::min(1.0, kWideCellsInReach / cells));
  const double by_moments = kMomentsNs * n + kMomentsPairNs * full * met;
  const double in_reach = n * n * std::min(0.5, kBandwidthsInReach / spread);
  const double by_windows = kWindowsNs * n + kWindowsPairNs * in_reach;
  return 1e-9 * (kPairSumsCallNs + std::min(by_moments, by_windows));
}

const DensityEngine fgt_engine{
    "fgt",  "sums moments of cells, for any number of samples", takes_fgt, true, fits_fgt, plan_fgt,
    run_fgt};

}  // namespace kestrel
