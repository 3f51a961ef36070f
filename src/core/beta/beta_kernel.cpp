#include "core/beta/beta_kernel.hpp"

#include <algorithm>
#include <cmath>

#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

/// From these exponents on, of both factors, the deviance keeps more digits than powers.
constexpr double kLeastDeviance = 10;

/// Chen's rho(u), less one, for u < 2 b, in a form without a difference of large numbers.
double end_shape(double u, double b) {
  if (u == 0) return 0;
  const double c = 2 * b * b + 2.5, s = 4 * b * b * b * b + 6 * b * b;
  const double rho = (c * c - s - 2.25 + u * u + u / b) / (c + std::sqrt(s + 2.25 - u * u - u / b));
  return std::max(rho - 1, 0.0);
}

double shape(double u, double b) { return u < 2 * b ? end_shape(u, b) : u / b - 1; }

/// log Gamma(n + 1) - (n + 1/2) log n + n - log(2 pi) / 2 for n >= 10: the first terms of
/// Stirling's series (Loader 2000), to 1e-17.
double stirling_rest(double n) {
  const double r = 1 / (n * n);
  return (1.0 / 12 -
          r * (1.0 / 360 -
               r * (1.0 / 1260 - r * (1.0 / 1680 - r * (1.0 / 1188 - r * 691 / 360360))))) /
         n;
}

/// log Beta(p + 1, q + 1).
double log_beta(double p, double q) {
  if (p > q) std::swap(p, q);
  if (q < kLeastDeviance) {
    return std::log(std::tgamma(p + 1) * std::tgamma(q + 1) / std::tgamma(p + q + 2));
  }
  // Gamma(q + 1) / Gamma(p + q + 2) by Stirling's series.
  const double m = p + q + 1;
  return std::log(std::tgamma(p + 1)) + stirling_rest(q) - stirling_rest(m) + p + 1 -
         (p + 1) * std::log(m) + (q + 0.5) * std::log1p(-(p + 1) / m);
}

/// (1 + e) log(1 + e) - e, e > -1, without cancellation.
double deviance(double e) {
  if (std::fabs(e) > 0.05) return (1 + e) * std::log1p(e) - e;
  // sum_k (-e)^k / (k (k - 1)), k = 2, ..., 13.
  double sum = 0;
  for (int k = 13; k >= 2; --k) sum = 1.0 / (k * (k - 1)) - e * sum;
  return e * e * sum;
}

}  // namespace

BetaKernel::BetaKernel(double u, double b)
    : u_(u),
      b_(b),
      p_(shape(u, b)),
      q_(shape(1 - u, b)),
      log_beta_(0),
      log_height_(0),
      deviance_(std::min(p_, q_) >= kLeastDeviance) {
  const double n = p_ + q_;
  if (deviance_) {
    log_height_ = std::log1p(n) + 0.5 * std::log(n / (2 * kPi) / p_ / q_) + stirling_rest(n) -
                  stirling_rest(p_) - stirling_rest(q_);
    peak_ = log_height_;
  } else {
    log_beta_ = log_beta(p_, q_);
    const double lower = p_ > 0 ? p_ * std::log(p_ / n) : 0.0,
                 upper = q_ > 0 ? q_ * std::log(q_ / n) : 0.0;
    peak_ = lower + upper - log_beta_;
  }
  mode_ = n > 0 ? p_ / n : 0.5;
}

/// The kernel is a binomial probability times n + 1 (Loader 2000): with x' = 1 - x and the
/// difference D = p - n x = q' - n x', its logarithm is that at the mode less
/// n x deviance(D / (n x)) + n x' deviance(-D / (n x')). The difference is computed as one.
double BetaKernel::by_deviance(double y, bool upper) const {
  const double n = p_ + q_;
  const double from = upper ? 1 - u_ : u_;
  const double difference = (from - y) / b_ - 1 + 2 * y;
  const double here = n * y, there = n * (1 - y);
  return log_height_ - here * deviance(difference / here) - there * deviance(-difference / there);
}

double BetaKernel::by_powers(double y, bool upper) const {
  const double near = upper ? q_ : p_, far = upper ? p_ : q_;
  return near * std::log(y) + far * std::log1p(-y) - log_beta_;
}

double BetaKernel::log_at(double y, bool upper) const {
  return deviance_ ? by_deviance(y, upper) : by_powers(y, upper);
}

double BetaKernel::at_end(bool upper) const {
  return (upper ? q_ : p_) == 0 ? std::exp(-log_beta_) : 0.0;
}

}  // namespace kestrel
