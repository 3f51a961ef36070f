#include "core/query/cosine_moments.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace kestrel {

namespace {

/// Below this angle the recurrence would lose digits.
constexpr double kShortAngle = 0.5;

/// Integrals of cos^n, cos^n sin and cos^n sin^2 by the recurrence.
BoxMoments by_recurrence(int exponent, double angle, double from, double to) {
  const double cos2_from = (1 - from) * (1 + from), cos2_to = (1 - to) * (1 + to);
  const bool even = exponent % 2 == 0;
  double integral = even ? angle : to - from;
  // cos^(k - 1)
  double at_from = even ? std::sqrt(cos2_from) : cos2_from;
  double at_to = even ? std::sqrt(cos2_to) : cos2_to;
  for (int k = even ? 2 : 3; k <= exponent; k += 2) {
    integral = (at_to * to - at_from * from) / k + (k - 1.0) / k * integral;
    at_from *= cos2_from;
    at_to *= cos2_to;
  }
  if (!(integral > 0)) return {};
  const double first = (at_from - at_to) / (exponent + 1);
  const double second = (integral - (at_to * to - at_from * from)) / (exponent + 2);
  const double mean = first / integral;
  return {integral, mean, std::max(second - first * mean, 0.0)};
}

/// The same by quadrature.
BoxMoments by_rule(int exponent, double angle, double from, const LegendreRule& rule) {
  const double cos_from = std::sqrt((1 - from) * (1 + from));
  BoxMoments total;
  for (std::size_t j = 0; j < rule.node.size(); ++j) {
    const double turn = angle * (1 + rule.node[j]) / 2;
    const double half = std::sin(turn / 2), s = 2 * half * std::cos(turn / 2);
    const double less = 2 * half * half;  // 1 - cos(turn)
    const double cosine = std::max(cos_from - cos_from * less - from * s, 0.0);
    BoxMoments part;
    part.mass = rule.weight[j] * angle / 2 * whole_power(cosine, exponent);
    part.mean = cos_from * s - from * less;  // relative to `from`
    total.merge(part);
  }
  total.mean += from;
  return total;
}

/// The angle between two angles given by their sines. Its own sine is computed without a difference
/// of nearly equal cosines.
double angle_between(double from, double to) {
  const double cos_from = std::sqrt((1 - from) * (1 + from));
  const double cos_to = std::sqrt((1 - to) * (1 + to)), cosines = cos_from + cos_to;
  const double sine = cosines > 0 ? (to - from) * (cos_from + from * (to + from) / cosines) : 0.0;
  return std::atan2(std::max(sine, 0.0), cos_from * cos_to + from * to);
}

}  // namespace

BoxMoments cosine_moments(int exponent, double from, double to, const LegendreRule& rule) {
  const double angle = angle_between(from, to);
  return angle >= kShortAngle ? by_recurrence(exponent, angle, from, to)
                              : by_rule(exponent, angle, from, rule);
}

}  // namespace kestrel
