#include "core/fourier/density.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/whole.hpp"
#include "core/data/passes.hpp"
#include "core/fourier/grid.hpp"
#include "core/fourier/layout.hpp"
#include "core/fourier/ranges.hpp"
#include "core/fourier/reader.hpp"
#include "core/fourier/smooth.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

/// Values below the largest value times the tolerance times this are summed again directly.
constexpr double kFar = 100;

RunOptions part_of(const RunOptions& options, double begin, double end) {
  RunOptions part = options;
  part.parallel = part_of(options.parallel, begin, end);
  return part;
}

class FourierDensity {
 public:
  FourierDensity(const MatrixView& x, Weights w, const EvaluationPoints& points,
                 const DataRange& extent, const DensityLayout& layout, double tolerance,
                 const RunOptions& options);

  /// In the frame's units.
  void compute(Span<double> out);

 private:
  void spread_and_smooth(RawVector<double>* cells);

  MatrixView x_;
  Weights w_;
  const EvaluationPoints& points_;
  const RunOptions& options_;
  const DensityFrame& frame_;
  const FourierModes* modes_;
  const DensityLayout& layout_;
  FourierGeometry geometry_;
  FourierWindow window_;
};

FourierDensity::FourierDensity(const MatrixView& x, Weights w, const EvaluationPoints& points,
                               const DataRange& extent, const DensityLayout& layout,
                               double tolerance, const RunOptions& options)
    : x_(x),
      w_(w),
      points_(points),
      options_(options),
      frame_(extent.frame[layout.frame]),
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

void FourierDensity::spread_and_smooth(RawVector<double>* cells) {
  const TransformBox& box = geometry_.box;
  FourierGrid grid(geometry_, options_);
  grid.add(x_, w_, part_of(options_, 0.0, 0.4));
  *cells = grid.take_cells();
  forward_transform(cells->data(), box, part_of(options_.parallel, 0.4, 0.6));
  smooth_modes(geometry_, window_, frame_.h, 2, part_of(options_.parallel, 0.6, 0.65),
               cells->data());
  inverse_transform(cells->data(), box, part_of(options_.parallel, 0.65, 0.8));
}

void FourierDensity::compute(Span<double> out) {
  RawVector<double> cells;
  if (frame_.kept) {
    cells.resize(geometry_.box.size());
    modes_->density_cells(geometry_, window_, frame_.h, part_of(options_.parallel, 0.0, 0.8),
                          cells.data());
  } else {
    spread_and_smooth(&cells);
  }
  const ParallelOptions part = part_of(options_.parallel, 0.8, 0.9);
  const FourierReader reader(geometry_, window_, layout_.points, options_.table);
  if (frame_.along_data) {
    reader.read_axes(cells.data(), points_.axes, part, out);
  } else {
    reader.read_points(cells.data(), points_, part, out);
  }
}

/// The largest value.
double largest_of(Span<const double> values, const ParallelOptions& options) {
  std::vector<double> of_part(parts_of_pass(values.size), 0.0);
  pass_over(values.size, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    of_part[part] = *std::max_element(values.data + begin, values.data + end);
  });
  return *std::max_element(of_part.begin(), of_part.end());
}

/// out *= scale, except for values below `far`, whose indices are returned.
std::vector<std::size_t> scale_near(double far, const ScaledNumber& scale,
                                    const ParallelOptions& options, Span<double> out) {
  std::vector<std::vector<std::size_t>> below(parts_of_pass(out.size));
  const double factor = scale.times(1.0);
  const bool within_range = factor > 1e-200 && factor < 1e200;
  pass_over(out.size, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!(out[i] >= far)) {
        below[part].push_back(i);
      } else {
        out[i] = within_range ? out[i] * factor : scale.times(out[i]);
      }
    }
  });
  std::vector<std::size_t> all;
  for (const std::vector<std::size_t>& part : below)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

void fourier_density(const MatrixView& x, Weights w, const EvaluationPoints& points,
                     Span<const double> root, const DataRange& extent, double tolerance,
                     double bytes, const RunOptions& options, Span<double> out) {
  if (!(tolerance >= kMinFourierTolerance && tolerance <= kMaxFourierTolerance)) {
    throw error(ErrorKind::input, "the tolerance must be between 1e-13 and 0.01");
  }
  if (out.size != points.size()) throw error(ErrorKind::internal, "output of a wrong size");
  const DensityLayout layout = lay_density(extent, tolerance);
  const ParallelOptions silent = part_of(options.parallel, 0.9, 0.9);
  double far = kInfinity, of_far = tolerance;
  ScaledNumber scale;
  if (!layout.empty) {
    check_fourier_memory(layout, bytes);
    check_fourier_rounding(layout);
    FourierDensity(x, w, points, extent, layout, tolerance, options).compute(out);
    const DensityFrame& frame = extent.frame[layout.frame];
    for (std::size_t k = 0; k < x.cols; ++k) scale.multiply(frame.geometry.scale[k]);
    const double peak = extent.weight * peak_of_form(frame.h, x.cols);
    const double largest = largest_of(out, silent);
    far = kFar * tolerance * std::max(largest, extent.min_share * peak);
    // If every point is far, each gets the digits that the largest one needs.
    if (largest >= far) of_far = std::max(tolerance, tolerance * largest / far);
  } else {
    std::fill(out.begin(), out.end(), 0.0);  // points far from all samples keep it
  }
  const std::vector<std::size_t> chosen = scale_near(far, scale, silent, out);
  density_of_far_points(x, w, points, chosen, root, extent, of_far, part_of(options, 0.9, 1.0),
                        out);
}

}  // namespace kestrel
