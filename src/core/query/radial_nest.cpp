#include "core/query/radial_nest.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/whole.hpp"
#include "core/kernel/kernel.hpp"
#include "core/kernel/root.hpp"
#include "core/query/cosine_moments.hpp"

namespace kestrel {

namespace {

/// Nodes of an outer piece, for an error of 1e-11 (measured, see test-query-radial). Two outer axes
/// smooth each other; the uniform kernel's slices end in square roots and need more.
int outer_nodes(std::size_t m, double power) {
  if (power > 0) return m > 2 ? 24 : 32;
  return m > 2 ? 32 : 40;
}

}  // namespace

RadialRules::RadialRules(int outer_nodes) : inner(16) {
  const LegendreRule outer(outer_nodes);
  for (std::size_t j = 0; j < outer.node.size(); ++j) {
    const double t = kPi * (1 + outer.node[j]) / 2, cosine = std::cos(t);
    place.push_back((1 - cosine) * (1 - cosine) * (2 + cosine) / 4);
    weight.push_back(outer.weight[j] * kPi * 3 / 8 * whole_power(std::sin(t), 3));
  }
}

/// The slice at one position of the axes before the present one.
struct RadialNest::Slice {
  const double* from;  // limits of each z
  const double* to;
  bool moments;
  double left;                    // 1 - the sum of their u^2: the squared radius of the ball here
  double centre[kMaxRadialAxes];  // their share in each z
};

RadialNest::RadialNest(std::size_t m, const std::vector<double>& H, double power)
    : RadialNest(m, H, power, RadialRules(outer_nodes(m, power))) {}

RadialNest::RadialNest(std::size_t m, const std::vector<double>& H, double power,
                       const RadialRules& rules)
    : m_(m),
      root_(m * m, 0.0),
      exponent_(whole_number<int>(std::round(2 * power + 1))),
      constant_(
          std::exp(std::lgamma(power + 1 + static_cast<double>(m) / 2) - std::lgamma(power + 1)) /
          std::pow(kPi, static_cast<double>(m) / 2)),
      rules_(rules) {
  const std::vector<double> lower = lower_root({H.data(), H.size()}, m);
  if (lower.empty()) throw error(ErrorKind::input, "H is too strongly correlated");
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j <= i; ++j) root_[i * m + j] = lower[j * m + i];
  }
  for (std::size_t i = 0; i + 1 < m; ++i) edges_.push_back(edges_behind(root_, m, i));
}

BoxMoments RadialNest::hold(const double* from, const double* to, bool moments) const {
  BoxMoments result = level({from, to, moments, 1.0, {0.0, 0.0, 0.0}}, 0);
  result.mass *= constant_;
  result.square *= constant_;
  return result;
}

/// A slice with axes i and later ones left: integrates axis i by pieces between kinks, each by the
/// outer rule.
BoxMoments RadialNest::level(const Slice& slice, std::size_t i) const {
  if (i + 1 == m_) return last_level(slice);
  BoxMoments total;
  const double unit = root_[i * m_ + i], radius = std::sqrt(slice.left);
  const double begin = std::max((slice.from[i] - slice.centre[i]) / unit, -radius);
  const double end = std::min((slice.to[i] - slice.centre[i]) / unit, radius);
  if (!(begin < end)) return total;
  Kinks kinks;
  kinks.add(begin);
  kinks.add(end);
  add_kinks(edges_[i], unit, slice.left, slice.from, slice.to, slice.centre, &kinks);
  std::sort(kinks.place, kinks.place + kinks.count);
  Slice next = slice;
  for (std::size_t piece = 1; piece < kinks.count; ++piece) {
    const double a = kinks.place[piece - 1], length = kinks.place[piece] - a;
    for (std::size_t j = 0; j < rules_.place.size() && length > 0; ++j) {
      const double u = a + length * rules_.place[j];
      next.left = std::max(slice.left - u * u, 0.0);
      for (std::size_t k = i + 1; k < m_; ++k) {
        next.centre[k] = slice.centre[k] + root_[k * m_ + i] * u;
      }
      BoxMoments part = level(next, i + 1);
      part.mass *= length * rules_.weight[j];
      part.square *= length * rules_.weight[j];
      total.merge(part);
    }
  }
  return total;
}

/// The last axis: int (left - u^2)^power, u = sqrt(left) s.
BoxMoments RadialNest::last_level(const Slice& slice) const {
  const std::size_t last = m_ - 1;
  const double radius = std::sqrt(slice.left), unit = root_[last * m_ + last] * radius;
  if (!(unit > 0)) return {};
  const double from = std::max((slice.from[last] - slice.centre[last]) / unit, -1.0);
  const double to = std::min((slice.to[last] - slice.centre[last]) / unit, 1.0);
  if (!(from < to)) return {};
  BoxMoments held = cosine_moments(exponent_, from, to, rules_.inner);
  const double scale = whole_power(radius, exponent_);
  held.mass *= scale;
  held.square *= scale * unit * unit;
  held.mean = slice.moments ? slice.centre[last] + unit * held.mean : 0.0;
  return held;
}

}  // namespace kestrel
