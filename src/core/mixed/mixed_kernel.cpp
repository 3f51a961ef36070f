#include "core/mixed/mixed_kernel.hpp"

#include <cmath>
#include <string>

#include "core/base/error.hpp"

namespace kestrel {

FactorValue factor_value(FactorKernel kernel, bool same, double lambda, int levels) {
  if (kernel == FactorKernel::li_racine) {
    return same ? FactorValue{1.0, 0.0} : FactorValue{lambda, 1.0};
  }
  if (same) return {1 - lambda, -1.0};
  const double others = levels - 1;
  return {lambda / others, 1 / others};
}

namespace {

/// lambda^apart.
FactorValue power(double lambda, double apart) {
  if (apart == 0) return {1.0, 0.0};
  return {std::pow(lambda, apart), apart * std::pow(lambda, apart - 1)};
}

}  // namespace

FactorValue ordered_value(OrderedKernel kernel, double observation, double point, double lambda,
                          int levels) {
  const double apart = std::fabs(observation - point);
  const FactorValue one = power(lambda, apart);
  if (kernel == OrderedKernel::li_racine) return one;
  if (kernel == OrderedKernel::wang_van_ryzin) {
    if (apart == 0) return {1 - lambda, -1.0};
    return {0.5 * (1 - lambda) * one.value, 0.5 * ((1 - lambda) * one.slope - one.value)};
  }
  FactorValue all{0.0, 0.0};
  for (int level = 1; level <= levels; ++level) {
    const FactorValue other = power(lambda, std::fabs(observation - level));
    all.value += other.value;
    all.slope += other.slope;
  }
  return {one.value / all.value, (one.slope - one.value * all.slope / all.value) / all.value};
}

namespace {

/// The polynomial that Epanechnikov's window 1 - v / 5 is multiplied by, divided by its value at 0
/// (Gasser, Mueller & Mammitzsch 1985, on sqrt(5)).
SquarePolynomial epanechnikov_factor(int order) {
  if (order == 4) return {{1.0, -7.0 / 15}};
  if (order == 6) return {{1.0, -6.0 / 5, 33.0 / 125}};
  if (order == 8) return {{1.0, -11.0 / 5, 143.0 / 125, -143.0 / 875}};
  return {};
}

/// P(v) = -2 Q'(v).
SquarePolynomial minus_twice_derivative(const SquarePolynomial& q) {
  SquarePolynomial p{{0.0}};
  for (int k = 0; k + 1 < SquarePolynomial::kTerms; ++k) p.term[k] = -2 * (k + 1) * q.term[k + 1];
  return p;
}

}  // namespace

ContinuousKernel::ContinuousKernel(const MixedKernel& kernel)
    : window(simd::MixedWindow::uniform), plain(false), p{{0.0}} {
  static_assert(SquarePolynomial::kTerms == simd::kMixedTerms, "leaves read these polynomials");
  if (kernel.continuous == Kernel::gaussian) {
    window = simd::MixedWindow::gaussian;
    plain = kernel.order == 2;
    q = gaussian_factor(kernel.order);
    p = gaussian_slope_factor(kernel.order);
  } else if (kernel.continuous == Kernel::epanechnikov) {
    window = simd::MixedWindow::epanechnikov;
    q = SquarePolynomial{{1.0, -0.2}} * epanechnikov_factor(kernel.order);
    p = minus_twice_derivative(q);
  }
}

void check_mixed_kernel(const MixedKernel& kernel, std::size_t continuous, std::size_t factors) {
  const bool uniform = kernel.continuous == Kernel::uniform;
  if (!uniform && kernel.continuous != Kernel::gaussian &&
      kernel.continuous != Kernel::epanechnikov) {
    throw error(ErrorKind::input, "mixed data take the Gaussian, Epanechnikov or uniform kernel");
  }
  if (!is_gaussian_order(kernel.order) || (uniform && kernel.order != 2)) {
    throw error(ErrorKind::input, "the order must be 2, 4, 6 or 8, and 2 for the uniform kernel");
  }
  if (kernel.h.size() != continuous || kernel.lambda.size() != factors ||
      continuous > static_cast<std::size_t>(simd::kMixedColumns)) {
    throw error(ErrorKind::input, "mixed data need a bandwidth for each of at most " +
                                      std::to_string(simd::kMixedColumns) + " columns");
  }
  for (const double h : kernel.h) {
    if (!(h > 0)) throw error(ErrorKind::input, "a bandwidth must be positive");
  }
  for (const double lambda : kernel.lambda) {
    if (!(lambda >= 0 && lambda <= 1)) throw error(ErrorKind::input, "lambda must be in [0, 1]");
  }
}

}  // namespace kestrel
