// Queries as in textbooks, in long double: integrals of the kernels themselves by a Gauss-Legendre
// rule on many short pieces.
#ifndef KESTREL_TOOLS_QUERY_ORACLE_HPP
#define KESTREL_TOOLS_QUERY_ORACLE_HPP

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/query/legendre_rule.hpp"
#include "oracle.hpp"

namespace oracle {

/// A mass, and its mean and variance.
struct Moments {
  real mass = 0, mean = 0, variance = 0;
};

/// Calls f(u, weight, u - from) at the nodes of a rule on [from, from + length], in pieces so short
/// that the normal density changes by less than exp(3) on each. The rule's error on a piece is
/// below 1e-20 of the integral.
template <class F>
void in_pieces(real from, real length, F f) {
  static const kestrel::LegendreRule rule(14);
  const real farther = std::max(std::fabs(from), std::fabs(from + length));
  const int pieces = std::max(1, static_cast<int>(std::ceil(length * (2 + farther / 3))));
  for (int p = 0; p < pieces; ++p) {
    const real half = length / pieces / 2;
    for (std::size_t j = 0; j < rule.node.size(); ++j) {
      const real offset = (2 * p + 1) * half + half * rule.node[j];
      f(from + offset, half * rule.weight[j], offset);
    }
  }
}

/// Moments within [lower, upper] of the one-dimensional kernel with bandwidth h at x; the mean is
/// relative to x.
inline Moments interval(kestrel::Kernel kernel, real x, real h, real lower, real upper) {
  const bool normal = kernel == kestrel::Kernel::gaussian;
  const real end = normal ? 42 : 1;
  real from = std::max((lower - x) / h, -end), to = std::min((upper - x) / h, end);
  Moments total;
  if (!(from < to)) return total;
  // For the normal kernel, parts below exp(-60) of the rest are left out.
  const real near = from > 0 ? from : to < 0 ? -to : 0;
  if (normal) from = std::max(from, -std::sqrt(near * near + 120));
  if (normal) to = std::min(to, std::sqrt(near * near + 120));
  const real scale = constant(kernel, 1);
  // The length of an interval that is not cut keeps its digits.
  const bool cut = from != (lower - x) / h || to != (upper - x) / h;
  const real length = cut ? to - from : (upper - lower) / h;
  real first = 0, second = 0, before = 0;
  const auto add = [&](real u, real weight, real offset) {
    const real mass = scale * weight * profile(kernel, std::fabs(u));
    total.mass += mass;
    first += mass * (before + offset);
    second += mass * (before + offset) * (before + offset);
  };
  if (from < 0 && to > 0) {
    in_pieces(from, -from, add);
    before = -from;
    in_pieces(0, to, add);
  } else {
    in_pieces(from, length, add);
  }
  if (total.mass == 0) return total;
  total.mean = h * (from + first / total.mass);
  total.variance = h * h * (second - first * first / total.mass) / total.mass;
  return total;
}

/// Share, mean and variance of a variable x in a box, for kernels with moments(j), whose mean is
/// relative to x[j].
template <class F>
Moments combine(const std::vector<double>& w, const double* x, F moments) {
  std::vector<Moments> held;
  Moments all;
  real weight = 0, first = 0;
  for (std::size_t j = 0; j < w.size(); ++j) {
    held.push_back(moments(j));
    held[j].mass *= w[j];
    held[j].mean += static_cast<real>(x[j]) - x[0];
    weight += w[j];
    all.mass += held[j].mass;
    first += held[j].mass * held[j].mean;
  }
  all.mean = first / all.mass;
  for (const Moments& one : held) {
    all.variance += one.mass * (one.variance + (one.mean - all.mean) * (one.mean - all.mean));
  }
  all.variance /= all.mass;
  all.mean += x[0];
  all.mass /= weight;
  return all;
}

inline Moments product_query(kestrel::MatrixView x, const std::vector<double>& w,
                             kestrel::Kernel kernel, const std::vector<double>& h,
                             const std::vector<double>& lower, const std::vector<double>& upper,
                             std::size_t of) {
  return combine(w, x.data + of * x.rows, [&](std::size_t j) {
    Moments all = interval(kernel, x(j, of), h[of], lower[of], upper[of]);
    for (std::size_t k = 0; k < h.size() && all.mass > 0; ++k) {
      if (k != of) all.mass *= interval(kernel, x(j, k), h[k], lower[k], upper[k]).mass;
    }
    return all;
  });
}

/// A mass, and its first two moments about a point.
struct PlainMoments {
  real mass = 0, first = 0, second = 0;
};

/// A normal kernel with the root L of any H at the origin: moments of variable `of` about `centre`
/// within [lower, upper], integrated axis within axis, without the outer 1e-15 of each.
inline PlainMoments normal_nest(const std::vector<double>& root, std::size_t d,
                                const std::vector<real>& lower, const std::vector<real>& upper,
                                std::size_t of, real centre, std::vector<real> u = {}) {
  const std::size_t i = u.size();
  const auto z = [&](std::size_t k) {
    real sum = 0;
    for (std::size_t l = 0; l < u.size() && l <= k; ++l) sum += u[l] * root[l * d + k];
    return sum;
  };
  PlainMoments total;
  const real unit = root[i * d + i], before = z(i);
  const real from = std::max((lower[i] - before) / unit, real(-8));
  const real to = std::min((upper[i] - before) / unit, real(8));
  if (!(from < to)) return total;
  u.push_back(0);
  in_pieces(from, to - from, [&](real at, real weight, real) {
    u[i] = at;
    const real mass = weight * std::exp(-at * at / 2) / std::sqrt(2 * pi);
    const real gap = z(of) - centre;
    PlainMoments inner{1, gap, gap * gap};
    if (i + 1 < d) inner = normal_nest(root, d, lower, upper, of, centre, u);
    total.mass += mass * inner.mass;
    total.first += mass * inner.first;
    total.second += mass * inner.second;
  });
  return total;
}

}  // namespace oracle

#endif
