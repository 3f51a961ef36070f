#include "core/query/orthant_series.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/whole.hpp"
#include "core/fourier/grid.hpp"
#include "core/fourier/lay_grid.hpp"
#include "core/fourier/mode_sums.hpp"
#include "core/fourier/ranges.hpp"
#include "core/kernel/kernel.hpp"
#include "core/query/line_kernel.hpp"

namespace kestrel {

namespace {

/// The antiderivatives of the modes of an axis at points of it, which are given in periods.
AxisWaves antiderivatives(const std::vector<double>& point, double period, std::size_t modes,
                          Side side) {
  AxisWaves waves(1, point.size(), modes);
  for (std::size_t g = 0; g < point.size(); ++g) {
    const double u = point[g];
    double* row = waves.row(0, g);
    row[0] = period * (side == Side::below ? u : 1 - u);
    // At the ends of the period the others vanish.
    for (std::size_t m = 1; m < modes && u != 0 && u != 1; ++m) {
      const double turns = std::fmod(static_cast<double>(m) * u, 2.0);
      const double sine = std::sin(kPi * turns) / (kPi * static_cast<double>(m));
      const double scale = period * (side == Side::below ? sine : -sine);
      row[2 * m] = scale * std::cos(kPi * turns);
      row[2 * m + 1] = scale * std::sin(kPi * turns);
    }
  }
  return waves;
}

AxisWaves antiderivatives_of(const FourierGeometry& geometry, std::size_t variable,
                             Span<const double> values, Side side) {
  const std::size_t a = geometry.axis(variable);
  std::vector<double> point;
  for (const double value : values) {
    const double z = (value - geometry.centre[variable]) * geometry.scale[variable];
    point.push_back(std::min(std::max((z - geometry.origin[a]) / geometry.period[a], 0.0), 1.0));
  }
  return antiderivatives(point, geometry.period[a], geometry.box.max[a] + 1, side);
}

/// Sets the period and the numbers of cells and modes; returns false for too many cells.
bool lay_series(const DensityFrame& frame, FourierGeometry* geometry) {
  for (std::size_t a = 3 - geometry->d; a < 3; ++a) {
    const double reach = kWholeNormal * std::sqrt(frame.h[4 * a]);
    geometry->low[a] = frame.samples[a].low;
    geometry->high[a] = frame.samples[a].high;
    geometry->origin[a] = geometry->low[a] - reach;
    geometry->period[a] = frame.samples[a].length() + 2 * reach;
    const double modes = std::ceil(geometry->cut * geometry->period[a] / (2 * kPi));
    const double cells = std::ceil(FourierWindow::kCellsOfMode * modes);
    if (!(cells < kMaxFourierCells)) return false;
    geometry->box.max[a] = whole_number<std::size_t>(modes);
    geometry->box.cells[a] = smooth_number(whole_number<std::size_t>(cells));
  }
  for (std::size_t a = 0; a < 3 - geometry->d; ++a) {
    geometry->box.max[a] = 0;
    geometry->box.cells[a] = 1;
  }
  return true;
}

}  // namespace

SeriesPlan plan_series(const QueryDensity& density, const std::vector<Span<const double>>& axes,
                       const RunOptions& options) {
  SeriesPlan plan;
  plan.bytes = plan.seconds = kInfinity;
  // Only the samples are measured: points may be infinite, and any grid has a frame along its axes.
  EvaluationPoints point;
  for (std::size_t k = 0; k < axes.size(); ++k)
    point.axes.push_back({&density.x.data[k * density.x.rows], 1});
  const DataRange extent = measure_density(density.x, density.w, point, density.root, options);
  const DensityFrame& frame = extent.frame.back();
  if (!frame.along_data) return plan;
  plan.frame = frame;
  FourierGeometry& geometry = plan.geometry = frame.geometry;
  geometry.tolerance = kMinFourierTolerance;
  geometry.min = geometry.max = 1;
  geometry.cut = fourier_cut(geometry.tolerance);
  geometry.taps = FourierWindow::taps_for(geometry.tolerance);
  if (!lay_series(frame, &geometry)) return plan;
  double cells = 1;
  Point3 modes{}, values{};
  for (std::size_t a = 0; a < 3; ++a) {
    cells *= static_cast<double>(geometry.box.cells[a]);
    modes[a] = static_cast<double>(geometry.box.max[a]);
  }
  for (std::size_t k = 0; k < axes.size(); ++k) values[k] = static_cast<double>(axes[k].size);
  plan.bytes = 8 * cells + mode_sum_bytes(modes, axes.size(), values, 0, 8 * cells);
  plan.seconds = spread_seconds(extent.n, geometry.taps, axes.size(), cells) +
                 mode_sum_seconds(modes, axes.size(), values, 0, extent.lanes);
  return plan;
}

void orthants_by_series(const SeriesPlan& plan, const QueryDensity& density,
                        const std::vector<Span<const double>>& axes, Side side,
                        const RunOptions& options, Span<double> out) {
  const FourierGeometry& geometry = plan.geometry;
  FourierGrid grid(geometry, options);
  grid.add(density.x, density.w, part_of(options, 0.0, 0.4));
  RawVector<double> modes = grid.take_cells();
  forward_transform(modes.data(), geometry.box, part_of(options.parallel, 0.4, 0.6));
  std::array<AxisWaves, 3> waves;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    waves[k] = antiderivatives_of(geometry, k, axes[k], side);
  }
  const ModeFactors factors(geometry, FourierWindow(geometry.taps), plan.frame.h, 1);
  const double bytes = 4.0 * static_cast<double>(geometry.box.size());
  sum_over_modes(geometry.box, axes.size(), factors, kInfinity, modes.data(), waves, 0, bytes,
                 part_of(options, 0.6, 1.0), out);
}

}  // namespace kestrel
