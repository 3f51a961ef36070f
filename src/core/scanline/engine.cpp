#include "core/scanline/engine.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/scanline/costs.hpp"
#include "core/scanline/scanline.hpp"

namespace kestrel {

namespace {

/// The engine's error bound: the larger of the two in core/scanline/scanline.hpp, which is for one
/// axis whose points are not quite at equal steps.
constexpr double kScanlineError = 1e-13;

/// Memory of a thread for the cells of a tile, or for samples that are being sorted: between the
/// 1.5 and the 2.5 MiB that core/scanline/scanline.hpp gives as maxima.
constexpr double kScanlineThreadBytes = 2e6;

std::string takes_scanline() {
  return "grids with equal steps in up to six dimensions and the compact kernels";
}

bool fits_scanline(const KernelChoice& kernel, std::size_t d, bool gridded) {
  return gridded && d <= 6 && is_compact(kernel.kernel);
}

/// Memory: the result, the sorted samples with their weights, and that of the threads.
std::optional<DensityPlan> plan_scanline(const DensityTask& task, bool, bool) {
  std::optional<ScanlineGeometry> geometry;
  if (scanline_axes(task, &geometry).empty()) return {};
  const double n = task.samples(), m = task.points();
  DensityPlan plan;
  plan.tolerance = std::min(task.tolerance, kScanlineError);
  plan.bytes = 8 * m + (8 * static_cast<double>(task.sample.d()) + 8) * n +
               kScanlineThreadBytes * task.how.parallel.threads;
  plan.seconds = scanline_seconds(*geometry, task.kernel, n, m);
  return plan;
}

void run_scanline(const DensityTask& task, const DensityPlan&, const RunOptions& how,
                  Span<double> out) {
  const std::vector<RegularAxis> axes = find_regular_axes(task.at.axes);
  ScanlineSettings settings;
  settings.divisor = task.divisor;
  scanline_density(task.sample.x(), task.sample.w(), {axes.data(), axes.size()}, task.kernel,
                   task.root, settings, how, out);
}

}  // namespace

std::vector<RegularAxis> scanline_axes(const DensityTask& task,
                                       std::optional<ScanlineGeometry>* geometry) {
  if (!fits_scanline(task.kernel, task.at.axes.size(), !task.at.axes.empty())) return {};
  std::vector<RegularAxis> axes = find_regular_axes(task.at.axes);
  if (axes.empty()) return {};
  try {
    geometry->emplace(Span<const RegularAxis>{axes.data(), axes.size()}, task.root,
                      task.kernel.type);
  } catch (const error& problem) {
    if (problem.kind != ErrorKind::input) throw;
    return {};
  }
  return axes;
}

double scanline_seconds(const ScanlineGeometry& geometry, const KernelChoice& kernel, double n,
                        double m) {
  const bool events = scanline_method(geometry, kernel) == ScanlineMethod::events;
  if (events && geometry.line()) return 1e-9 * (n * kScanlineLineSampleNs + kScanlinePointNs * m);
  const double covered = events ? 0 : kScanlineCoveredNs * geometry.points_reached();
  return 1e-9 * (n * (kScanlineSampleNs + kScanlineRowNs * geometry.rows_crossed() + covered) +
                 kScanlinePointNs * m);
}

const DensityEngine scanline_engine{
    "scanline",     "adds whole runs of grid points, by exact integers",
    takes_scanline, true,
    fits_scanline,  plan_scanline,
    run_scanline};

}  // namespace kestrel
