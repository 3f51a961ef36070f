#include "core/query/legendre_rule.hpp"

#include <cmath>

namespace kestrel {

namespace {

struct Legendre {
  long double value, slope;
};

/// P_size and its derivative by the recurrence (Abramowitz & Stegun 1964, 22.7.10 and 22.8.5).
Legendre legendre(int size, long double u) {
  long double before = 1, value = u;
  for (int k = 2; k <= size; ++k) {
    const long double after = ((2 * k - 1) * u * value - (k - 1) * before) / k;
    before = value;
    value = after;
  }
  return {value, size * (u * value - before) / (u * u - 1)};
}

}  // namespace

LegendreRule::LegendreRule(int size) {
  const long double pi = 3.141592653589793238462643383279502884L;
  for (int i = size; i >= 1; --i) {
    // Newton's method from a cosine (22.16.6).
    long double u = std::cos(pi * (i - 0.25L) / (size + 0.5L));
    for (int step = 0; step < 8; ++step) {
      const Legendre at = legendre(size, u);
      u -= at.value / at.slope;
    }
    const long double slope = legendre(size, u).slope;
    node.push_back(static_cast<double>(u));
    weight.push_back(static_cast<double>(2 / ((1 - u * u) * slope * slope)));
  }
}

}  // namespace kestrel
