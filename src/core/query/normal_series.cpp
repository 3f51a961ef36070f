#include "core/query/normal_series.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/base/aligned_buffer.hpp"
#include "core/base/whole.hpp"
#include "core/data/passes.hpp"
#include "core/fourier/grid.hpp"
#include "core/fourier/lay_grid.hpp"
#include "core/fourier/mode_sums.hpp"
#include "core/fourier/ranges.hpp"
#include "core/fourier/reader.hpp"
#include "core/fourier/rows.hpp"
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

/// The width of cells at most, in z.
double widest_cell(const FourierGeometry& geometry) {
  return 2 * kPi / (geometry.cut * FourierWindow::kCellsOfMode);
}

/// Sets the period and the numbers of cells and modes; returns false for too many cells. `margin`:
/// cells that the period is longer for at either end.
bool lay_series(const DensityFrame& frame, int margin, FourierGeometry* geometry) {
  for (std::size_t a = 3 - geometry->d; a < 3; ++a) {
    const double reach = kWholeNormal * std::sqrt(frame.h[4 * a]) + margin * widest_cell(*geometry);
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

/// The plan but for `bytes` and `seconds`, which are those of the cells and of spreading the
/// samples, or infinite. `readable`: whether values will be read off cells.
SeriesPlan lay_plan(const QueryDensity& density, bool readable, const RunOptions& options,
                    std::size_t* lanes) {
  SeriesPlan plan;
  plan.bytes = plan.seconds = kInfinity;
  // Only the samples are measured: points may be infinite, and any grid has a frame along its axes.
  EvaluationPoints point;
  const std::size_t d = density.x.cols;
  for (std::size_t k = 0; k < d; ++k)
    point.axes.push_back({&density.x.data[k * density.x.rows], 1});
  const DataRange extent = measure_density(density.x, density.w, point, density.root, options);
  *lanes = extent.lanes;
  const DensityFrame& frame = extent.frame.back();
  if (!frame.along_data) return plan;
  plan.frame = frame;
  FourierGeometry& geometry = plan.geometry = frame.geometry;
  geometry.tolerance = kMinFourierTolerance;
  geometry.min = geometry.max = 1;
  geometry.cut = fourier_cut(geometry.tolerance);
  geometry.taps = FourierWindow::taps_for(geometry.tolerance);
  // Readers take kMaxTaps cells, of which the first is taps / 2 before the point.
  const int margin = readable ? FourierWindow::kMaxTaps - geometry.taps / 2 + 1 : 0;
  if (!lay_series(frame, margin, &geometry)) return plan;
  double cells = 1;
  for (std::size_t a = 0; a < 3; ++a) cells *= static_cast<double>(geometry.box.cells[a]);
  for (std::size_t a = 3 - d; a < 3; ++a) {
    const double bandwidths = frame.samples[a].length() / std::sqrt(frame.h[4 * a]);
    plan.extent = std::max(plan.extent, bandwidths);
  }
  plan.bytes = 8 * cells;
  plan.seconds = spread_seconds(extent.n, geometry.taps, d, cells);
  return plan;
}

// ---- boxes

/// The part of a series whose modes vary along some axes, for a function that is periodic in them.
/// These are the last axes of `geometry`.
struct PeriodicPart {
  std::vector<std::size_t> axes;  // of the whole series
  FourierGeometry geometry;
};

/// `set`: bit k for variable k.
PeriodicPart part_of_series(const FourierGeometry& whole, unsigned set) {
  PeriodicPart part;
  for (std::size_t k = 0; k < whole.d; ++k) {
    if ((set >> k & 1) != 0) part.axes.push_back(whole.axis(k));
  }
  FourierGeometry& geometry = part.geometry = whole;
  geometry.d = part.axes.size();
  geometry.box.cells = {1, 1, 1};
  geometry.box.max = {0, 0, 0};
  for (std::size_t i = 0; i < geometry.d; ++i) {
    const std::size_t a = geometry.axis(i), from = part.axes[i];
    geometry.origin[a] = whole.origin[from];
    geometry.period[a] = whole.period[from];
    geometry.box.cells[a] = whole.box.cells[from];
    geometry.box.max[a] = whole.box.max[from];
  }
  return part;
}

/// Integrals of modes by the axes of a part, to be read off cells: a mode that varies along all of
/// them times P / (2 pi i m) for each, and divided by the window's transform there; zero for the
/// others. `cells` may be `modes` if the part has all axes. O(cells log cells).
void integrate_modes(const FourierGeometry& whole, const FourierWindow& window,
                     const ModeFactors& factors, const PeriodicPart& part, const double* modes,
                     const ParallelOptions& options, double* cells) {
  const FourierGeometry& geometry = part.geometry;
  const TransformBox& box = geometry.box;
  std::array<std::vector<double>, 3> integral = window_transforms(window, box);
  for (std::size_t a = 3 - geometry.d; a < 3; ++a) {
    for (std::size_t m = 0; m < integral[a].size(); ++m) {
      const double frequency = 2 * kPi * static_cast<double>(m) / geometry.period[a];
      integral[a][m] = m == 0 ? 0.0 : 1 / (frequency * integral[a][m]);
    }
  }
  const auto along = [&](std::size_t a, std::ptrdiff_t k) {
    const double value = integral[a][static_cast<std::size_t>(std::abs(k))];
    return k < 0 ? -value : value;
  };
  const bool by_last = part.axes.back() == 2;  // the whole has half of the modes along this axis
  const std::size_t length = box.max[2] + 1;
  std::vector<AlignedBuffer> scratch(parallel_workers(box.rows_of_modes(), options));
  for_rows_of_modes(
      box, options, [&](std::ptrdiff_t k0, std::ptrdiff_t k1, std::size_t, int worker) {
        AlignedBuffer& factor = scratch[static_cast<std::size_t>(worker)];
        if (factor.data() == nullptr) factor.resize(length + kRowPadding);
        const std::size_t row = box.row(box.cell_of_mode(0, k0), box.cell_of_mode(1, k1));
        const auto mode_of_whole = [&](std::ptrdiff_t k) {
          std::array<std::ptrdiff_t, 3> all{};
          const std::array<std::ptrdiff_t, 3> own = {k0, k1, k};
          for (std::size_t i = 0; i < geometry.d; ++i) all[part.axes[i]] = own[geometry.axis(i)];
          return all;
        };
        if (by_last) {
          const auto all = mode_of_whole(0);
          factors.fill(all[0], all[1], 0, length, factor.data());
        }
        const double outer =
            (geometry.d > 2 ? along(0, k0) : 1.0) * (geometry.d > 1 ? along(1, k1) : 1.0);
        for (std::size_t k = 0; k < length; ++k) {
          const auto all = mode_of_whole(static_cast<std::ptrdiff_t>(k));
          if (!by_last) factors.fill(all[0], all[1], 0, 1, factor.data() + k);
          const double by = outer * integral[2][k] * factor.data()[k];
          const double* from =
              modes +
              whole.box.row(whole.box.cell_of_mode(0, all[0]), whole.box.cell_of_mode(1, all[1])) +
              2 * static_cast<std::size_t>(all[2]);
          const double real = by * from[0], imaginary = by * from[1];
          double* to = cells + row + 2 * k;
          // 1 / i for each axis.
          to[0] = geometry.d == 1 ? imaginary : geometry.d == 2 ? -real : -imaginary;
          to[1] = geometry.d == 1 ? -real : geometry.d == 2 ? -imaginary : real;
        }
      });
  inverse_transform(cells, box, options);
}

/// The limits of a box in z.
struct SeriesBox {
  Point3 lower{}, upper{};
  bool empty = false;
};

/// Limits are moved to the ends of the samples' reach if they are beyond: the masses are the same.
class SeriesBoxes {
 public:
  SeriesBoxes(const DensityFrame& frame, const FourierGeometry& geometry, const MatrixView& lower,
              const MatrixView& upper)
      : geometry_(geometry), lower_(lower), upper_(upper) {
    for (std::size_t a = 3 - geometry.d; a < 3; ++a) {
      const double reach = kWholeNormal * std::sqrt(frame.h[4 * a]);
      range_[a] = {geometry.low[a] - reach, geometry.high[a] + reach};
    }
  }

  const Range& range(std::size_t a) const { return range_[a]; }
  SeriesBox at(std::size_t i) const {
    SeriesBox box;
    for (std::size_t k = 0; k < geometry_.d; ++k) {
      const std::size_t a = geometry_.axis(k);
      box.lower[a] = moved(lower_(i, k), k);
      box.upper[a] = moved(upper_(i, k), k);
      box.empty = box.empty || !(box.lower[a] < box.upper[a]);
    }
    return box;
  }

 private:
  double moved(double limit, std::size_t k) const {
    const Range& range = range_[geometry_.axis(k)];
    const double z = (limit - geometry_.centre[k]) * geometry_.scale[k];
    return std::min(std::max(z, range.low), range.high);
  }

  const FourierGeometry& geometry_;
  const MatrixView &lower_, &upper_;
  std::array<Range, 3> range_;
};

/// The periodic function of a part, with the differences between a box's limits along all its axes.
double differences(const PeriodicPart& part, const FourierReader& reader, const double* cells,
                   const SeriesBox& box) {
  const std::size_t d = part.axes.size();
  double sum = 0;
  for (std::size_t corner = 0; corner < std::size_t{1} << d; ++corner) {
    Point3 at{};
    double sign = 1, here = 0;
    for (std::size_t i = 0; i < d; ++i) {
      const bool at_lower = (corner >> i & 1) != 0;
      at[part.geometry.axis(i)] = (at_lower ? box.lower : box.upper)[part.axes[i]];
      if (at_lower) sign = -sign;
    }
    reader.read_point(cells, 1, at, &here);
    sum += sign * here;
  }
  return sum;
}

}  // namespace

SeriesPlan plan_series(const QueryDensity& density, const std::vector<Span<const double>>& axes,
                       const RunOptions& options) {
  std::size_t lanes = 0;
  SeriesPlan plan = lay_plan(density, false, options, &lanes);
  if (!(plan.bytes < kInfinity)) return plan;
  Point3 modes{}, values{};
  for (std::size_t a = 0; a < 3; ++a) modes[a] = static_cast<double>(plan.geometry.box.max[a]);
  for (std::size_t k = 0; k < axes.size(); ++k) values[k] = static_cast<double>(axes[k].size);
  plan.bytes += mode_sum_bytes(modes, axes.size(), values, 0, plan.bytes);
  plan.seconds += mode_sum_seconds(modes, axes.size(), values, 0, lanes);
  return plan;
}

SeriesPlan plan_series_of_boxes(const QueryDensity& density, std::size_t boxes,
                                const RunOptions& options) {
  std::size_t lanes = 0;
  SeriesPlan plan = lay_plan(density, true, options, &lanes);
  const std::size_t d = density.x.cols;
  const double corners = std::exp2(static_cast<double>(d));
  plan.seconds +=
      read_seconds(static_cast<double>(boxes) * corners, plan.geometry.taps, d, plan.bytes / 8);
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

void boxes_by_series(const SeriesPlan& plan, const QueryDensity& density, const MatrixView& lower,
                     const MatrixView& upper, const RunOptions& options, Span<double> out) {
  const FourierGeometry& geometry = plan.geometry;
  FourierGrid grid(geometry, options);
  grid.add(density.x, density.w, part_of(options, 0.0, 0.4));
  RawVector<double> modes = grid.take_cells();
  forward_transform(modes.data(), geometry.box, part_of(options.parallel, 0.4, 0.5));
  const FourierWindow window(geometry.taps);
  const ModeFactors factors(geometry, window, plan.frame.h, 1);
  const SeriesBoxes boxes(plan.frame, geometry, lower, upper);
  const unsigned all = (1u << geometry.d) - 1;
  // Adds term(box) times the lengths of a box along the axes that are not in the set.
  const auto add = [&](unsigned set, const auto& term) {
    const double begin = 0.6 + 0.4 * set / (all + 1.0), end = 0.6 + 0.4 * (set + 1) / (all + 1.0);
    pass_over(out.size, part_of(options.parallel, begin, end),
              [&](std::size_t, std::size_t first, std::size_t last) {
                for (std::size_t i = first; i < last; ++i) {
                  const SeriesBox box = boxes.at(i);
                  if (box.empty) continue;  // and stays zero, without rounding
                  double product = term(box);
                  for (std::size_t k = 0; k < geometry.d; ++k) {
                    const std::size_t a = geometry.axis(k);
                    if ((set >> k & 1) == 0) product *= box.upper[a] - box.lower[a];
                  }
                  out[i] += product;
                }
              });
  };
  std::fill(out.begin(), out.end(), 0.0);
  std::vector<double> factor(1 + kRowPadding);
  factors.fill(0, 0, 0, 1, factor.data());
  const double mean = factor[0] * modes[0];
  add(0, [&](const SeriesBox&) { return mean; });
  for (unsigned set = 1; set <= all; ++set) {
    const PeriodicPart part = part_of_series(geometry, set);
    RawVector<double> own(set < all ? part.geometry.box.size() : 0);
    double* const cells = set < all ? own.data() : modes.data();
    integrate_modes(geometry, window, factors, part, modes.data(),
                    part_of(options.parallel, 0.6, 0.6), cells);
    std::array<Range, 3> readable;
    for (std::size_t i = 0; i < part.axes.size(); ++i)
      readable[part.geometry.axis(i)] = boxes.range(part.axes[i]);
    const FourierReader reader(part.geometry, window, readable, options.table);
    add(set, [&](const SeriesBox& box) { return differences(part, reader, cells, box); });
  }
}

}  // namespace kestrel
