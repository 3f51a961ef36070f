#include "core/fourier/layout.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.hpp"
#include "core/base/whole.hpp"
#include "core/data/weights.hpp"
#include "core/fourier/costs.hpp"
#include "core/fourier/lay_grid.hpp"
#include "core/fourier/mode_sums.hpp"
#include "core/fourier/window.hpp"
#include "core/kernel/derivative.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

void check_task(const MatrixView& x, Weights w, const EvaluationPoints& points,
                Span<const double> root) {
  if (x.cols < 1 || x.cols > 3) {
    throw error(ErrorKind::input,
                "engine \"fourier\" takes one to three variables, not " + std::to_string(x.cols));
  }
  check_weight_count(x.rows, w.size);
  if (points.dimension() != x.cols) {
    throw error(ErrorKind::input, "samples and evaluation points do not fit together");
  }
  if (root.size != x.cols * x.cols) {
    throw error(ErrorKind::internal, "bandwidth root of a wrong size");
  }
}

void set_scale(std::size_t k, double length, FourierGeometry* geometry) {
  if (!(length > 0) || !std::isfinite(length) || !std::isfinite(1 / length)) {
    throw error(ErrorKind::input, "a bandwidth is outside the range of numbers");
  }
  geometry->root[k * geometry->d + k] = length;
  geometry->scale[k] = 1 / length;
}

DensityFrame whitened_frame(std::size_t d, Span<const double> root, const Point3& centre) {
  DensityFrame frame;
  frame.geometry.d = d;
  frame.geometry.centre = centre;
  std::copy(root.begin(), root.end(), frame.geometry.root.begin());
  frame.geometry.correlated = is_strongly_correlated(root, d);
  for (std::size_t k = 0; k < d; ++k) {
    set_scale(k, root[k * d + k], &frame.geometry);
    frame.h[4 * frame.geometry.axis(k)] = 1;
  }
  return frame;
}

/// Computed from the correlations, which neither overflow nor underflow. Returns false if H is so
/// nearly singular that its inverse has no positive diagonal; the whitened frame is used then.
bool frame_along_data(std::size_t d, Span<const double> root, const Point3& centre,
                      DensityFrame* along) {
  DensityFrame& frame = *along;
  frame.geometry.d = d;
  frame.geometry.centre = centre;
  frame.along_data = true;
  Point3 deviation{};
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t m = 0; m <= k; ++m) {
      deviation[k] = std::hypot(deviation[k], root[m * d + k]);
    }
  }
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l < d; ++l) {
      double& value = frame.h[3 * frame.geometry.axis(k) + frame.geometry.axis(l)];
      for (std::size_t m = 0; m <= std::min(k, l); ++m) {
        value += root[m * d + k] / deviation[k] * (root[m * d + l] / deviation[l]);
      }
    }
  }
  const Form3 inverse = inverse_form(frame.h, d);
  Point3 widening{};
  for (std::size_t k = 0; k < d; ++k) {
    widening[k] = std::sqrt(inverse[4 * frame.geometry.axis(k)]);
    if (!(widening[k] >= 1 - 1e-6) || !std::isfinite(widening[k])) return false;
    set_scale(k, deviation[k] / widening[k], &frame.geometry);
  }
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l < d; ++l) {
      frame.h[3 * frame.geometry.axis(k) + frame.geometry.axis(l)] *= widening[k] * widening[l];
    }
  }
  return true;
}

/// The frame of modes: H = L_H L_H' is h = (L^-1 L_H) (L^-1 L_H)' there.
DensityFrame frame_of_modes(std::size_t d, Span<const double> root, const FourierModes& modes) {
  DensityFrame frame;
  frame.kept = true;
  frame.geometry = modes.geometry();
  const FourierGeometry& geometry = frame.geometry;
  FourierGeometry linear = geometry;
  linear.centre = {};
  for (std::size_t column = 0; column < d; ++column) {
    const Point3 z = linear.whiten({root.data + column * d, 1, d}, 0);
    for (std::size_t e = 0; e < 9; ++e) frame.h[e] += z[e / 3] * z[e % 3];
  }
  for (std::size_t a = 3 - d; a < 3; ++a) frame.samples[a] = {geometry.low[a], geometry.high[a]};
  return frame;
}

/// Calls add(axis, value) for the coordinates of a point.
template <class Add>
void add_point(const FourierGeometry& geometry, const double* v, const Add& add) {
  const Point3 z = geometry.whiten({v, 1, geometry.d}, 0);
  for (std::size_t a = 3 - geometry.d; a < 3; ++a) add(a, z[a]);
}

/// A bound, with a margin, on the rounding of a coordinate, relative to the largest coordinate of a
/// point.
constexpr double kRimRounding = 1e-14;

/// The box of a grid is the box of its corners.
std::array<Range, 3> ranges_of_grid(const FourierGeometry& geometry,
                                    const std::vector<Span<const double>>& axes,
                                    const RunOptions& options) {
  std::array<Range, 3> range;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    for (const double v : axes[k]) range[k].add(v);
  }
  std::array<Range, 3> box =
      ranges_of(std::size_t{1} << axes.size(), options, [&](std::size_t corner, auto add) {
        double v[3];
        for (std::size_t k = 0; k < axes.size(); ++k) {
          v[k] = corner >> k & 1 ? range[k].high : range[k].low;
        }
        add_point(geometry, v, add);
      });
  // Points on the rim may round differently from the corners.
  double largest = 0;
  for (std::size_t a = 3 - axes.size(); a < 3; ++a) {
    largest = std::max({largest, std::fabs(box[a].low), std::fabs(box[a].high)});
  }
  for (std::size_t a = 3 - axes.size(); a < 3; ++a) {
    box[a].low -= kRimRounding * largest;
    box[a].high += kRimRounding * largest;
  }
  return box;
}

/// Sets the ranges of the points of a frame.
void measure_points(const FourierGeometry& geometry, const EvaluationPoints& points,
                    const RunOptions& options, DensityFrame* frame) {
  if (!points.axes.empty()) {
    frame->points = ranges_of_grid(geometry, points.axes, options);
    return;
  }
  frame->points = ranges_of(points.size(), options, [&](std::size_t i, auto add) {
    double v[3];
    points.copy(i, v);
    add_point(geometry, v, add);
  });
}

/// Sets the ranges of a frame; `given` are the ranges of the untransformed samples, by variable.
void measure_frame(const MatrixView& x, Weights w, const std::array<Range, 3>& given,
                   const EvaluationPoints& points, const RunOptions& options, DensityFrame* frame) {
  const FourierGeometry& geometry = frame->geometry;
  if (frame->kept) {
    measure_points(geometry, points, options, frame);
    return;
  }
  if (frame->along_data) {
    for (std::size_t k = 0; k < x.cols; ++k) {
      Range& samples = frame->samples[geometry.axis(k)];
      samples.low = (given[k].low - geometry.centre[k]) * geometry.scale[k];
      samples.high = (given[k].high - geometry.centre[k]) * geometry.scale[k];
    }
    frame->points = ranges_of_grid(geometry, points.axes, options);
    return;
  }
  frame->samples = ranges_of(x.rows, options, [&](std::size_t i, auto add) {
    if (!(w[i] > 0)) return;
    const Point3 z = geometry.whiten(x, i);
    for (std::size_t a = 3 - x.cols; a < 3; ++a) add(a, z[a]);
  });
  measure_points(geometry, points, options, frame);
}

/// A lower bound on the largest value: that of least_share(), or the heaviest sample's own term.
double min_share_of(const DensityFrame& frame, double heaviest_share) {
  Point3 length{};
  for (std::size_t a = 0; a < 3; ++a) length[a] = frame.samples[a].length();
  return std::max(least_share(frame.h, frame.geometry.d, length), heaviest_share);
}

/// The rows of cells that a window meets.
double window_rows(int taps, std::size_t d) { return std::pow(taps, static_cast<double>(d) - 1); }

/// Sets how all derivatives of an order are made of the modes, and the expected seconds and memory
/// of the whole.
void set_reading(const DataRange& extent, int order, DensityLayout* layout) {
  const DensityFrame& frame = extent.frame[layout->frame];
  const std::size_t d = frame.geometry.d;
  const double cells = layout->cells[0] * layout->cells[1] * layout->cells[2];
  layout->by_modes = frame.along_data && d > 1;
  layout->bytes = 8 * layout->cells[0] * layout->cells[1] * (layout->cells[2] + 2);
  layout->seconds = spread_seconds(frame.kept ? 0 : extent.n, layout->taps, d, cells);
  if (extent.axis[0] > 0) layout->seconds += 1e-9 * kFourierGridPointNs * extent.m;
  if (layout->by_modes) {
    layout->seconds += mode_sum_seconds(layout->modes, d, extent.axis, order, extent.lanes);
    layout->bytes += mode_sum_bytes(layout->modes, d, extent.axis, order, layout->bytes);
    return;
  }
  const double count = static_cast<double>(derivative_count(d, order));
  if (count > 1) layout->bytes *= 2;  // the modes are kept
  layout->seconds +=
      1e-9 * count *
      (kFourierInverseNs * cells +
       extent.m * (kFourierPointNs + kFourierPointRowNs * window_rows(layout->taps, d)));
}

/// Whether all coordinates, and their differences, are finite.
bool is_finite(const DensityFrame& frame) {
  for (std::size_t a = 3 - frame.geometry.d; a < 3; ++a) {
    const Range &samples = frame.samples[a], &points = frame.points[a];
    if (!std::isfinite(samples.length()) || !std::isfinite(points.length())) return false;
    if (!std::isfinite(std::max(samples.high, points.high) - std::min(samples.low, points.low))) {
      return false;
    }
  }
  return true;
}

/// The rounding error of an estimate, relative to its largest value. Coordinates are in bandwidths
/// from the centre of the data, and their rounding matters. (Measured: 1.1e-16 to 2.8e-16 times the
/// largest coordinate.) In the frame along the data a strongly correlated H has large elements,
/// with which t'Ht rounds. (Measured: up to 7e-17 times them.)
double rounding_of(const DensityFrame& frame, const DensityLayout& layout) {
  double largest = 0;
  if (frame.along_data) {
    for (std::size_t a = 3 - frame.geometry.d; a < 3; ++a) {
      largest = std::max(largest, frame.h[4 * a] - 1);
    }
  }
  for (std::size_t a = 0; a < 3; ++a) {
    for (const Range* range : {&layout.samples[a], &layout.points[a]}) {
      if (!std::isfinite(range->low)) continue;  // an unused axis
      largest = std::max({largest, std::fabs(range->low), std::fabs(range->high)});
    }
  }
  return 4e-16 * largest;
}

/// Cuts off samples and points that are too far away to matter. Returns false if nothing is left.
bool cut_ranges(const DensityFrame& frame, double allowed, DensityLayout* layout) {
  layout->samples = frame.samples;
  layout->points = frame.points;
  for (std::size_t a = 3 - frame.geometry.d; a < 3; ++a) {
    const double reach = std::sqrt(2 * frame.h[4 * a] * std::log(10 / allowed));
    Range &samples = layout->samples[a], &points = layout->points[a];
    points = {std::max(points.low, samples.low - reach),
              std::min(points.high, samples.high + reach)};
    samples = {std::max(samples.low, points.low - reach),
               std::min(samples.high, points.high + reach)};
    if (!(points.length() >= 0) || !(samples.length() >= 0)) return false;
    layout->trimmed = layout->trimmed || samples.length() < frame.samples[a].length();
  }
  return true;
}

/// The period for which no image is within reach of a point, and windows have room.
double least_period(double around, double low, double high, double cell) {
  return std::max(around, high - low + (FourierWindow::kMaxTaps + 4) * cell);
}

/// The grid to read a density off modes that are there. It is `empty`, so that it is not chosen, if
/// they do not serve it: their frequencies, their window or their period may not suffice.
DensityLayout lay_on_modes(const DataRange& extent, std::size_t number, double tolerance,
                           int order) {
  const DensityFrame& frame = extent.frame[number];
  const FourierGeometry& kept = frame.geometry;
  const double allowed = tolerance * std::min(1.0, extent.min_share);
  DensityLayout layout;
  layout.frame = number;
  if (!(extent.n > 0) || !(extent.m > 0) || !is_finite(frame)) return layout;
  if (!cut_ranges(frame, allowed, &layout)) return layout;
  layout.samples = frame.samples;  // all are in the modes
  layout.trimmed = false;
  layout.cut = fourier_cut(allowed);
  layout.taps = kept.taps;
  const Form3 inverse = inverse_form(frame.h, kept.d);
  bool serves = kept.taps >= FourierWindow::taps_for(allowed);
  for (std::size_t a = 3 - kept.d; a < 3; ++a) {
    const double reach = std::sqrt(2 * frame.h[4 * a] * std::log(10 / allowed));
    const Range &samples = layout.samples[a], &points = layout.points[a];
    const double low = std::min(samples.low, points.low),
                 high = std::max(samples.high, points.high), period = kept.period[a];
    layout.period[a] = period;
    layout.modes[a] = std::ceil(layout.cut * std::sqrt(inverse[4 * a]) * period / (2 * kPi));
    serves = serves && layout.modes[a] <= static_cast<double>(kept.box.max[a]);
    if (!serves) return layout;
    layout.cells[a] = static_cast<double>(smooth_number(
        whole_number<std::size_t>(std::ceil(FourierWindow::kCellsOfMode * layout.modes[a]))));
    const double cell = period / layout.cells[a];
    // As in lay_in_frame(): no image is within reach, and windows have room.
    const double around = reach + std::max(samples.high - points.low, points.high - samples.low);
    if (!(period >= least_period(around, low, high, cell))) return layout;
    layout.origin[a] = low - (layout.taps / 2 + 1) * cell;
  }
  layout.empty = false;
  layout.rounding = rounding_of(frame, layout);
  set_reading(extent, order, &layout);
  return layout;
}

DensityLayout lay_in_frame(const DataRange& extent, std::size_t number, double tolerance,
                           int order) {
  const DensityFrame& frame = extent.frame[number];
  if (frame.kept) return lay_on_modes(extent, number, tolerance, order);
  DensityLayout layout;
  layout.frame = number;
  // Errors of phi are relative to 1, errors of the estimate to its largest value.
  const double allowed = tolerance * std::min(1.0, extent.min_share);
  const bool some = extent.n > 0 && extent.m > 0;
  if (some && !is_finite(frame)) {
    layout.empty = false;
    layout.bytes = layout.seconds = layout.rounding = kInfinity;
    return layout;
  }
  if (!some || !cut_ranges(frame, allowed, &layout)) {
    layout.seconds =
        1e-9 * (kFourierCallNs + kFourierSampleNs * extent.n + kFourierGridPointNs * extent.m);
    return layout;
  }
  layout.empty = false;
  layout.cut = fourier_cut(allowed);
  layout.taps = FourierWindow::taps_for(allowed);
  for (std::size_t a = 3 - frame.geometry.d; a < 3; ++a) {
    const double reach = std::sqrt(2 * frame.h[4 * a] * std::log(10 / allowed));
    const Range &samples = layout.samples[a], &points = layout.points[a];
    const double low = std::min(samples.low, points.low),
                 high = std::max(samples.high, points.high);
    // No sample may be within reach of a point across the end of the period.
    const double around = reach + std::max(samples.high - points.low, points.high - samples.low);
    // The window takes some cells of about this length at each end.
    const double cell = 2 * kPi / (FourierWindow::kCellsOfMode * layout.cut);
    layout.period[a] = least_period(around, low, high, cell);
    layout.modes[a] = std::ceil(layout.cut * layout.period[a] / (2 * kPi));
    layout.cells[a] = std::ceil(FourierWindow::kCellsOfMode * layout.modes[a]);
    if (!(layout.cells[a] < kMaxFourierCells)) {
      layout.bytes = layout.seconds = layout.rounding = kInfinity;
      return layout;
    }
    layout.cells[a] =
        static_cast<double>(smooth_number(whole_number<std::size_t>(layout.cells[a])));
    layout.origin[a] = low - (layout.taps / 2 + 1) * layout.period[a] / layout.cells[a];
  }
  layout.rounding = rounding_of(frame, layout);
  set_reading(extent, order, &layout);
  return layout;
}

}  // namespace

void check_fourier_memory(const DensityLayout& layout, double bytes) {
  if (layout.bytes <= bytes) return;
  throw error(ErrorKind::memory, "engine \"fourier\" needs a grid of " + gigabytes(layout.bytes) +
                                     " for this bandwidth, more than the " + gigabytes(bytes) +
                                     " allowed");
}

ModesNeeded modes_needed(const DataRange& extent, double tolerance) {
  const DensityFrame& frame = extent.frame[0];
  const FourierGeometry& kept = frame.geometry;
  const double allowed = tolerance * std::min(1.0, extent.min_share);
  ModesNeeded needed;
  DensityLayout layout;
  if (!(extent.m > 0) || !is_finite(frame) || !cut_ranges(frame, allowed, &layout)) return needed;
  needed.any = true;
  needed.served = least_deviation(frame.h, kept.d) >= kept.min / kept.cut * fourier_cut(allowed);
  for (std::size_t a = 3 - kept.d; a < 3; ++a) {
    const double deviation = std::sqrt(frame.h[4 * a]);
    const double reach = deviation * std::sqrt(2 * std::log(10 / allowed));
    const Range &samples = frame.samples[a], &points = layout.points[a];
    const double low = std::min(samples.low, points.low),
                 high = std::max(samples.high, points.high);
    const double around = reach + std::max(samples.high - points.low, points.high - samples.low);
    // Cells are at most half a bandwidth wide.
    needed.period[a] = least_period(around, low, high, 0.5 * deviation);
  }
  return needed;
}

DensityLayout lay_density(const DataRange& extent, double tolerance, int order) {
  DensityLayout best = lay_in_frame(extent, 0, tolerance, order);
  for (std::size_t number = 1; number < extent.frame.size(); ++number) {
    const DensityLayout other = lay_in_frame(extent, number, tolerance, order);
    if (other.empty) continue;
    const bool keeps = other.rounding <= tolerance, kept = best.rounding <= tolerance;
    if (best.empty || (keeps != kept ? keeps : other.seconds < best.seconds)) best = other;
  }
  return best;
}

void check_fourier_rounding(const DensityLayout& layout) {
  if (layout.rounding <= kMaxFourierTolerance) return;
  throw error(ErrorKind::input,
              "engine \"fourier\" has no digits left for data this many bandwidths wide");
}

double spread_seconds(double n, int taps, std::size_t d, double cells) {
  return 1e-9 *
         (kFourierCallNs + n * (kFourierSampleNs + kFourierSampleRowNs * window_rows(taps, d)) +
          kFourierCellNs * cells);
}

DataRange measure_density(const MatrixView& x, Weights w, const EvaluationPoints& points,
                          Span<const double> root, const RunOptions& options,
                          const FourierModes* modes) {
  check_task(x, w, points, root);
  DataRange extent;
  const WeightSums weights = weight_sums(w, options.parallel);
  extent.n = static_cast<double>(weights.positive);
  extent.weight = weights.sum;
  extent.heaviest = weights.max;
  extent.m = static_cast<double>(points.size());
  extent.lanes = options.table->lanes;
  for (std::size_t k = 0; k < points.axes.size(); ++k) {
    extent.axis[k] = static_cast<double>(points.axes[k].size);
  }
  const std::array<Range, 3> given = ranges_of(x.rows, options, [&](std::size_t i, auto add) {
    for (std::size_t k = 0; k < x.cols && w[i] > 0; ++k) add(k, x(i, k));
  });
  Point3 centre{};
  for (std::size_t k = 0; k < x.cols && extent.n > 0; ++k) {
    centre[k] = 0.5 * given[k].low + 0.5 * given[k].high;
  }
  const bool on_axes = !points.axes.empty();
  if (!on_axes || !is_diagonal(x.cols, root)) {
    extent.frame.push_back(whitened_frame(x.cols, root, centre));
  }
  DensityFrame along;
  if (on_axes && frame_along_data(x.cols, root, centre, &along)) extent.frame.push_back(along);
  if (modes != nullptr && modes->geometry().phases && !modes->geometry().trimmed && extent.n > 0) {
    extent.frame.push_back(frame_of_modes(x.cols, root, *modes));
    extent.modes = modes;
  }
  for (DensityFrame& frame : extent.frame) {
    measure_frame(x, w, given, points, options, &frame);
    const double share = min_share_of(frame, extent.n > 0 ? extent.heaviest / extent.weight : 1.0);
    extent.min_share = std::max(extent.min_share, share);
  }
  return extent;
}

DataRange measure_modes(const FourierModes& modes, double n, double weight, double heaviest,
                        const EvaluationPoints& points, Span<const double> root,
                        const RunOptions& options) {
  const std::size_t d = modes.geometry().d;
  if (points.dimension() != d || root.size != d * d) {
    throw error(ErrorKind::input, "samples and evaluation points do not fit together");
  }
  DataRange extent;
  extent.n = n;
  extent.weight = weight;
  extent.heaviest = heaviest;
  extent.m = static_cast<double>(points.size());
  extent.lanes = options.table->lanes;
  extent.modes = &modes;
  extent.frame.push_back(frame_of_modes(d, root, modes));
  measure_points(modes.geometry(), points, options, &extent.frame[0]);
  extent.min_share = min_share_of(extent.frame[0], heaviest / weight);
  return extent;
}

}  // namespace kestrel
