#include "core/contour/interpolation.hpp"

#include <algorithm>
#include <limits>

#include "core/base/error.hpp"

namespace kestrel {

namespace {

/// Points of one work item.
constexpr std::size_t kPointsOfItem = std::size_t{1} << 13;

/// The cells of an axis.
class AxisCells {
 public:
  explicit AxisCells(Span<const double> axis)
      : axis_(axis),
        last_(axis.size - 2),
        per_unit_(static_cast<double>(axis.size - 1) / (axis[axis.size - 1] - axis[0])) {}

  bool holds(double x) const { return x >= axis_[0] && x <= axis_[axis_.size - 1]; }

  /// The last cell that begins at or before x, which the axis holds: mostly where it would be if
  /// all steps were equal.
  std::size_t cell_of(double x) const {
    const double guess = (x - axis_[0]) * per_unit_;
    std::size_t cell = guess < static_cast<double>(last_) ? static_cast<std::size_t>(guess) : last_;
    if (cell > 0 && x < axis_[cell]) --cell;
    if (cell < last_ && x >= axis_[cell + 1]) ++cell;
    const bool found = x >= axis_[cell] && (cell == last_ || x < axis_[cell + 1]);
    if (found) return cell;
    const double* begin = axis_.data + 1;
    return static_cast<std::size_t>(std::upper_bound(begin, begin + last_, x) - begin);
  }

  double share(double x, std::size_t cell) const {
    return (x - axis_[cell]) / (axis_[cell + 1] - axis_[cell]);
  }

 private:
  Span<const double> axis_;
  std::size_t last_;
  double per_unit_;
};

class Interpolation {
 public:
  Interpolation(const std::vector<Span<const double>>& axes, Span<const double> values)
      : values_(values) {
    std::size_t stride = 1;
    for (const Span<const double>& axis : axes) {
      if (axis.size < 2) throw error(ErrorKind::input, "an axis has fewer than two points");
      cells_.emplace_back(axis);
      stride_.push_back(stride);
      stride *= axis.size;
    }
    if (stride != values.size) {
      throw error(ErrorKind::input, "the values are not as many as the grid has points");
    }
  }

  /// share: room for d numbers.
  double at(const MatrixView& points, std::size_t i, double* share) const {
    std::size_t corner = 0;
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      const double x = points(i, k);
      if (!cells_[k].holds(x)) return std::numeric_limits<double>::quiet_NaN();
      const std::size_t cell = cells_[k].cell_of(x);
      share[k] = cells_[k].share(x, cell);
      corner += cell * stride_[k];
    }
    double sum = 0;
    for (std::size_t up = 0; up < (std::size_t{1} << cells_.size()); ++up) {
      double weight = 1;
      std::size_t at = corner;
      for (std::size_t k = 0; k < cells_.size(); ++k) {
        const bool next = (up >> k & 1) != 0;
        weight *= next ? share[k] : 1 - share[k];
        if (next) at += stride_[k];
      }
      sum += weight * values_[at];
    }
    return sum;
  }

 private:
  std::vector<AxisCells> cells_;
  std::vector<std::size_t> stride_;
  Span<const double> values_;
};

}  // namespace

void interpolate(const std::vector<Span<const double>>& axes, Span<const double> values,
                 const MatrixView& points, Span<double> out, const ParallelOptions& options) {
  if (points.cols != axes.size() || out.size != points.rows) {
    throw error(ErrorKind::input, "the points do not have the grid's dimension, or the result");
  }
  const Interpolation grid(axes, values);
  const std::size_t m = points.rows, items = (m + kPointsOfItem - 1) / kPointsOfItem;
  parallel_for(items, options, [&](std::size_t item, int) {
    std::vector<double> share(axes.size());
    for (std::size_t i = item * kPointsOfItem; i < std::min(m, (item + 1) * kPointsOfItem); ++i) {
      out[i] = grid.at(points, i, share.data());
    }
  });
}

}  // namespace kestrel
