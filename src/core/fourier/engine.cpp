#include "core/fourier/engine.hpp"

#include <algorithm>

#include "core/data/passes.hpp"
#include "core/fourier/density.hpp"
#include "core/fourier/geometry.hpp"
#include "core/fourier/layout.hpp"

namespace kestrel {

namespace {

/// Memory besides the grid. A sample: its position in the cubes for far points; and a copy in the
/// order of the grid's tiles, of kSortedSamples at a time. A point: its result, its cube and its
/// position there.
constexpr double kSampleBytes = 12, kSortedBytes = 48, kPointBytes = 28, kSortedSamples = 524288;

std::string takes_fourier() { return "two or three dimensions and the Gaussian kernel"; }

bool fits_fourier(const KernelChoice& kernel, std::size_t d, bool) {
  return (d == 2 || d == 3) && !is_compact(kernel.kernel);
}

std::optional<DensityPlan> plan_fourier(const DensityTask& task, bool asked, bool) {
  if (!asked && !(task.tolerance >= kMinFourierTolerance)) return {};
  DensityPlan plan;
  plan.tolerance = std::min(std::max(task.tolerance, kMinFourierTolerance), kMaxFourierTolerance);
  if (task.sample.found<SpreadSamples>() != nullptr) return plan;
  const std::shared_ptr<const DataRange> extent = extent_of(task);
  const DensityLayout layout = lay_density(*extent, plan.tolerance);
  if (asked) {
    check_fourier_memory(layout, kFourierBytes);
  } else if (layout.bytes > kFourierBytes || layout.rounding > task.tolerance) {
    return {};
  }
  plan.rounding = layout.rounding;
  plan.bytes = layout.bytes + kSampleBytes * extent->n +
               kSortedBytes * std::min(extent->n, kSortedSamples) + kPointBytes * task.points();
  plan.seconds = layout.seconds;
  plan.made = extent;
  return plan;
}

void run_fourier(const DensityTask& task, const DensityPlan& plan, const RunOptions& how,
                 Span<double> out) {
  if (const SpreadSamples* spread = task.sample.found<SpreadSamples>()) {
    density_of_modes(*spread->source, task.at, task.root, plan.tolerance, how, out);
  } else {
    fourier_density(task.sample.x(), task.sample.w(), task.at, task.root, task.within,
                    *static_cast<const DataRange*>(plan.made.get()), plan.tolerance, kFourierBytes,
                    how, out);
  }
  divide(out, task.divisor, task.how.parallel);
}

}  // namespace

std::shared_ptr<const DataRange> extent_of(const DensityTask& task) {
  const ModesOfSample* kept = task.sample.found<ModesOfSample>();
  return std::make_shared<const DataRange>(
      measure_density(task.sample.x(), task.sample.w(), task.at, task.root, task.how,
                      kept == nullptr ? nullptr : kept->modes()));
}

const DensityEngine fourier_engine{
    "fourier",     "sums by Fourier transform, for any number of samples",
    takes_fourier, true,
    fits_fourier,  plan_fourier,
    run_fourier};

}  // namespace kestrel
