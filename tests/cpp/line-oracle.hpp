// Sums, fits and convolutions on a line as in textbooks, sample by sample. Shares nothing with the
// engines but the names of the kernels.
#ifndef KESTREL_TOOLS_LINE_ORACLE_HPP
#define KESTREL_TOOLS_LINE_ORACLE_HPP

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "common.hpp"
#include "core/kernel/kernel.hpp"
#include "core/sweep/sweep.hpp"
#include "lines.hpp"
#include "oracle.hpp"

namespace lines {

/// Samples with a response, sorted by x (ties in the order given), and their original indices.
struct Data {
  std::vector<double> x, w, y;
  std::vector<std::size_t> given;
};

inline Data sorted(const Line& line, const std::vector<double>& y) {
  Data data;
  data.given.resize(line.x.size());
  std::iota(data.given.begin(), data.given.end(), std::size_t{0});
  std::stable_sort(data.given.begin(), data.given.end(),
                   [&](std::size_t a, std::size_t b) { return line.x[a] < line.x[b]; });
  for (const std::size_t i : data.given) {
    data.x.push_back(line.x[i]);
    data.w.push_back(line.w[i]);
    data.y.push_back(y[i]);
  }
  return data;
}

/// A smooth curve and noise.
inline std::vector<double> response(const Line& line, double noise = 0.3) {
  std::mt19937_64 random(line.x.size());
  std::vector<double> y;
  for (const double x : line.x) y.push_back(std::sin(x) + noise * shapes::normal(random));
  return y;
}

/// Every kind, with outliers even in few samples; sizes near those of vectors and of blocks of
/// sums.
inline std::vector<Line> of_every_kind_and_size(std::size_t n) {
  std::vector<Line> all = of_every_kind(n);
  std::size_t next = 0;
  all.push_back(make("far_outliers", n, [next](std::mt19937_64& random) mutable {
    const double value = std::tan(3.141592653589793 * (shapes::uniform(random) - 0.5));
    return ++next % 40 == 0 ? 1e6 * value : value;
  }));
  for (const std::size_t size : {1, 2, 3, 7, 8, 9, 255, 256, 257, 513}) {
    all.push_back(make("n" + std::to_string(size), size, shapes::normal));
  }
  return all;
}

/// Bandwidths from a hundredth of a gap to far beyond the range; a gap, the distance of two
/// samples, and the next number above each, for which samples lie on the edge of windows.
inline std::vector<double> bandwidths_and_edges(const Line& line) {
  std::vector<double> h = bandwidths(line, 4), x = line.x;
  std::sort(x.begin(), x.end());
  h.push_back(1e3 * (x.back() - x.front()) + 1);
  const std::size_t middle = x.size() / 2, quarter = x.size() / 4;
  const auto next = std::upper_bound(x.begin(), x.end(), x[middle]);
  if (next != x.end()) h.push_back(*next - x[middle]);
  if (x[middle] > x[quarter]) h.push_back(x[middle] - x[quarter]);
  for (std::size_t k = 5, end = h.size(); k < end; ++k) h.push_back(std::nextafter(h[k], HUGE_VAL));
  return h;
}

/// Positions of samples, positions near their windows' edges, duplicates, and far ones.
inline std::vector<double> points_about(const Line& line, double h, std::size_t m) {
  std::mt19937_64 random(m);
  const std::size_t n = line.x.size();
  std::vector<double> points;
  for (std::size_t i = 0; points.size() < m; ++i) {
    const double x = line.x[random() % n];
    const double choices[] = {x, x + h, x - h, x + h * shapes::uniform(random),
                              x + 0.9 * (line.x[random() % n] - x)};
    points.push_back(choices[i % 5]);
    if (i % 7 == 0) points.push_back(points.back());
  }
  const auto range = std::minmax_element(line.x.begin(), line.x.end());
  points[0] = *range.second + 3 * h;
  points[1] = *range.first - 3 * h;
  return points;
}

inline kestrel::Span<const double> span(const std::vector<double>& v) {
  return {v.data(), v.size()};
}

}  // namespace lines

namespace oracle {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// Whether a sample counts, decided by the rounded difference.
inline bool inside(kestrel::Kernel kernel, double e, double x, double h) {
  const double distance = std::fabs(e - x);
  if (kernel == kestrel::Kernel::uniform) return distance <= h;
  return distance < (kernel == kestrel::Kernel::gaussian ? 38 * h : h);
}

/// 1 - (1 - t)^inner, by positive terms.
inline real left_of_one(int inner, real t) {
  real sum = 0;
  for (int k = 0; k < inner; ++k) sum += integer_power(1 - t, k);
  return t * sum;
}

/// K(u) with K(0) = 1 at a sample inside the window, computed from h - |e - x|, which keeps its
/// digits at the edge of the window.
inline real value(kestrel::Kernel kernel, double e, double x, double h) {
  const real distance = std::fabs(static_cast<real>(e) - x), t = (h - distance) / h;
  if (kernel == kestrel::Kernel::gaussian) {
    return std::exp(-(distance / h) * (distance / h) / 2);
  }
  const Exponents of = exponents(kernel);
  return integer_power(left_of_one(of.inner, t), of.outer);
}

/// Sums over the window of one point of K^power; u and v are the differences of x (over h) and y.
struct WindowSums {
  std::size_t first = 0, end = 0;
  real s[3] = {}, r[3] = {};  // w K^power u^q and w K^power u^q v
  real size[3] = {};          // w |u|^q
  real slack = 0;             // change of s[0] per change of every |u|, in units of |u|
  real farthest = 0;          // maximum |v| within two bandwidths
};

/// own: the sample to leave out, or n.
inline WindowSums window_sums(const lines::Data& data, double e, double y, std::size_t own,
                              kestrel::Kernel kernel, double h, int power) {
  WindowSums sums;
  sums.end = data.x.size();
  const Exponents of = exponents(kernel);
  const int m = power * of.outer;
  for (std::size_t j = 0; j < data.x.size(); ++j) {
    const double x = data.x[j];
    const real v = static_cast<real>(data.y[j]) - y;
    if (std::fabs(e - x) <= 2 * h) sums.farthest = std::max(sums.farthest, std::fabs(v));
    if (!inside(kernel, e, x, h)) {
      if (x < e) ++sums.first;
      if (x > e) --sums.end;
      continue;
    }
    if (j == own) continue;
    const real u = (static_cast<real>(x) - e) / h, t = 1 - std::fabs(u), w = data.w[j];
    real term = w * integer_power(value(kernel, e, x, h), power), size = w;
    if (m > 0) {
      const real derivative = of.inner * integer_power(1 - t, of.inner - 1);
      sums.slack += w * m * integer_power(left_of_one(of.inner, t), m - 1) * derivative * (1 - t);
    }
    for (int q = 0; q < 3; ++q) {
      sums.s[q] += term;
      sums.r[q] += term * v;
      sums.size[q] += size;
      term *= u;
      size *= std::fabs(u);
    }
  }
  return sums;
}

/// The rule of n nodes on [-1, 1] that is exact for polynomials up to degree 2 n - 1 (Gauss and
/// Legendre): zeros of P_n by Newton's method, started at cosines close to them.
struct Rule {
  std::vector<real> node, weight;
};
inline Rule legendre_rule(int n) {
  Rule rule;
  for (int k = 0; k < n; ++k) {
    real x = std::cos(pi * (k + 0.75L) / (n + 0.5L)), slope = 1;
    for (int step = 0; step < 8; ++step) {
      real before = 1, now = x;
      for (int i = 2; i <= n; ++i) {
        const real next = ((2 * i - 1) * x * now - (i - 1) * before) / i;
        before = now;
        now = next;
      }
      slope = n * (before - x * now) / (1 - x * x);
      x -= now / slope;
    }
    rule.node.push_back(x);
    rule.weight.push_back(2 / ((1 - x * x) * slope * slope));
  }
  return rule;
}

/// int K(v) K(u - v) dv, 0 <= u < 2, for kernels of degree 11 at most: K(0) = 1, polynomials
/// between the kinks at v = 0 and v = u.
inline real convolution_integral(kestrel::Kernel kernel, real u) {
  static const Rule rule = legendre_rule(12);
  std::vector<real> kinks{u - 1};
  for (const real kink : {0.0L, u}) {
    if (kink > u - 1 && kink < 1) kinks.push_back(kink);
  }
  kinks.push_back(1);
  real sum = 0;
  for (std::size_t k = 1; k < kinks.size(); ++k) {
    const real middle = (kinks[k] + kinks[k - 1]) / 2, half = (kinks[k] - kinks[k - 1]) / 2;
    for (std::size_t p = 0; p < rule.node.size(); ++p) {
      const real v = middle + half * rule.node[p];
      sum +=
          half * rule.weight[p] * profile(kernel, std::fabs(v)) * profile(kernel, std::fabs(u - v));
    }
  }
  return sum;
}

/// (K*K)(u), K normalised, at 0 <= u < 2; t = 2 - u. Derived by hand, with positive terms only, or
/// by quadrature.
inline real convolution(kestrel::Kernel kernel, real u, real t) {
  const real t2 = t * t, t3 = t2 * t, u2 = u * u, u3 = u2 * u;
  switch (kernel) {
    case kestrel::Kernel::uniform: return t / 4;
    case kestrel::Kernel::triangular: return u < 1 ? (4 - 6 * u2 + 3 * u3) / 6 : t3 / 6;
    case kestrel::Kernel::epanechnikov: return 3 * t3 * (u2 + 6 * u + 4) / 160;
    case kestrel::Kernel::biweight:
      return 5 * t3 * t2 * (u2 * u2 + 10 * u3 + 36 * u2 + 40 * u + 16) / 3584;
    case kestrel::Kernel::triweight:
      return 35 * t3 * t3 * t *
             (5 * u3 * u3 + 70 * u3 * u2 + 404 * u2 * u2 + 1176 * u3 + 1616 * u2 + 1120 * u + 320) /
             1757184;
    default: return integer_power(constant(kernel, 1), 2) * convolution_integral(kernel, u);
  }
}

/// Weighted least squares at a point, centred about the sample with the largest weight.
struct Fit {
  std::size_t places = 0;    // distinct positions of the samples used
  real mean = 0;             // minus the reference
  std::vector<real> weight;  // of every sample in the fit
  real edge = 0;             // sum |weight| times the relative change of K by a rounding of |e - x|
};

inline Fit fit_at(const lines::Data& data, double e, double reference, std::size_t own,
                  kestrel::Kernel kernel, double h, bool local_linear) {
  Fit fit;
  const std::size_t n = data.x.size();
  std::vector<real> k(n, 0);
  std::size_t anchor = n, last = n;
  real s0 = 0, s1 = 0, spread = 0;
  for (std::size_t j = 0; j < n; ++j) {
    if (j == own || !inside(kernel, e, data.x[j], h)) continue;
    if (last == n || data.x[j] > data.x[last]) ++fit.places;
    last = j;
    k[j] = data.w[j] * value(kernel, e, data.x[j], h);
    s0 += k[j];
    if (anchor == n || k[j] > k[anchor]) anchor = j;
  }
  fit.weight.assign(n, 0);
  if (fit.places == 0) return fit;
  const auto place = [&](std::size_t j) { return static_cast<real>(data.x[j]) - data.x[anchor]; };
  for (std::size_t j = 0; j < n; ++j) s1 += k[j] * place(j);
  const real centre = s1 / s0, away = static_cast<real>(e) - data.x[anchor] - centre;
  for (std::size_t j = 0; j < n; ++j) {
    spread += k[j] * (place(j) - centre) * (place(j) - centre);
  }
  const bool line = local_linear && fit.places >= 2;
  for (std::size_t j = 0; j < n; ++j) {
    fit.weight[j] = k[j] / s0;
    if (line) fit.weight[j] += k[j] * (place(j) - centre) / spread * away;
    fit.mean += fit.weight[j] * (static_cast<real>(data.y[j]) - reference);
    const real t = 1 - std::fabs(static_cast<real>(e) - data.x[j]) / h;
    if (k[j] > 0 && kernel != kestrel::Kernel::gaussian && kernel != kestrel::Kernel::uniform) {
      fit.edge += std::fabs(fit.weight[j]) * 4 * kEpsilon / t;
    }
  }
  return fit;
}

/// At every observation, in sorted order: leave-one-out residual (NaN without neighbour), residual
/// in the sample and leverage; and their sums.
struct Residuals {
  std::vector<real> leave_one_out, in_sample, leverage;
  real squares = 0, in_sample_squares = 0, trace = 0;
  real rounding = 0;  // of the squares, if each term of a fit is rounded a few times
  std::size_t unsupported = 0;
};

inline Residuals residuals(const lines::Data& data, kestrel::Kernel kernel, double h,
                           bool local_linear) {
  Residuals all;
  const std::size_t n = data.x.size();
  for (std::size_t i = 0; i < n; ++i) {
    const auto fit = [&](std::size_t own) {
      return fit_at(data, data.x[i], data.y[i], own, kernel, h, local_linear);
    };
    const Fit without = fit(i), with = fit(n);
    const real e = -without.mean;
    all.leave_one_out.push_back(without.places > 0 ? e : std::nan(""));
    all.in_sample.push_back(-with.mean);
    all.leverage.push_back(with.weight[i]);
    all.in_sample_squares += data.w[i] * all.in_sample[i] * all.in_sample[i];
    all.trace += with.weight[i];
    if (without.places == 0) {
      ++all.unsupported;
      continue;
    }
    all.squares += data.w[i] * e * e;
    real terms = 0;
    for (std::size_t j = 0; j < n; ++j) {
      terms += std::fabs(without.weight[j] * (static_cast<real>(data.y[j]) - data.y[i]));
    }
    // The weights of a line are sums of two terms.
    const real roundings = local_linear ? 32 : 16;
    all.rounding += roundings * kEpsilon * data.w[i] * 2 * std::fabs(e) * terms;
  }
  return all;
}

}  // namespace oracle

#endif
