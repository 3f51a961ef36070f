#include "core/sketch/grid_modes.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/parallel.hpp"
#include "core/base/whole.hpp"
#include "core/fourier/grid.hpp"
#include "core/fourier/lay_grid.hpp"
#include "core/kernel/kernel.hpp"
#include "core/sketch/grid_limits.hpp"
#include "simd/sketch/whole_moments.hpp"

namespace kestrel {

namespace {

/// A grid over all samples is taken if it has no more cells than this, or than so many times those
/// of one that leaves outliers out.
constexpr double kFewCells = 1 << 20, kTimesCells = 4;

double side_of(std::size_t axis, std::size_t d) {
  return static_cast<double>(std::size_t{1} << GridSketch::tile_bits(axis, d));
}

/// A whole number of cells in the middle of the full tiles, of which there is one. Positions are
/// relative to it, so that outliers cost other samples no digits.
double middle_of_tiles(const GridSketch& sketch, std::size_t axis) {
  ValueRange middles{HUGE_VAL, -HUGE_VAL};
  for (const GridSketch::Tile* tile : sketch.tiles()) {
    if (tile->full) widen_range(&middles, sketch.middle(tile->key, axis));
  }
  return std::floor(0.5 * middles.min + 0.5 * middles.max);
}

}  // namespace

double least_in_cells(std::size_t d) {
  return FourierWindow::kCellsOfMode * fourier_cut(default_fourier_tolerance(d)) / (2 * kPi);
}

GridModes::GridModes(const GridSketch& sketch, const WeightSums& weights, double unit)
    : sketch_(sketch), weights_(weights), unit_(unit) {
  const std::size_t d = sketch.d(), width = sketch.width_of_row();
  axes_.d = d;
  axes_.tolerance = default_fourier_tolerance(d);
  axes_.taps = GridSketch::kTaps;
  axes_.cut = fourier_cut(axes_.tolerance);
  axes_.min = axes_.max = least_in_cells(d);
  axes_.phases = true;
  for (std::size_t k = 0; k < d; ++k) {
    const double cell = std::ldexp(1.0, sketch.plan().exponent[k]);
    const ValueRange& range = sketch.ranges()[k];
    const std::size_t axis = axes_.axis(k);
    centre_[axis] = middle_of_tiles(sketch, axis);
    axes_.centre[k] = centre_[axis] * cell;
    axes_.root[k * d + k] = cell;
    axes_.scale[k] = 1 / cell;
    axes_.determinant *= cell;
    all_[axis] = {(range.min - axes_.centre[k]) / cell, (range.max - axes_.centre[k]) / cell};
  }
  if (!(axes_.determinant > 0) || !std::isfinite(axes_.determinant)) {
    throw error(ErrorKind::input, "the cells are outside the range of numbers");
  }
  const std::vector<double> rows = kept_rows(sketch);
  const std::size_t count = rows.size() / width;
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t i = 0; i < count; ++i) kept_.push_back(rows[i * width + k]);
  }
  for (std::size_t i = 0; i < count; ++i) {
    kept_weight_.push_back(sketch.plan().weighted() ? unit * sketch.in_units(rows[i * width + d])
                                                    : 1.0);
  }
}

/// Of the samples of full tiles, and `margin` cells around.
GridModes::Box GridModes::box_of_tiles(double margin) const {
  const std::size_t d = axes_.d;
  Box box{};
  bool any = false;
  for (const GridSketch::Tile* tile : sketch_.tiles()) {
    if (!tile->full) continue;
    for (std::size_t a = 3 - d; a < 3; ++a) {
      const double middle = sketch_.middle(tile->key, a) - centre_[a];
      const double half = 0.5 * side_of(a, d) + 1;
      const double low = std::max(middle - half, all_[a][0]) - margin;
      const double high = std::min(middle + half, all_[a][1]) + margin;
      box[a] = any ? std::array<double, 2>{std::min(box[a][0], low), std::max(box[a][1], high)}
                   : std::array<double, 2>{low, high};
    }
    any = true;
  }
  return box;
}

/// Full tiles count with all of their weight at their middle.
BoxContent GridModes::content_of(const FourierGeometry& geometry) const {
  const std::size_t d = axes_.d;
  BoxContent content;
  std::array<std::vector<double>, 3> bins;
  for (std::vector<double>& axis : bins) axis.assign(kFourierBins, 0.0);
  const auto add = [&](const Point3& z, double weight, double squares) {
    content.weight += weight;
    content.squares += squares;
    for (std::size_t a = 3 - d; a < 3; ++a) {
      const double range = geometry.high[a] - geometry.low[a];
      const double bin = range > 0 ? (z[a] - geometry.low[a]) / range * kFourierBins : 0;
      const double most = kFourierBins - 1;
      bins[a][whole_number<std::size_t>(std::min(most, std::max(0.0, bin)))] += weight;
    }
  };
  for (const GridSketch::Tile* tile : sketch_.tiles()) {
    if (!tile->full) continue;
    Point3 z{};
    for (std::size_t a = 3 - d; a < 3; ++a) z[a] = sketch_.middle(tile->key, a) - centre_[a];
    add(z, unit_ * tile->moments[0].value() / simd::kQuanta,
        unit_ * unit_ * tile->moments[1].value() / simd::kQuanta);
  }
  for (std::size_t i = 0; i < kept_weight_.size(); ++i) {
    const Point3 z = geometry.whiten(known(), i);
    if (geometry.inside(z)) add(z, kept_weight_[i], kept_weight_[i] * kept_weight_[i]);
  }
  for (std::size_t a = 3 - d; a < 3; ++a) content.at_lag[a] = weight_at_lags(bins[a].data());
  return content;
}

/// Cells may be too many for integers: then `box` is not set, and bytes() of it are zero.
FourierGeometry GridModes::laid(const Box& box, bool trimmed, double max,
                                const Point3& period) const {
  const std::size_t d = axes_.d;
  FourierGeometry geometry = axes_;
  geometry.trimmed = trimmed;
  geometry.max = std::max(max, geometry.min);
  for (std::size_t a = 3 - d; a < 3; ++a) {
    geometry.low[a] = box[a][0];
    geometry.high[a] = box[a][1];
  }
  set_periods(content_of(geometry), &geometry);
  double cells = 1;
  Point3 wanted{1, 1, 1};
  for (std::size_t a = 3 - d; a < 3; ++a) {
    // A sample may be farther from the next one by this than the middles of their tiles.
    const double within = 2 * (side_of(a, d) + 2);
    const double range = geometry.high[a] - geometry.low[a];
    wanted[a] = std::ceil(std::max({geometry.period[a] + within, period[a],
                                    range + static_cast<double>(FourierWindow::kMaxTaps) + 4}));
    cells *= wanted[a];
  }
  if (!(8 * cells <= kSketchGridBytes)) return geometry;
  for (std::size_t a = 0; a < 3; ++a) {
    geometry.box.cells[a] = 1;
    geometry.box.max[a] = 0;
    if (a < 3 - d) continue;
    const std::size_t count = smooth_number(whole_number<std::size_t>(wanted[a]));
    geometry.box.cells[a] = count;
    geometry.period[a] = static_cast<double>(count);
    geometry.box.max[a] = whole_number<std::size_t>(
        std::ceil(static_cast<double>(count) / FourierWindow::kCellsOfMode));
    geometry.origin[a] = std::floor(geometry.low[a]) - (geometry.taps / 2 + 1);
  }
  return geometry;
}

std::unique_ptr<FourierModes> GridModes::modes(double max, const Point3& period,
                                               const RunOptions& options) const {
  const auto cells_in = [](const FourierGeometry& geometry) {
    return geometry.box.cells[2] == 0 ? HUGE_VAL : static_cast<double>(geometry.box.size());
  };
  FourierGeometry geometry = laid(all_, false, max, period);
  if (cells_in(geometry) > kFewCells && !sketch_.keeps_all()) {
    // No sample of a full tile may be within reach of the edge, since such are not known.
    const double margin = geometry.reach + 1;
    const FourierGeometry trimmed = laid(box_of_tiles(margin), true, max, period);
    if (kTimesCells * cells_in(trimmed) < cells_in(geometry)) geometry = trimmed;
  }
  if (cells_in(geometry) == HUGE_VAL || geometry.bytes() > kSketchGridBytes) {
    throw error(ErrorKind::unfit, "a grid of these cells, over all samples, needs more than " +
                                      gigabytes(kSketchGridBytes));
  }
  FourierGrid grid(geometry, options);
  double weight = 0, squares = 0;
  for (const GridSketch::Tile* tile : sketch_.tiles()) {
    if (!tile->full) continue;
    weight += unit_ * tile->moments[0].value() / simd::kQuanta;
    squares += unit_ * unit_ * tile->moments[1].value() / simd::kQuanta;
  }
  fill(geometry, &grid.add_spread(weight, squares), part_of(options.parallel, 0, 0));
  grid.add(known(), known_weights(), part_of(options, 0.0, 0.5));
  return std::make_unique<FourierModes>(std::move(grid), kSketchGridBytes - geometry.bytes(),
                                        part_of(options, 0.5, 1.0));
}

void GridModes::fill(const FourierGeometry& geometry, RawVector<double>* cells,
                     const ParallelOptions& options) const {
  const std::size_t d = axes_.d;
  std::vector<const GridSketch::Tile*> some;
  for (const GridSketch::Tile* tile : sketch_.tiles()) {
    if (!tile->low.empty()) some.push_back(tile);
  }
  std::size_t side[3];
  for (std::size_t a = 0; a < 3; ++a) side[a] = std::size_t{1} << GridSketch::tile_bits(a, d);
  parallel_for(some.size(), options, [&](std::size_t item, int) {
    const GridSketch::Tile& tile = *some[item];
    double corner[3];  // the tile's first cell on the grid
    for (std::size_t a = 0; a < 3; ++a) {
      corner[a] = a < 3 - d ? 0
                            : static_cast<double>(tile.key[a]) * static_cast<double>(side[a]) -
                                  centre_[a] - geometry.origin[a];
    }
    for (std::size_t i = 0; i < side[0]; ++i) {
      for (std::size_t j = 0; j < side[1]; ++j) {
        for (std::size_t k = 0; k < side[2]; ++k) {
          const std::size_t c = (i * side[1] + j) * side[2] + k;
          const double value = tile.cell(c);
          // Cells beyond the windows of all samples are zero, and may be outside of the grid.
          if (value == 0) continue;
          const std::size_t at0 = whole_number<std::size_t>(corner[0] + static_cast<double>(i));
          const std::size_t at1 = whole_number<std::size_t>(corner[1] + static_cast<double>(j));
          const std::size_t at2 = whole_number<std::size_t>(corner[2] + static_cast<double>(k));
          if (at0 >= geometry.box.cells[0] || at1 >= geometry.box.cells[1] ||
              at2 >= geometry.box.cells[2]) {
            throw error(ErrorKind::internal, "a cell is outside of the grid");
          }
          (*cells)[geometry.box.row(at0, at1) + at2] += unit_ * value;
        }
      }
    }
  });
}

}  // namespace kestrel
