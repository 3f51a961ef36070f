// Integrated squared errors in long double, every sample at every point.
#ifndef KESTREL_TOOLS_ERRORS_ORACLE_HPP
#define KESTREL_TOOLS_ERRORS_ORACLE_HPP

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "common.hpp"
#include "core/bootstrap/squared_errors.hpp"
#include "core/kernel/kernel.hpp"
#include "shapes.hpp"

namespace errors_oracle {

using common::run_on;
using kestrel::Span;
using real = long double;

struct Case {
  std::size_t n, d;
  std::vector<double> x, w, root, h;              // column-major
  std::vector<std::vector<double>> axes, widths;  // the last axis is the fastest
  std::vector<double> target;

  kestrel::MatrixView samples() const { return {x.data(), n, d}; }
  Span<const double> weights() const { return {w.data(), w.size()}; }
  Span<const double> bandwidth() const { return {root.data(), root.size()}; }
  Span<const double> bandwidths() const { return {h.data(), h.size()}; }
  Span<const double> values() const { return {target.data(), target.size()}; }
  kestrel::IntegrationGrid grid() const {
    kestrel::IntegrationGrid result;
    for (std::size_t a = 0; a < d; ++a) {
      result.axes.push_back({axes[a].data(), axes[a].size()});
      result.widths.push_back({widths[a].data(), widths[a].size()});
    }
    return result;
  }
};

/// The trapezoid rule.
inline std::vector<double> widths_of(const std::vector<double>& axis) {
  std::vector<double> widths;
  for (std::size_t i = 0; i < axis.size(); ++i) {
    const double before = axis[i == 0 ? 0 : i - 1];
    widths.push_back((axis[std::min(i + 1, axis.size() - 1)] - before) / 2);
  }
  return widths;
}

/// Correlated normal samples, on a grid that holds nearly all of them; the target is nearly their
/// density.
inline Case make(std::size_t n, const std::vector<std::size_t>& points,
                 const std::vector<double>& h, double centre = 0) {
  std::mt19937_64 random(n + points.size());
  const std::size_t d = points.size();
  Case c{n, d, {}, std::vector<double>(n, 1.0), std::vector<double>(d * d, 0.0), h, {}, {}, {}};
  for (std::size_t i = 0; i < n * d; ++i) c.x.push_back(centre + shapes::normal(random));
  for (std::size_t a = 0; a < d; ++a) {
    for (std::size_t b = a; b < d; ++b) {
      c.root[a * d + b] = a == b             ? 0.8 + 0.1 * static_cast<double>(a)
                          : (a + b) % 2 == 0 ? 0.3
                                             : -0.4;
    }
    std::vector<double> axis;
    const double last = static_cast<double>(points[a] - 1);
    for (std::size_t i = 0; i < points[a]; ++i) {
      axis.push_back(centre - 3 + 6.2 * static_cast<double>(i) / last);
    }
    c.axes.push_back(axis);
    c.widths.push_back(widths_of(axis));
  }
  std::size_t all = 1;
  for (const std::size_t count : points) all *= count;
  for (std::size_t p = 0; p < all; ++p) {
    double squares = 0;
    std::size_t rest = p;
    for (std::size_t a = d; a-- > 0; rest /= points[a]) {
      const double z = c.axes[a][rest % points[a]] - centre;
      squares += z * z;
    }
    c.target.push_back(std::exp(-squares / 2) * std::pow(2 * kestrel::kPi, -0.5 * double(d)));
  }
  return c;
}

/// |L^-1 (e - x_s)|^2 for point p.
inline real square(const Case& c, std::size_t p, std::size_t s) {
  std::vector<real> y(c.d);
  std::vector<std::size_t> index(c.d);
  for (std::size_t a = c.d; a-- > 0; p /= c.axes[a].size()) index[a] = p % c.axes[a].size();
  real sum = 0;
  for (std::size_t a = 0; a < c.d; ++a) {
    real z = real(c.axes[a][index[a]]) - real(c.x[a * c.n + s]);
    for (std::size_t b = 0; b < a; ++b) z -= real(c.root[b * c.d + a]) * y[b];
    y[a] = z / real(c.root[a * c.d + a]);
    sum += y[a] * y[a];
  }
  return sum;
}

inline std::vector<real> errors(const Case& c) {
  const real volumes[] = {0,
                          2,
                          3.14159265358979323846L,
                          4.18879020478639098462L,
                          4.93480220054467930942L,
                          5.26378901391432459671L,
                          5.16771278004997002925L};
  const real d = static_cast<real>(c.d), constant = (d + 2) / 2 / volumes[c.d];
  real determinant = 1;
  for (std::size_t a = 0; a < c.d; ++a) determinant *= real(c.root[a * c.d + a]);
  std::vector<real> result(c.h.size(), 0);
  for (std::size_t p = 0; p < c.target.size(); ++p) {
    real width = 1;
    std::size_t rest = p;
    for (std::size_t a = c.d; a-- > 0; rest /= c.axes[a].size()) {
      width *= real(c.widths[a][rest % c.axes[a].size()]);
    }
    std::vector<real> sums(c.h.size(), 0);
    for (std::size_t s = 0; s < c.n; ++s) {
      const real q = square(c, p, s);
      for (std::size_t j = 0; j < c.h.size(); ++j) {
        sums[j] += std::max(real(0), 1 - q / (real(c.h[j]) * real(c.h[j])));
      }
    }
    for (std::size_t j = 0; j < c.h.size(); ++j) {
      const real density =
          constant * sums[j] / (determinant * std::pow(real(c.h[j]), d) * real(c.n));
      const real difference = real(c.target[p]) - density;
      result[j] += width * difference * difference;
    }
  }
  return result;
}

}  // namespace errors_oracle

#endif
