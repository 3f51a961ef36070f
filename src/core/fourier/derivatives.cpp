#include "core/fourier/derivatives.hpp"

#include <cmath>
#include <vector>

#include "core/base/error.hpp"
#include "core/data/passes.hpp"
#include "core/fourier/density.hpp"
#include "core/fourier/density_grid.hpp"
#include "core/kernel/derivative.hpp"

namespace kestrel {

namespace {

/// The factor (i t)^a is at most the cut of the frequencies to that power, so that errors of the
/// modes have to be that much less.
double tolerance_of_modes(double tolerance, int order) { return tolerance / std::pow(10.0, order); }

void multiply_all(const ScaledNumber& scale, const ParallelOptions& options, Span<double> out) {
  pass_over(out.size, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) out[i] = scale.times(out[i]);
  });
}

}  // namespace

DensityLayout lay_derivatives(const DataRange& extent, double tolerance, int order) {
  return lay_density(extent, tolerance_of_modes(tolerance, order), order);
}

void fourier_derivatives(const MatrixView& x, Weights w, const EvaluationPoints& points,
                         Span<const double> root, const DataRange& extent, int order,
                         double tolerance, double bytes, const RunOptions& options,
                         Span<double> out) {
  if (order == 0) {
    return fourier_density(x, w, points, root, {}, extent, tolerance, bytes, options, out);
  }
  check_fourier_tolerance(tolerance);
  const std::size_t m = points.size(), count = derivative_count(x.cols, order);
  if (out.size != m * count) throw error(ErrorKind::internal, "output of a wrong size");
  const DensityLayout layout = lay_derivatives(extent, tolerance, order);
  if (layout.empty) {
    std::fill(out.begin(), out.end(), 0.0);
    return;
  }
  check_fourier_memory(layout, bytes);
  check_fourier_rounding(layout);
  DensityGrid grid(extent, layout, tolerance);
  grid.transform(x, w, part_of(options, 0.0, 0.4));
  if (layout.by_modes) {
    grid.sum(points.axes, order, part_of(options, 0.4, 1.0), out);
    return multiply_all(grid.scale(), part_of(options.parallel, 1.0, 1.0), out);
  }
  const Monomials monomials(x.cols, order);
  const double step = 0.6 / static_cast<double>(count);
  for (std::size_t t = 0; t < count; ++t) {
    const std::vector<int>& exponent = monomials.exponent(monomials.first(order) + t);
    std::vector<Point3> directions;
    for (std::size_t k = 0; k < x.cols; ++k) {
      directions.insert(directions.end(), static_cast<std::size_t>(exponent[k]), grid.direction(k));
    }
    const double begin = 0.4 + step * static_cast<double>(t);
    grid.smooth(directions, t + 1 == count, part_of(options, begin, begin + step / 2));
    const RunOptions part = part_of(options, begin + step / 2, begin + step);
    grid.read(points, part, {out.data + t * m, m});
    multiply_all(grid.scale(), part_of(part.parallel, 1.0, 1.0), {out.data + t * m, m});
  }
}

}  // namespace kestrel
