#include "core/fourier/window.hpp"

#include <cmath>

namespace kestrel {

namespace {

constexpr long double kLongPi = 3.141592653589793238462643383279502884L;

/// The modified Bessel function I0, by its power series of positive terms.
long double bessel_i0(long double x) {
  const long double quarter = x * x / 4;
  long double term = 1, sum = 1;
  for (int k = 1; term > 1e-22L * sum; ++k) {
    term *= quarter / (static_cast<long double>(k) * k);
    sum += term;
  }
  return sum;
}

long double window(long double u, int taps, long double beta) {
  const long double r = 2 * u / taps;
  return r * r >= 1 ? (r * r > 1 ? 0 : 1 / bessel_i0(beta))
                    : bessel_i0(beta * std::sqrt(1 - r * r)) / bessel_i0(beta);
}

/// Coefficients of the polynomial of degree count - 1 through (node[k], value[k]), by divided
/// differences. Overwrites value.
void interpolate(const long double* node, long double* value, int count, long double* coefficient) {
  for (int level = 1; level < count; ++level) {
    for (int k = count - 1; k >= level; --k) {
      value[k] = (value[k] - value[k - 1]) / (node[k] - node[k - level]);
    }
  }
  for (int k = 0; k < count; ++k) coefficient[k] = 0;
  for (int k = count - 1; k >= 0; --k) {
    for (int m = count - 1; m > 0; --m) {
      coefficient[m] = coefficient[m - 1] - node[k] * coefficient[m];
    }
    coefficient[0] = value[k] - node[k] * coefficient[0];
  }
}

}  // namespace

FourierWindow::FourierWindow(int taps) : taps_(taps), beta_(2.53 * taps) {
  // Chebyshev nodes in s^2; the even and the odd part of psi about the middle of a cell.
  long double node[kTerms], even[kTerms], odd[kTerms], coefficient[kTerms];
  for (int j = 0; j < taps; ++j) {
    for (int k = 0; k < kTerms; ++k) {
      node[k] = (1 - std::cos(kLongPi * (k + 0.5L) / kTerms)) / 2;
      const long double s = std::sqrt(node[k]), middle = j - 0.5L * taps + 0.5L;
      const long double above = window(middle + s / 2, taps, beta_);
      const long double below = window(middle - s / 2, taps, beta_);
      even[k] = (above + below) / 2;
      odd[k] = (above - below) / (2 * s);
    }
    interpolate(node, even, kTerms, coefficient);
    for (int k = 0; k < kTerms; ++k) even_[k][j] = static_cast<double>(coefficient[k]);
    interpolate(node, odd, kTerms, coefficient);
    for (int k = 0; k < kTerms; ++k) odd_[k][j] = static_cast<double>(coefficient[k]);
  }
}

int FourierWindow::taps_for(double tolerance) {
  // Maximum over t of E(t) rho(t). rho(t): the sum of the aliases of frequency t relative to the
  // window's own transform. E: the Gaussian that is `value` at the highest frequency. Computed for
  // a grid of 2.5 cells a mode.
  struct Alias {
    int taps;
    double value;
  };
  constexpr Alias kAlias[] = {{8, 1.8e-8},   {9, 1.5e-9},   {10, 1.3e-10}, {11, 1.1e-11},
                              {12, 1.0e-12}, {13, 1.1e-13}, {14, 2.9e-14}};
  for (const Alias& alias : kAlias) {
    if (alias.value <= 0.1 * tolerance) return alias.taps;
  }
  return kAlias[6].taps;
}

double FourierWindow::transform(double f) const {
  const long double beta = beta_, turn = kLongPi * taps_ * f;
  const long double s = std::sqrt(beta * beta - turn * turn);  // f < 1/2 < beta / (pi w) = 0.8
  return static_cast<double>(taps_ * std::sinh(s) / (s * bessel_i0(beta)));
}

double FourierWindow::variance() const {
  // -(d/df)^2 log transform(f) / (2 pi)^2 at f = 0.
  return 0.25 * taps_ * taps_ / beta_ * (1 / std::tanh(beta_) - 1 / beta_);
}

}  // namespace kestrel
