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

bool is_within(const EvaluationPoints& points, std::size_t i, Span<const double> within) {
  double at[3];
  points.copy(i, at);
  const std::size_t d = within.size / 2;
  for (std::size_t k = 0; k < d; ++k) {
    if (!(at[k] >= within[k] && at[k] <= within[d + k])) return false;
  }
  return true;
}

/// Adds the terms of the samples that a grid leaves out, one by one.
void add_outliers(const ModeSource& source, const FourierGeometry& grid,
                  const FourierGeometry& of_kernel, const EvaluationPoints& points,
                  const RunOptions& options, Span<double> out) {
  const MatrixView x = source.known();
  const Weights w = source.known_weights();
  std::vector<std::size_t> outlier;
  for (std::size_t i = 0; i < x.rows; ++i) {
    if (!grid.inside(grid.whiten(x, i))) outlier.push_back(i);
  }
  ScaledNumber peak;
  peak.multiply(std::pow(2 * kPi, -0.5 * static_cast<double>(grid.d)));
  for (std::size_t k = 0; k < grid.d; ++k) peak.multiply(of_kernel.scale[k]);
  pass_over(out.size, part_of(options.parallel, 0.9, 1.0),
            [&](std::size_t, std::size_t begin, std::size_t end) {
              for (std::size_t i = begin; i < end; ++i) {
                double at[3], away[3], sum = 0;
                points.copy(i, at);
                for (const std::size_t j : outlier) {
                  for (std::size_t k = 0; k < grid.d; ++k) away[k] = at[k] - x(j, k);
                  const Point3 z = of_kernel.whiten({away, 1, grid.d}, 0);
                  sum += w[j] * std::exp(-0.5 * (z[0] * z[0] + z[1] * z[1] + z[2] * z[2]));
                }
                out[i] += peak.times(sum);
              }
            });
}

}  // namespace

void fourier_density(const MatrixView& x, Weights w, const EvaluationPoints& points,
                     Span<const double> root, Span<const double> within, const DataRange& extent,
                     double tolerance, double bytes, const RunOptions& options, Span<double> out) {
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
  std::vector<std::size_t> chosen = scale_near(far, scale, silent, out);
  if (within.size > 0 && std::isfinite(far)) {
    const auto beyond = [&](std::size_t i) { return !is_within(points, i, within); };
    const auto rest = std::stable_partition(chosen.begin(), chosen.end(), beyond);
    for (auto at = chosen.begin(); at != rest; ++at)
      out[*at] = scale.times(std::max(out[*at], 0.0));
    chosen.erase(chosen.begin(), rest);
  }
  density_of_far_points(x, w, points, chosen, root, extent, of_far, part_of(options, 0.9, 1.0),
                        out);
}

void density_of_modes(const ModeSource& source, const EvaluationPoints& points,
                      Span<const double> root, double tolerance, const RunOptions& options,
                      Span<double> out) {
  check_fourier_tolerance(tolerance);
  const std::size_t d = source.axes().d;
  FourierGeometry of_kernel;
  of_kernel.d = d;
  std::copy(root.begin(), root.end(), of_kernel.root.begin());
  for (std::size_t k = 0; k < d; ++k) of_kernel.scale[k] = 1 / root[k * d + k];
  Form3 h{};
  FourierGeometry linear = source.axes();
  linear.centre = {};
  for (std::size_t column = 0; column < d; ++column) {
    const Point3 z = linear.whiten({root.data + column * d, 1, d}, 0);
    for (std::size_t e = 0; e < 9; ++e) h[e] += z[e / 3] * z[e % 3];
  }
  const double widest = std::sqrt(eigenvalue_range(h, d)[1]);
  check_served(source, least_deviation(h, d));
  std::unique_ptr<FourierModes> modes = source.modes(widest, {}, part_of(options, 0.0, 0.3));
  const auto extent_now = [&] {
    return measure_modes(*modes, 1, source.weight(), source.heaviest(), points, root, options);
  };
  DataRange extent = extent_now();
  const ModesNeeded needed = modes_needed(extent, tolerance);
  std::fill(out.begin(), out.end(), 0.0);
  if (needed.any) {
    if (!needed.served) check_served(source, 0);
    DensityLayout layout = lay_density(extent, tolerance);
    if (layout.empty) {
      modes = source.modes(widest, needed.period, part_of(options, 0.3, 0.6));
      extent = extent_now();
      layout = lay_density(extent, tolerance);
    }
    if (layout.empty) check_served(source, 0);
    check_fourier_rounding(layout);
    DensityGrid grid(extent, layout, tolerance);
    grid.smooth({}, true, part_of(options, 0.6, 0.8));
    grid.read(points, part_of(options, 0.8, 0.9), out);
    const ScaledNumber scale = grid.scale();
    for (double& value : out) value = scale.times(std::max(0.0, value));
  }
  if (modes->geometry().trimmed)
    add_outliers(source, modes->geometry(), of_kernel, points, options, out);
}

}  // namespace kestrel
