#include "core/fourier/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "core/base/error.hpp"
#include "core/data/weights.hpp"
#include "core/fourier/box_content.hpp"
#include "core/fourier/forms.hpp"
#include "core/fourier/lay_grid.hpp"
#include "core/fourier/part_sums.hpp"
#include "core/fourier/ranges.hpp"
#include "core/fourier/trim.hpp"
#include "core/fourier/window.hpp"
#include "core/kernel/kernel.hpp"
#include "core/kernel/root.hpp"

namespace kestrel {

namespace {

/// The maximum condition number of a root for coordinates in double precision; for two variables it
/// is a correlation of 0.97. Long doubles take a tenth longer.
constexpr double kMaxCondition = 8;

void check_demand(const MatrixView& x, Weights w, const FourierDemand& demand) {
  if (x.cols < 1 || x.cols > 3) {
    throw error(ErrorKind::input,
                "engine \"fourier\" takes one to three variables, not " + std::to_string(x.cols));
  }
  check_weight_count(x.rows, w.size);
  if (!demand.root.empty() && demand.root.size() != x.cols * x.cols) {
    throw error(ErrorKind::internal, "scale matrix of a wrong size");
  }
  if (!(demand.min > 0) || !(demand.max >= demand.min) || !std::isfinite(demand.max)) {
    throw error(ErrorKind::input, "bandwidths must be positive and in ascending order");
  }
  if (demand.tolerance != 0) check_fourier_tolerance(demand.tolerance);
}

/// Checks all samples and weights. Returns the sums of the weights, of their squares, and of the
/// weighted values.
std::vector<double> check_samples(const MatrixView& x, Weights w, const RunOptions& options) {
  std::vector<double> total = add_parts(x.rows, 2 + x.cols, options, [&](std::size_t i, double* s) {
    if (!(w[i] >= 0) || !std::isfinite(w[i])) {
      throw error(ErrorKind::input, "weights must be finite and not negative");
    }
    s[0] += w[i];
    s[1] += w[i] * w[i];
    for (std::size_t k = 0; k < x.cols; ++k) {
      if (!std::isfinite(x(i, k))) throw error(ErrorKind::input, "samples must be finite");
      if (w[i] > 0) s[2 + k] += w[i] * x(i, k);
    }
  });
  if (!(total[0] > 0)) throw error(ErrorKind::input, "there is no sample with a positive weight");
  if (!std::isfinite(total[1])) throw error(ErrorKind::input, "weights are too large to square");
  return total;
}

/// Sets the lower Cholesky factor of the covariance about the centre, with divisor sum w.
void sample_root(const MatrixView& x, Weights w, double weight, FourierGeometry* geometry,
                 const RunOptions& options) {
  const std::size_t d = x.cols;
  std::vector<double> s = add_parts(x.rows, d * d, options, [&](std::size_t i, double* sum) {
    for (std::size_t l = 0; l < d; ++l) {
      for (std::size_t k = l; k < d; ++k) {
        sum[l * d + k] +=
            w[i] * (x(i, k) - geometry->centre[k]) * (x(i, l) - geometry->centre[l]) / weight;
      }
    }
  });
  for (std::size_t l = 0; l < d; ++l) {
    const double variance = s[l * d + l];
    for (std::size_t m = 0; m < l; ++m) {
      for (std::size_t k = l; k < d; ++k) {
        s[l * d + k] -= geometry->root[m * d + l] * geometry->root[m * d + k];
      }
    }
    if (!(s[l * d + l] > 1e-14 * variance) || !std::isfinite(variance)) {
      throw error(ErrorKind::input, "the covariance of the samples is singular: variable " +
                                        std::to_string(l + 1) +
                                        " is a combination of those before it");
    }
    for (std::size_t k = l; k < d; ++k) {
      geometry->root[l * d + k] = s[l * d + k] / std::sqrt(s[l * d + l]);
    }
  }
}

/// Sets the box of all samples with a weight.
void set_range(const MatrixView& x, Weights w, FourierGeometry* geometry,
               const RunOptions& options) {
  const std::array<Range, 3> range = ranges_of(x.rows, options, [&](std::size_t i, auto add) {
    if (!(w[i] > 0)) return;
    const Point3 z = geometry->whiten(x, i);
    for (std::size_t a = 0; a < 3; ++a) {
      if (!std::isfinite(z[a])) {
        throw error(ErrorKind::input, "samples leave the range of numbers");
      }
      add(a, z[a]);
    }
  });
  for (std::size_t a = 0; a < 3; ++a) {
    geometry->low[a] = range[a].low;
    geometry->high[a] = range[a].high;
  }
}

void set_box(const FourierDemand& demand, FourierGeometry* geometry) {
  const Point3 low = geometry->whiten({demand.low.data(), 1, geometry->d}, 0),
               high = geometry->whiten({demand.high.data(), 1, geometry->d}, 0);
  for (std::size_t a = 3 - geometry->d; a < 3; ++a) {
    geometry->trimmed =
        geometry->trimmed || low[a] > geometry->low[a] || high[a] < geometry->high[a];
    geometry->low[a] = low[a];
    geometry->high[a] = high[a];
  }
}

/// Takes in the frequencies that a density needs, whose errors are relative to its largest value,
/// as those of lay_density().
void serve_density(const FourierDemand& demand, FourierGeometry* geometry) {
  Form3 h{};
  Point3 length{};
  for (std::size_t a = 3 - geometry->d; a < 3; ++a) {
    h[4 * a] = geometry->min * geometry->min;
    length[a] = geometry->high[a] - geometry->low[a];
  }
  const double allowed =
      demand.density_tolerance * std::min(1.0, least_share(h, geometry->d, length));
  geometry->phases = demand.phases;
  geometry->taps = std::max(geometry->taps, FourierWindow::taps_for(allowed));
  geometry->min *= std::min(1.0, geometry->cut / fourier_cut(allowed));
}

}  // namespace

bool is_strongly_correlated(Span<const double> root, std::size_t d) {
  return root_condition(root, d) > kMaxCondition;
}

void check_fourier_tolerance(double tolerance) {
  if (tolerance >= kMinFourierTolerance && tolerance <= kMaxFourierTolerance) return;
  throw error(ErrorKind::input, "the tolerance must be between 1e-13 and 0.01");
}

double default_fourier_tolerance(std::size_t d) { return d < 3 ? 1e-12 : 1e-9; }

double FourierGeometry::frequency_step(std::size_t a) const {
  return a < 3 - d ? 0.0 : 2 * kPi / period[a];
}

std::size_t FourierGeometry::modes() const { return box.rows_of_modes() * (box.max[2] + 1); }

double FourierGeometry::bytes() const {
  return 8.0 * static_cast<double>(box.size() + (phases ? 3 : 1) * modes());
}

std::string gigabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g GB", bytes / 1e9);
  return text;
}

FourierGeometry fourier_geometry(const MatrixView& x, Weights w, const FourierDemand& demand,
                                 const RunOptions& options) {
  check_demand(x, w, demand);
  const std::vector<double> total = check_samples(x, w, options);
  FourierGeometry geometry;
  geometry.d = x.cols;
  geometry.tolerance = demand.tolerance > 0 ? demand.tolerance : default_fourier_tolerance(x.cols);
  geometry.min = demand.min;
  geometry.max = demand.max;
  geometry.taps = FourierWindow::taps_for(geometry.tolerance);
  geometry.cut = fourier_cut(geometry.tolerance);
  for (std::size_t k = 0; k < x.cols; ++k) geometry.centre[k] = total[2 + k] / total[0];
  if (demand.root.empty()) {
    sample_root(x, w, total[0], &geometry, options);
  } else {
    std::copy(demand.root.begin(), demand.root.end(), geometry.root.begin());
  }
  geometry.correlated = is_strongly_correlated({geometry.root.data(), x.cols * x.cols}, x.cols);
  for (std::size_t k = 0; k < x.cols; ++k) geometry.determinant *= geometry.root[k * x.cols + k];
  if (!(geometry.determinant > 0) || !std::isfinite(geometry.determinant)) {
    throw error(ErrorKind::input, "the scale matrix is outside the range of numbers");
  }
  for (std::size_t k = 0; k < x.cols; ++k) geometry.scale[k] = 1 / geometry.root[k * x.cols + k];
  set_range(x, w, &geometry, options);
  if (demand.density_tolerance > 0) serve_density(demand, &geometry);
  if (demand.boxed) set_box(demand, &geometry);
  const LaidGrid whole = lay_grid(geometry, look_into_box(x, w, geometry, options), demand.bytes);
  if (demand.boxed && !whole.fits) {
    throw error(ErrorKind::memory, "a grid for these bandwidths needs " + gigabytes(whole.bytes) +
                                       ", more than the " + gigabytes(demand.bytes) + " allowed");
  }
  if (demand.boxed) return whole.geometry;
  return best_box(x, w, whole, demand.bytes, options);
}

}  // namespace kestrel
