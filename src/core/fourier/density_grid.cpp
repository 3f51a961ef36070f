#include "core/fourier/density_grid.hpp"

#include "core/base/whole.hpp"
#include "core/fourier/grid.hpp"
#include "core/fourier/mode_sums.hpp"
#include "core/fourier/reader.hpp"
#include "core/fourier/smooth.hpp"

namespace kestrel {

namespace {

/// Modes are left out if exp(-t'ht / 2) is less than exp(-cut^2 / 2) by a factor of exp(5): in
/// three dimensions those outside of the ellipsoid of the cut itself would add 0.7 tolerance.
constexpr double kBeyondCut = 10;

}  // namespace

DensityGrid::DensityGrid(const DataRange& extent, const DensityLayout& layout, double tolerance)
    : frame_(extent.frame[layout.frame]),
      kept_(extent.modes),
      layout_(layout),
      geometry_(frame_.geometry),
      window_(layout.taps) {
  geometry_.tolerance = tolerance;
  geometry_.cut = layout.cut;
  geometry_.taps = layout.taps;
  geometry_.min = geometry_.max = 1;
  geometry_.trimmed = layout.trimmed;
  geometry_.period = layout.period;
  geometry_.origin = layout.origin;
  for (std::size_t a = 0; a < 3; ++a) {
    geometry_.box.cells[a] = whole_number<std::size_t>(layout.cells[a]);
    geometry_.box.max[a] = whole_number<std::size_t>(layout.modes[a]);
    if (a < 3 - geometry_.d) continue;
    geometry_.low[a] = layout.samples[a].low;
    geometry_.high[a] = layout.samples[a].high;
  }
}

ScaledNumber DensityGrid::scale() const {
  ScaledNumber scale;
  for (std::size_t k = 0; k < geometry_.d; ++k) scale.multiply(geometry_.scale[k]);
  return scale;
}

Point3 DensityGrid::direction(std::size_t k) const {
  FourierGeometry linear = geometry_;
  linear.centre = {};
  double unit[3] = {};
  unit[k] = 1;
  return linear.whiten({unit, 1, geometry_.d}, 0);
}

void DensityGrid::transform(const MatrixView& x, Weights w, const RunOptions& options) {
  if (frame_.kept) return;
  FourierGrid grid(geometry_, options);
  grid.add(x, w, part_of(options, 0.0, 0.7));
  modes_ = grid.take_cells();
  forward_transform(modes_.data(), geometry_.box, part_of(options.parallel, 0.7, 1.0));
}

void DensityGrid::smooth(const std::vector<Point3>& directions, bool last,
                         const RunOptions& options) {
  const ModeDerivative derivative(directions, geometry_);
  if (frame_.kept) {
    cells_.resize(geometry_.box.size());
    kept_->density_cells(geometry_, window_, frame_.h, derivative, options.parallel, cells_.data());
    return;
  }
  if (!last) cells_.resize(geometry_.box.size());
  double* cells = last ? modes_.data() : cells_.data();
  smooth_modes(geometry_, window_, frame_.h, 2, derivative, part_of(options.parallel, 0.0, 0.25),
               modes_.data(), cells);
  inverse_transform(cells, geometry_.box, part_of(options.parallel, 0.25, 1.0));
  if (last) cells_ = std::move(modes_);
}

void DensityGrid::read(const EvaluationPoints& points, const RunOptions& options,
                       Span<double> out) const {
  FourierReader(geometry_, window_, layout_.points, options.table)
      .read_points(cells_.data(), points, options.parallel, out);
}

void DensityGrid::sum(const std::vector<Span<const double>>& axes, int order,
                      const RunOptions& options, Span<double> out) const {
  std::array<AxisWaves, 3> waves;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    waves[k] =
        derivatives_of_waves(geometry_, k, axes[k], layout_.points[geometry_.axis(k)], order);
  }
  const ModeFactors factors(geometry_, window_, frame_.h, 1);
  sum_over_modes(geometry_.box, geometry_.d, factors, layout_.cut * layout_.cut + kBeyondCut,
                 modes_.data(), waves, order, 4.0 * static_cast<double>(geometry_.box.size()),
                 options, out);
}

}  // namespace kestrel
