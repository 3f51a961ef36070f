#include "core/criteria/fourier_criteria.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "core/base/error.hpp"

namespace kestrel {

namespace {

/// How much farther than needed the range of a new grid goes, so that it may serve the next steps
/// of a search, too.
constexpr double kMargin = 1.25;
/// Slack on the range of bandwidths that a grid was made for, for rounding.
constexpr double kSlack = 1e-9;

Form3 times(const Form3& h, double factor) {
  Form3 out = h;
  for (double& value : out) value *= factor;
  return out;
}

Form3 plus(const Form3& a, const Form3& b) {
  Form3 out = a;
  for (std::size_t e = 0; e < 9; ++e) out[e] += b[e];
  return out;
}

/// A homogeneous polynomial on three axes.
using Polynomial = std::map<Exponents, double>;

/// A point on three axes.
using LongPoint3 = std::array<long double, 3>;

/// Multiplies p by sum_a factor[a] t_a.
Polynomial times_linear(const Polynomial& p, const LongPoint3& factor) {
  Polynomial product;
  for (const auto& term : p) {
    for (std::size_t a = 0; a < 3; ++a) {
      if (factor[a] == 0) continue;
      Exponents e = term.first;
      ++e[a];
      product[e] += term.second * static_cast<double>(factor[a]);
    }
  }
  return product;
}

/// Row k of L^-T: it expresses the frequency of variable k by those of the whitened axes, t = L^-T
/// t_z. In long doubles, since strongly correlated variables cost digits.
std::vector<LongPoint3> frequency_map(const FourierGeometry& geometry) {
  const std::size_t d = geometry.d;
  std::vector<LongPoint3> map(d, LongPoint3{});
  for (std::size_t column = 0; column < d; ++column) {
    // Back substitution of L' t = e_column.
    LongPoint3 t{};
    for (std::size_t k = d; k-- > 0;) {
      long double sum = k == column ? 1.0 : 0.0;
      for (std::size_t m = k + 1; m < d; ++m) sum -= geometry.root[k * d + m] * t[m];
      t[k] = sum / geometry.root[k * d + k];
    }
    for (std::size_t k = 0; k < d; ++k) map[k][geometry.axis(column)] = t[k];
  }
  return map;
}

/// Moments of t^alpha from those of t_z^alpha, all of one degree, in units of x.
std::vector<double> in_units_of_x(const std::vector<double>& moments, int degree,
                                  const FourierGeometry& geometry) {
  const std::vector<Exponents> monomials = monomials_of_degree(geometry.d, degree);
  Polynomial value;  // the integral of each monomial
  for (std::size_t m = 0; m < monomials.size(); ++m) value[monomials[m]] = moments[m];
  const std::vector<LongPoint3> map = frequency_map(geometry);
  std::vector<double> out;
  for (const Exponents& e : monomials) {
    Polynomial expanded{{Exponents{0, 0, 0}, 1 / geometry.determinant}};
    for (std::size_t k = 0; k < geometry.d; ++k) {
      for (int power = 0; power < e[geometry.axis(k)]; ++power) {
        expanded = times_linear(expanded, map[k]);
      }
    }
    double sum = 0.0;
    for (const auto& term : expanded) sum += term.second * value[term.first];
    out.push_back(sum);
  }
  return out;
}

/// The position of h_ab among the moments of degree 2.
std::vector<double> to_moments(const Form3& h, std::size_t d) {
  std::vector<double> out;
  for (std::size_t a = 3 - d; a < 3; ++a) {
    for (std::size_t b = a; b < 3; ++b) out.push_back(h[3 * a + b]);
  }
  return out;
}

}  // namespace

FourierCriteria::FourierCriteria(const MatrixView& x, Weights w, const FourierDemand& demand,
                                 const RunOptions& options)
    : x_(x), w_(w), demand_(demand) {
  spread(demand.min, demand.max, options);
}

void FourierCriteria::spread(double min, double max, const RunOptions& options) {
  FourierDemand demand = demand_;
  demand.min = min;
  demand.max = max;
  const FourierGeometry geometry = fourier_geometry(x_, w_, demand, options);
  modes_.reset();  // frees its memory before the next one takes its own
  FourierGrid grid(geometry);
  grid.add(x_, w_, options);
  modes_ =
      std::make_unique<FourierModes>(std::move(grid), demand.bytes - geometry.bytes(), options);
  demand_ = demand;
  ++spreads_;
}

void FourierCriteria::make_ready(const RunOptions& options) {
  if (!modes_) spread(demand_.min, demand_.max, options);
}

void FourierCriteria::prepare(double min, double max, const RunOptions& options) {
  if (modes_) {
    const FourierGeometry& g = modes_->geometry();
    if (min >= g.min * (1 - kSlack) && max <= g.max * (1 + kSlack)) return;
  }
  spread(min, max, options);
}

void FourierCriteria::cover(const Form3& narrow, const Form3& wide, int degree,
                            const RunOptions& options) {
  const FourierGeometry& g = modes_->geometry();
  // A sum of higher degree needs a wider range of the Gaussian, at both ends.
  const double min = std::sqrt(eigenvalue_range(narrow, g.d)[0]) * g.cut / modes_->cut(degree);
  const double max = std::sqrt(eigenvalue_range(wide, g.d)[1] / (degree <= 2 ? 2 : 1));
  if (!(min > 0) || !std::isfinite(max)) {
    throw error(ErrorKind::input, "a bandwidth matrix must be positive definite");
  }
  if (min >= g.min * (1 - kSlack) && max <= g.max * (1 + kSlack)) return;
  const double wanted_min = min < g.min ? min / kMargin : g.min;
  const double wanted_max = max > g.max ? max * kMargin : g.max;
  try {
    spread(wanted_min, wanted_max, options);
  } catch (const error& problem) {
    if (problem.kind != ErrorKind::memory) throw;
    spread(min, max, options);  // for this sum alone
  }
}

Form3 FourierCriteria::whitened(Span<const double> H) const {
  const FourierGeometry& g = modes_->geometry();
  const std::size_t d = g.d;
  if (H.size != d * d) throw error(ErrorKind::internal, "bandwidth matrix of a wrong size");
  // L^-1 H L^-T = M' H M with M = L^-T, whose rows frequency_map gives.
  const std::vector<LongPoint3> map = frequency_map(g);
  Form3 out{};
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      long double sum = 0;
      for (std::size_t k = 0; k < d; ++k) {
        for (std::size_t l = 0; l < d; ++l) {
          sum += map[k][a] * 0.5L * (H[l * d + k] + H[k * d + l]) * map[l][b];
        }
      }
      out[3 * a + b] = static_cast<double>(sum);
    }
  }
  for (const double value : out) {
    if (!std::isfinite(value)) throw error(ErrorKind::input, "a bandwidth matrix must be finite");
  }
  return out;
}

void FourierCriteria::set_gradient(const std::vector<double>& second, Span<double> gradient) const {
  const FourierGeometry& g = modes_->geometry();
  const std::vector<double> moments = in_units_of_x(second, 2, g);
  std::size_t m = 0;
  for (std::size_t k = 0; k < g.d; ++k) {
    for (std::size_t l = k; l < g.d; ++l, ++m) {
      gradient[l * g.d + k] = gradient[k * g.d + l] = moments[m];
    }
  }
}

double FourierCriteria::mean_kernel(Span<const double> H, Span<double> gradient,
                                    const RunOptions& options) {
  make_ready(options);
  const bool with_gradient = gradient.size > 0;
  cover(whitened(H), whitened(H), 0, options);
  const std::vector<double> moments = modes_->moments(
      whitened(H), with_gradient ? std::vector<int>{0, 2} : std::vector<int>{0}, options);
  if (with_gradient) {
    std::vector<double> second(moments.begin() + 1, moments.end());
    for (double& value : second) value *= -0.5;
    set_gradient(second, gradient);
  }
  return moments[0] / modes_->geometry().determinant;
}

double FourierCriteria::pair_sum(Span<const double> H, const RunOptions& options) {
  const double mean = mean_kernel(H, {}, options);
  const FourierGeometry& g = modes_->geometry();
  const double diagonal = modes_->squared_share() * peak_of_form(whitened(H), g.d) / g.determinant;
  return 0.5 * modes_->weight() * modes_->weight() * (mean - diagonal);
}

double FourierCriteria::lscv(Span<const double> H, LscvForm form, Span<double> gradient,
                             const RunOptions& options) {
  make_ready(options);
  const double share = modes_->squared_share();
  if (!(share < 1)) {
    throw error(ErrorKind::input, "cross-validation needs two samples with positive weights");
  }
  cover(whitened(H), times(whitened(H), 2), 0, options);
  const FourierGeometry& g = modes_->geometry();
  const Form3 h = whitened(H);
  const double factor = form == LscvForm::unbiased ? 1 / (1 - share) : 1.0;
  const double diagonal = share * peak_of_form(h, g.d);
  const std::vector<double> sums = modes_->moments_of_both(h, gradient.size > 0, options);
  const std::size_t half = sums.size() / 2;
  if (gradient.size > 0) {
    std::vector<double> second = to_moments(inverse_form(h, g.d), g.d);
    for (std::size_t m = 0; m < second.size(); ++m) {
      second[m] = factor * sums[1 + m] - sums[half + 1 + m] - factor * diagonal * second[m];
    }
    set_gradient(second, gradient);
  }
  return (sums[half] - 2 * factor * (sums[0] - diagonal)) / g.determinant;
}

double FourierCriteria::scv(Span<const double> H, Span<const double> G, Span<double> gradient,
                            const RunOptions& options) {
  make_ready(options);
  cover(times(whitened(G), 2), plus(times(whitened(H), 2), times(whitened(G), 2)), 0, options);
  const FourierGeometry& g = modes_->geometry();
  const Form3 h = whitened(H);
  // (4 pi)^(-d/2) |H|^(-1/2) / n.
  const double variance = modes_->squared_share() * peak_of_form(times(h, 2), g.d);
  const std::vector<double> sums =
      modes_->smoothed_moments(h, times(whitened(G), 2), gradient.size > 0, options);
  if (gradient.size > 0) {
    std::vector<double> second = to_moments(inverse_form(h, g.d), g.d);
    for (std::size_t m = 0; m < second.size(); ++m) {
      second[m] = sums[1 + m] - 0.5 * variance * second[m];
    }
    set_gradient(second, gradient);
  }
  return (variance + sums[0]) / g.determinant;
}

std::vector<double> FourierCriteria::psi(Span<const double> G, int order,
                                         const RunOptions& options) {
  if (order < 0 || order > kHighestDegree || order % 2 != 0) {
    throw error(ErrorKind::input, "the order must be even, 0 to 10, not " + std::to_string(order));
  }
  make_ready(options);
  cover(whitened(G), whitened(G), order, options);
  std::vector<double> psi =
      in_units_of_x(modes_->moments(whitened(G), {order}, options), order, modes_->geometry());
  if (order % 4 != 0) {
    for (double& value : psi) value = -value;
  }
  return psi;
}

}  // namespace kestrel
