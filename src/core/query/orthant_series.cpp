#include "core/query/orthant_series.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/aligned_buffer.hpp"
#include "core/base/whole.hpp"
#include "core/fourier/grid.hpp"
#include "core/fourier/lay_grid.hpp"
#include "core/fourier/ranges.hpp"
#include "core/fourier/smooth.hpp"
#include "core/kernel/kernel.hpp"
#include "core/query/costs.hpp"
#include "core/query/line_kernel.hpp"
#include "simd/query/query.hpp"

namespace kestrel {

namespace {

/// Rows of modes of a work item.
constexpr std::size_t kModeRows = 16;

/// Complex numbers, real and imaginary part side by side, in rows that leaves can read.
struct ComplexRows {
  ComplexRows(std::size_t rows_, std::size_t length_)
      : rows(rows_), length(length_), stride(round_up(2 * length_, simd::kQueryGroup)) {
    value.resize(rows * stride);
  }

  double* row(std::size_t r) { return value.data() + r * stride; }
  const double* row(std::size_t r) const { return value.data() + r * stride; }

  std::size_t rows, length, stride;
  std::vector<double> value;
};

/// The antiderivatives of the modes first, ..., last at the points of an axis, which are given in
/// periods: for each point two rows whose inner products with a row of modes are the real and the
/// imaginary part of the sum over them. Modes above zero count twice if `half`, for those below.
ComplexRows antiderivatives(const std::vector<double>& point, double period, std::ptrdiff_t first,
                            std::ptrdiff_t last, bool half, Side side) {
  ComplexRows rows(2 * point.size(), static_cast<std::size_t>(last - first + 1));
  for (std::size_t g = 0; g < point.size(); ++g) {
    const double u = point[g];
    double *real = rows.row(2 * g), *imaginary = rows.row(2 * g + 1);
    for (std::ptrdiff_t m = first; m <= last; ++m) {
      double re = period * (side == Side::below ? u : 1 - u), im = 0;
      // At the ends of the period the others vanish.
      if (m != 0) {
        const double turns = std::fmod(static_cast<double>(m) * u, 2.0);
        const bool end = u == 0 || u == 1;
        const double sine = end ? 0 : std::sin(kPi * turns) / (kPi * static_cast<double>(m));
        const double scale = (half ? 2 : 1) * period * (side == Side::below ? sine : -sine);
        re = scale * std::cos(kPi * turns);
        im = scale * std::sin(kPi * turns);
      }
      const std::size_t at = 2 * static_cast<std::size_t>(m - first);
      real[at] = imaginary[at + 1] = re;
      real[at + 1] = -im;
      imaginary[at] = im;
    }
  }
  return rows;
}

class OrthantSeries {
 public:
  OrthantSeries(const SeriesPlan& plan, const std::vector<Span<const double>>& axes, Side side,
                const RunOptions& options)
      : geometry_(plan.geometry), h_(plan.frame.h), axes_(axes), side_(side), options_(options) {}

  void compute(const MatrixView& x, Weights w, Span<double> out);

 private:
  RawVector<double> smoothed(const MatrixView& x, Weights w) const;
  ComplexRows antiderivatives_of(std::size_t variable) const;
  /// out: the inner products of `rows` rows, which row(r) returns, with those of `by`, row after
  /// row.
  template <class Row>
  void products(std::size_t rows, const Row& row, const ComplexRows& by, double begin, double end,
                double* out) const;
  /// value: [batch][rows][columns] complex numbers; returns them as [batch][columns][rows].
  ComplexRows turned(const std::vector<double>& value, std::size_t batch, std::size_t rows,
                     std::size_t columns) const;
  void real_products(const ComplexRows& modes, std::size_t variable, Span<double> out) const;

  const FourierGeometry& geometry_;
  const Form3& h_;
  const std::vector<Span<const double>>& axes_;
  const Side side_;
  const RunOptions& options_;
};

RawVector<double> OrthantSeries::smoothed(const MatrixView& x, Weights w) const {
  FourierGrid grid(geometry_, options_);
  grid.add(x, w, part_of(options_, 0.0, 0.4));
  RawVector<double> cells = grid.take_cells();
  forward_transform(cells.data(), geometry_.box, part_of(options_.parallel, 0.4, 0.6));
  smooth_modes(geometry_, FourierWindow(geometry_.taps), h_, 1, {},
               part_of(options_.parallel, 0.6, 0.65), cells.data(), cells.data());
  return cells;
}

ComplexRows OrthantSeries::antiderivatives_of(std::size_t variable) const {
  const std::size_t a = geometry_.axis(variable);
  std::vector<double> point;
  for (const double at : axes_[variable]) {
    const double z = (at - geometry_.centre[variable]) * geometry_.scale[variable];
    point.push_back(std::min(std::max((z - geometry_.origin[a]) / geometry_.period[a], 0.0), 1.0));
  }
  const std::ptrdiff_t max = static_cast<std::ptrdiff_t>(geometry_.box.max[a]);
  return antiderivatives(point, geometry_.period[a], a == 2 ? 0 : -max, max, a == 2, side_);
}

template <class Row>
void OrthantSeries::products(std::size_t rows, const Row& row, const ComplexRows& by, double begin,
                             double end, double* out) const {
  const ParallelOptions part = part_of(options_.parallel, begin, end);
  const std::size_t items = (rows + kModeRows - 1) / kModeRows;
  std::vector<std::vector<double>> scratch(parallel_workers(items, part));
  parallel_for(items, part, [&](std::size_t item, int worker) {
    std::vector<double>& held = scratch[static_cast<std::size_t>(worker)];
    held.resize(kModeRows * by.stride);
    const std::size_t first = item * kModeRows, count = std::min(kModeRows, rows - first);
    for (std::size_t r = 0; r < count; ++r) {
      std::copy_n(row(first + r), 2 * by.length, held.data() + r * by.stride);
    }
    options_.table->query->dot_products(by.row(0), by.rows, held.data(), count, by.stride,
                                        by.stride, out + first * by.rows);
  });
}

ComplexRows OrthantSeries::turned(const std::vector<double>& value, std::size_t batch,
                                  std::size_t rows, std::size_t columns) const {
  ComplexRows result(batch * columns, rows);
  parallel_for(batch * columns, options_.parallel, [&](std::size_t line, int) {
    const double* from = value.data() + 2 * (line / columns * rows * columns + line % columns);
    double* to = result.row(line);
    for (std::size_t r = 0; r < rows; ++r) {
      to[2 * r] = from[2 * r * columns];
      to[2 * r + 1] = from[2 * r * columns + 1];
    }
  });
  return result;
}

/// The last sum is real: only the first of each pair of rows counts.
void OrthantSeries::real_products(const ComplexRows& modes, std::size_t variable,
                                  Span<double> out) const {
  const ComplexRows both = antiderivatives_of(variable);
  ComplexRows real(both.rows / 2, both.length);
  for (std::size_t g = 0; g < real.rows; ++g) {
    std::copy_n(both.row(2 * g), both.stride, real.row(g));
  }
  products(
      modes.rows, [&](std::size_t r) { return modes.row(r); }, real, 0.85, 1.0, out.data);
}

void OrthantSeries::compute(const MatrixView& x, Weights w, Span<double> out) {
  const TransformBox& box = geometry_.box;
  const std::size_t d = axes_.size(), n0 = 2 * box.max[0] + 1, n1 = 2 * box.max[1] + 1;
  const std::size_t last = axes_[d - 1].size;
  std::vector<double> sums;
  {
    const RawVector<double> cells = smoothed(x, w);
    const auto mode = [&](std::size_t axis, std::size_t m) {
      return box.cell_of_mode(
          axis, static_cast<std::ptrdiff_t>(m) - static_cast<std::ptrdiff_t>(box.max[axis]));
    };
    sums.resize(n0 * n1 * 2 * last);
    products(
        n0 * n1,
        [&](std::size_t r) { return cells.data() + box.row(mode(0, r / n1), mode(1, r % n1)); },
        antiderivatives_of(d - 1), 0.65, 0.8, sums.data());
  }
  ComplexRows modes = turned(sums, n0, n1, last);
  if (d == 3) {
    const std::size_t middle = axes_[1].size;
    sums.resize(n0 * last * 2 * middle);
    products(
        modes.rows, [&](std::size_t r) { return modes.row(r); }, antiderivatives_of(1), 0.8, 0.85,
        sums.data());
    modes = turned(sums, 1, n0, last * middle);
  }
  real_products(modes, 0, out);
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
  double cells = 1, modes = 1, points_so_far = 1, products = 0, sums = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    cells *= static_cast<double>(geometry.box.cells[a]);
    modes *= static_cast<double>((a == 2 ? 1 : 2) * geometry.box.max[a] + 1);
  }
  for (std::size_t k = axes.size(); k-- > 0;) {
    const std::size_t max = geometry.box.max[geometry.axis(k)];
    const double points_of_axis = static_cast<double>(axes[k].size);
    products += 4 * points_so_far * modes * points_of_axis;
    modes /= static_cast<double>((k + 1 == axes.size() ? 1 : 2) * max + 1);
    points_so_far *= points_of_axis;
    sums = std::max(sums, 16 * points_so_far * modes);
  }
  // The cells are kept until the first axis is done; then two sets of sums, before and after.
  plan.bytes = std::max(8 * cells + sums, 2 * sums);
  plan.seconds = spread_seconds(extent.n, geometry.taps, axes.size(), cells) +
                 1e-9 * products * kOrthantProductNs;
  return plan;
}

void orthants_by_series(const SeriesPlan& plan, const QueryDensity& density,
                        const std::vector<Span<const double>>& axes, Side side,
                        const RunOptions& options, Span<double> out) {
  OrthantSeries(plan, axes, side, options).compute(density.x, density.w, out);
}

}  // namespace kestrel
