#include "core/fourier/data_range.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.hpp"
#include "core/fourier/modes.hpp"
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

}  // namespace

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
