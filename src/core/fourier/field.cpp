#include "core/fourier/field.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/fourier/derivatives.hpp"
#include "core/kernel/derivative.hpp"

namespace kestrel {

namespace {

/// The highest order of the derivatives.
constexpr int kOrder = 2;

DataRange measured(const MatrixView& x, Weights w, const MatrixView& points,
                   Span<const double> root, const RunOptions& options) {
  EvaluationPoints at;
  at.matrix = points;
  DataRange extent = measure_density(x, w, at, root, options);
  DensityFrame& frame = extent.frame[0];
  for (std::size_t a = 3 - x.cols; a < 3; ++a) {
    frame.points[a].low = std::min(frame.points[a].low, frame.samples[a].low);
    frame.points[a].high = std::max(frame.points[a].high, frame.samples[a].high);
  }
  return extent;
}

}  // namespace

FourierField::FourierField(DataRange&& extent, const DensityLayout& layout, double tolerance)
    : extent_(std::move(extent)),
      layout_(layout),
      grid_(extent_, layout_, tolerance),
      values_(Monomials(grid_.geometry().d, kOrder).size()) {}

std::unique_ptr<FourierField> FourierField::make(const MatrixView& x, Weights w,
                                                 const MatrixView& points, Span<const double> root,
                                                 double tolerance, double bytes,
                                                 const RunOptions& options) {
  DataRange extent = measured(x, w, points, root, options);
  const DensityLayout layout = lay_derivatives(extent, tolerance, kOrder);
  const double grids = static_cast<double>(Monomials(x.cols, kOrder).size() + 2);
  const bool fits = !layout.empty && layout.rounding <= tolerance &&
                    grids * layout.cells[0] * layout.cells[1] * layout.cells[2] * 8 <= bytes;
  if (!fits) return nullptr;
  std::unique_ptr<FourierField> field(new FourierField(std::move(extent), layout, tolerance));
  field->fill(x, w, options);
  return field;
}

void FourierField::fill(const MatrixView& x, Weights w, const RunOptions& options) {
  const FourierGeometry& geometry = grid_.geometry();
  const std::size_t size = geometry.box.size();
  cells_.resize(values_ * size);
  grid_.transform(x, w, part_of(options, 0.0, 0.5));
  const Monomials monomials(geometry.d, kOrder);
  for (std::size_t t = 0; t < values_; ++t) {
    std::vector<Point3> directions;
    for (std::size_t k = 0; k < geometry.d; ++k) {
      Point3 unit{};
      unit[geometry.axis(k)] = 1;
      directions.insert(directions.end(), static_cast<std::size_t>(monomials.exponent(t)[k]), unit);
    }
    grid_.smooth(directions, t + 1 == values_, part_of(options, 0.5, 1.0));
    std::copy_n(grid_.cells().data(), size, cells_.data() + t * size);
  }
  double largest = 0;
  const TransformBox& box = geometry.box;
  for (std::size_t row = 0; row < size; row += box.row_length()) {
    for (std::size_t k = 0; k < box.cells[2]; ++k) {
      largest = std::max(largest, std::fabs(cells_[row + k]));
    }
  }
  // A value is a sum of cells times a window that adds to its transform at 0, but for aliases.
  largest_ =
      largest * std::pow(1.01 * grid_.window().transform(0), static_cast<double>(geometry.d));
  reader_ =
      std::make_unique<FourierReader>(geometry, grid_.window(), layout_.points, options.table);
}

bool FourierField::read(const double* v, double* out) const {
  const FourierGeometry& geometry = grid_.geometry();
  return reader_->read_point(cells_.data(), values_, geometry.whiten({v, 1, geometry.d}, 0), out);
}

}  // namespace kestrel
