#include "core/contour/interpolation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"

namespace kestrel {

namespace {

/// Points of one work item.
constexpr std::size_t kPointsOfItem = std::size_t{1} << 13;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// The cells of an axis.
class AxisCells {
 public:
  explicit AxisCells(Span<const double> axis)
      : axis_(axis),
        last_(axis.size - 2),
        per_unit_(static_cast<double>(axis.size - 1) / (axis[axis.size - 1] - axis[0])) {
    for (std::size_t cell = 0; cell <= last_; ++cell) {
      const double inverse = 1 / (axis[cell + 1] - axis[cell]);
      step_.push_back({axis[cell], inverse});
      // A guess ascends with x.
      const double at = static_cast<double>(cell);
      even_ = even_ && inverse < kInfinity && guess(axis[cell]) >= at - 1 &&
              guess(axis[cell + 1]) < at + 2;
    }
    step_.push_back({kInfinity, 0.0});
  }

  bool holds(double x) const { return x >= axis_[0] && x <= axis_[axis_.size - 1]; }
  double begin() const { return axis_[0]; }

  /// The last cell that begins at or before x, which the axis holds, and how much of it is before
  /// x.
  struct Place {
    std::size_t cell;
    double share;
  };
  Place place_of(double x) const {
    if (!even_) return place_by_search(x);
    const double at = guess(x);
    std::size_t cell = at < static_cast<double>(last_) ? static_cast<std::size_t>(at) : last_;
    cell -= x < step_[cell].begin ? 1 : 0;
    cell += x >= step_[cell + 1].begin ? 1 : 0;
    const double share = std::min(1.0, (x - step_[cell].begin) * step_[cell].inverse);
    return {cell, x == axis_[axis_.size - 1] ? 1.0 : share};
  }

 private:
  /// Where x would be if all steps were equal.
  double guess(double x) const { return (x - axis_[0]) * per_unit_; }
  Place place_by_search(double x) const {
    const double* begin = axis_.data + 1;
    const auto cell = static_cast<std::size_t>(std::upper_bound(begin, begin + last_, x) - begin);
    return {cell, (x - axis_[cell]) / (axis_[cell + 1] - axis_[cell])};
  }

  struct Step {
    double begin, inverse;  // of its length
  };
  Span<const double> axis_;
  std::size_t last_;
  double per_unit_;
  bool even_ = true;  // whether guesses are right to a cell
  std::vector<Step> step_;
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

  /// The values at points `begin` to `end`.
  void write(const MatrixView& points, std::size_t begin, std::size_t end, double* out) const {
    if (cells_.size() == 1) {
      write_line(points, begin, end, out);
    } else if (cells_.size() == 2) {
      write_plane(points, begin, end, out);
    } else {
      std::vector<double> share(cells_.size());
      for (std::size_t i = begin; i < end; ++i) out[i] = at(points, i, share.data());
    }
  }

 private:
  // Without branches: values of points outside are computed, too.
  void write_line(const MatrixView& points, std::size_t begin, std::size_t end, double* out) const {
    const AxisCells& cells = cells_[0];
    for (std::size_t i = begin; i < end; ++i) {
      const double x = points.data[i];
      const bool inside = cells.holds(x);
      const AxisCells::Place place = cells.place_of(inside ? x : cells.begin());
      const double* value = values_.data + place.cell;
      const double found = (1 - place.share) * value[0] + place.share * value[1];
      out[i] = inside ? found : kNothing;
    }
  }

  void write_plane(const MatrixView& points, std::size_t begin, std::size_t end,
                   double* out) const {
    const std::size_t row = stride_[1];
    for (std::size_t i = begin; i < end; ++i) {
      const double x = points(i, 0), y = points(i, 1);
      const bool inside = cells_[0].holds(x) && cells_[1].holds(y);
      const AxisCells::Place across = cells_[0].place_of(inside ? x : cells_[0].begin());
      const AxisCells::Place up = cells_[1].place_of(inside ? y : cells_[1].begin());
      const double* value = values_.data + up.cell * row + across.cell;
      const double lower = (1 - across.share) * value[0] + across.share * value[1];
      const double upper = (1 - across.share) * value[row] + across.share * value[row + 1];
      const double found = (1 - up.share) * lower + up.share * upper;
      out[i] = inside ? found : kNothing;
    }
  }

  /// share: room for d numbers.
  double at(const MatrixView& points, std::size_t i, double* share) const {
    std::size_t corner = 0;
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      const double x = points(i, k);
      if (!cells_[k].holds(x)) return kNothing;
      const AxisCells::Place place = cells_[k].place_of(x);
      share[k] = place.share;
      corner += place.cell * stride_[k];
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

  std::vector<AxisCells> cells_;
  std::vector<std::size_t> stride_;
  Span<const double> values_;
};

}  // namespace

std::vector<std::size_t> interpolate(const std::vector<Span<const double>>& axes,
                                     Span<const double> values, const MatrixView& points,
                                     Span<double> out, const ParallelOptions& options) {
  if (points.cols != axes.size() || out.size != points.rows) {
    throw error(ErrorKind::input, "the points do not have the grid's dimension, or the result");
  }
  const Interpolation grid(axes, values);
  const std::size_t m = points.rows, items = (m + kPointsOfItem - 1) / kPointsOfItem;
  std::vector<std::vector<std::size_t>> beyond(items);
  parallel_for(items, options, [&](std::size_t item, int) {
    const std::size_t begin = item * kPointsOfItem, end = std::min(m, begin + kPointsOfItem);
    grid.write(points, begin, end, out.data);
    for (std::size_t i = begin; i < end; ++i) {
      if (std::isnan(out[i])) beyond[item].push_back(i);
    }
  });
  std::vector<std::size_t> all;
  for (const std::vector<std::size_t>& some : beyond)
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace kestrel
