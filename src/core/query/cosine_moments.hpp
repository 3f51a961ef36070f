// The innermost integral of a nest: the mass and moments of (1 - s^2)^power, s = sin t, in an
// interval.
#ifndef KESTREL_CORE_QUERY_COSINE_MOMENTS_HPP
#define KESTREL_CORE_QUERY_COSINE_MOMENTS_HPP

#include "core/query/box_moments.hpp"
#include "core/query/legendre_rule.hpp"

namespace kestrel {

/// For int (1 - s^2)^power ds = int cos^n t dt, n = 2 power + 1, over s in [from, to] within [-1,
/// 1]: the mass, and the mean and square of s. In closed form (Abramowitz & Stegun 1964, 4.3.127)
/// if the interval is long enough for differences to keep their digits, else by `rule` in t. O(n),
/// or O(nodes n).
BoxMoments cosine_moments(int exponent, double from, double to, const LegendreRule& rule);

inline double whole_power(double base, int exponent) {
  double value = 1.0;
  for (int k = 0; k < exponent; ++k) value *= base;
  return value;
}

}  // namespace kestrel

#endif
