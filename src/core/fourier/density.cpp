#include "core/fourier/density.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/data/passes.hpp"
#include "core/fourier/density_grid.hpp"
#include "core/fourier/layout.hpp"
#include "core/fourier/ranges.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

/// Values below the largest value times the tolerance times this are summed again directly.
constexpr double kFar = 100;

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
  check_fourier_tolerance(tolerance);
  if (out.size != points.size()) throw error(ErrorKind::internal, "output of a wrong size");
  const DensityLayout layout = lay_density(extent, tolerance);
  const ParallelOptions silent = part_of(options.parallel, 0.9, 0.9);
  double far = kInfinity, of_far = tolerance;
  ScaledNumber scale;
  if (!layout.empty) {
    check_fourier_memory(layout, bytes);
    check_fourier_rounding(layout);
    DensityGrid grid(extent, layout, tolerance);
    grid.transform(x, w, part_of(options, 0.0, 0.6));
    if (layout.by_modes) {
      grid.sum(points.axes, 0, part_of(options, 0.6, 0.9), out);
    } else {
      grid.smooth({}, true, part_of(options, 0.6, 0.8));
      grid.read(points, part_of(options, 0.8, 0.9), out);
    }
    scale = grid.scale();
    const double peak = extent.weight * peak_of_form(extent.frame[layout.frame].h, x.cols);
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
