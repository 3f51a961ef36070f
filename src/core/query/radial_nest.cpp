#include "core/query/radial_nest.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "core/base/whole.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

/// Of at most three axes: without memory of its own, and without threads.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 3, 3>;

/// Angles of the innermost integral below which the closed forms would lose digits.
constexpr double kShortAngle = 0.5;

/// Nodes of an outer piece that leave an error of 1e-11 (measured, see test-query-radial): two
/// outer axes smooth each other, and the uniform kernel's slices end in square roots.
int outer_nodes(std::size_t m, double power) {
  if (power > 0) return m > 2 ? 24 : 32;
  return m > 2 ? 32 : 40;
}

double whole_power(double base, int exponent) {
  double value = 1.0;
  for (int k = 0; k < exponent; ++k) value *= base;
  return value;
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

/// One place on the axes before the present one.
struct RadialNest::Slice {
  const double* from;
  const double* to;
  bool moments;
  double left;                    // 1 - the squares of the axes before
  double centre[kMaxRadialAxes];  // what they add to each z
};

/// Two ends and the places between them: of two axes behind, two limits of each, four corners, two
/// roots of each.
struct RadialNest::Kinks {
  double place[2 + 2 * (2 + 2 + 4)];
  std::size_t count = 0;

  void add(double at) { place[count++] = at; }
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
  const Eigen::Index n = static_cast<Eigen::Index>(m);
  const Matrix lower = Eigen::Map<const Matrix>(H.data(), n, n).llt().matrixL();
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) root_[static_cast<std::size_t>(i * n + j)] = lower(i, j);
  }
  for (Eigen::Index i = 0; i + 1 < n; ++i) {
    // Of z given the axes before i.
    const Matrix block = lower.bottomRightCorner(n - i, n - i);
    const Matrix given = block * block.transpose();
    edges_.emplace_back();
    for (std::size_t set = 1; set < (std::size_t{1} << (n - i - 1)); ++set) {
      Edges edges{{static_cast<std::size_t>(i)}, {}};
      std::vector<Eigen::Index> rows = {0};
      for (Eigen::Index k = 1; k < n - i; ++k) {
        if ((set >> (k - 1) & 1) == 0) continue;
        edges.axes.push_back(static_cast<std::size_t>(i + k));
        rows.push_back(k);
      }
      const Eigen::Index size = static_cast<Eigen::Index>(rows.size());
      Matrix part(size, size);
      for (Eigen::Index a = 0; a < size; ++a) {
        for (Eigen::Index b = 0; b < size; ++b) {
          part(a, b) = given(rows[static_cast<std::size_t>(a)], rows[static_cast<std::size_t>(b)]);
        }
      }
      const Matrix form = part.inverse();
      edges.form.assign(form.data(), form.data() + form.size());
      edges_.back().push_back(edges);
    }
  }
}

BoxMoments RadialNest::hold(const double* from, const double* to, bool moments) const {
  BoxMoments result = level({from, to, moments, 1.0, {0.0, 0.0, 0.0}}, 0);
  result.mass *= constant_;
  result.square *= constant_;
  return result;
}

/// Where on axis i, in u, faces, edges and corners of the axes behind it meet the ball: between the
/// first two kinks, the ends.
void RadialNest::add_kinks(const Slice& slice, std::size_t i, Kinks& kinks) const {
  const double unit = root_[i * m_ + i], begin = kinks.place[0], end = kinks.place[1];
  for (const Edges& edges : edges_[i]) {
    const std::size_t size = edges.axes.size();
    for (std::size_t corner = 0; corner < (std::size_t{1} << (size - 1)); ++corner) {
      double at[kMaxRadialAxes] = {0.0, 0.0, 0.0}, linear = 0.0, constant = -slice.left;
      for (std::size_t a = 1; a < size; ++a) {
        const std::size_t k = edges.axes[a];
        at[a] = ((corner >> (a - 1) & 1) != 0 ? slice.to[k] : slice.from[k]) - slice.centre[k];
      }
      for (std::size_t a = 1; a < size; ++a) {
        linear += edges.form[a] * at[a];
        for (std::size_t b = 1; b < size; ++b) constant += edges.form[a * size + b] * at[a] * at[b];
      }
      // unit^2 form u^2 + 2 unit linear u + constant = 0; none for infinite limits.
      const double square = edges.form[0], under = linear * linear - square * constant;
      if (!(under >= 0) || !std::isfinite(under)) continue;
      for (const double sign : {-1.0, 1.0}) {
        const double u = (-linear + sign * std::sqrt(under)) / (square * unit);
        if (u > begin && u < end) kinks.add(u);
      }
    }
  }
}

BoxMoments RadialNest::level(const Slice& slice, std::size_t i) const {
  if (i + 1 == m_) return inner(slice);
  BoxMoments total;
  const double unit = root_[i * m_ + i], radius = std::sqrt(slice.left);
  const double begin = std::max((slice.from[i] - slice.centre[i]) / unit, -radius);
  const double end = std::min((slice.to[i] - slice.centre[i]) / unit, radius);
  if (!(begin < end)) return total;
  Kinks kinks;
  kinks.add(begin);
  kinks.add(end);
  add_kinks(slice, i, kinks);
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

/// Integrals of cos^n, cos^n sin and cos^n sin^2, n = exponent_, over the angles whose sines are
/// from and to, by the recurrence (Abramowitz & Stegun 1964, 4.3.127).
BoxMoments RadialNest::closed_inner(double angle, double from, double to) const {
  const double cos2_from = (1 - from) * (1 + from), cos2_to = (1 - to) * (1 + to);
  const bool even = exponent_ % 2 == 0;
  double integral = even ? angle : to - from;
  // cos^(k - 1)
  double at_from = even ? std::sqrt(cos2_from) : cos2_from;
  double at_to = even ? std::sqrt(cos2_to) : cos2_to;
  for (int k = even ? 2 : 3; k <= exponent_; k += 2) {
    integral = (at_to * to - at_from * from) / k + (k - 1.0) / k * integral;
    at_from *= cos2_from;
    at_to *= cos2_to;
  }
  if (!(integral > 0)) return {};
  const double first = (at_from - at_to) / (exponent_ + 1);
  const double second = (integral - (at_to * to - at_from * from)) / (exponent_ + 2);
  const double mean = first / integral;
  return {integral, mean, std::max(second - first * mean, 0.0)};
}

/// The same by a rule, where differences would lose digits.
BoxMoments RadialNest::summed_inner(double angle, double from) const {
  const double cos_from = std::sqrt((1 - from) * (1 + from));
  BoxMoments total;
  for (std::size_t j = 0; j < rules_.inner.node.size(); ++j) {
    const double turn = angle * (1 + rules_.inner.node[j]) / 2;
    const double half = std::sin(turn / 2), s = 2 * half * std::cos(turn / 2);
    const double less = 2 * half * half;  // 1 - cos(turn)
    const double cosine = std::max(cos_from - cos_from * less - from * s, 0.0);
    BoxMoments part;
    part.mass = rules_.inner.weight[j] * angle / 2 * whole_power(cosine, exponent_);
    part.mean = cos_from * s - from * less;  // beyond `from`
    total.merge(part);
  }
  total.mean += from;
  return total;
}

/// The last axis: int (left - u^2)^power, u = sqrt(left) sin(angle).
BoxMoments RadialNest::inner(const Slice& slice) const {
  const std::size_t last = m_ - 1;
  const double radius = std::sqrt(slice.left), unit = root_[last * m_ + last] * radius;
  if (!(unit > 0)) return {};
  const double from = std::max((slice.from[last] - slice.centre[last]) / unit, -1.0);
  const double to = std::min((slice.to[last] - slice.centre[last]) / unit, 1.0);
  if (!(from < to)) return {};
  const double cos_from = std::sqrt((1 - from) * (1 + from));
  const double cos_to = std::sqrt((1 - to) * (1 + to)), cosines = cos_from + cos_to;
  // sin and cos of the difference of the angles; the first without that of near cosines.
  const double sine = cosines > 0 ? (to - from) * (cos_from + from * (to + from) / cosines) : 0.0;
  const double angle = std::atan2(std::max(sine, 0.0), cos_from * cos_to + from * to);
  BoxMoments held =
      angle >= kShortAngle ? closed_inner(angle, from, to) : summed_inner(angle, from);
  const double scale = whole_power(radius, exponent_);
  held.mass *= scale;
  held.square *= scale * unit * unit;
  held.mean = slice.moments ? slice.centre[last] + unit * held.mean : 0.0;
  return held;
}

}  // namespace kestrel
