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
  layout->seconds += count * read_seconds(extent.m, layout->taps, d, cells);
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

double read_seconds(double m, int taps, std::size_t d, double cells) {
  return 1e-9 * (kFourierInverseNs * cells +
                 m * (kFourierPointNs + kFourierPointRowNs * window_rows(taps, d)));
}

}  // namespace kestrel
