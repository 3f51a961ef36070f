#include "core/fourier/density_grid.hpp"

#include "core/base/whole.hpp"
#include "core/fourier/grid.hpp"
#include "core/fourier/reader.hpp"
#include "core/fourier/smooth.hpp"

namespace kestrel {

DensityGrid::DensityGrid(const DataRange& extent, const DensityLayout& layout, double tolerance)
    : frame_(extent.frame[layout.frame]),
      modes_(extent.modes),
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

void DensityGrid::smooth(const MatrixView& x, Weights w, const RunOptions& options) {
  const TransformBox& box = geometry_.box;
  if (frame_.kept) {
    cells_.resize(box.size());
    modes_->density_cells(geometry_, window_, frame_.h, options.parallel, cells_.data());
    return;
  }
  FourierGrid grid(geometry_, options);
  grid.add(x, w, part_of(options, 0.0, 0.5));
  cells_ = grid.take_cells();
  forward_transform(cells_.data(), box, part_of(options.parallel, 0.5, 0.75));
  smooth_modes(geometry_, window_, frame_.h, 2, part_of(options.parallel, 0.75, 0.8),
               cells_.data());
  inverse_transform(cells_.data(), box, part_of(options.parallel, 0.8, 1.0));
}

void DensityGrid::read(const EvaluationPoints& points, const RunOptions& options,
                       Span<double> out) const {
  const FourierReader reader(geometry_, window_, layout_.points, options.table);
  if (frame_.along_data) {
    reader.read_axes(cells_.data(), points.axes, options.parallel, out);
  } else {
    reader.read_points(cells_.data(), points, options.parallel, out);
  }
}

}  // namespace kestrel
