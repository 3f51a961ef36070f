// Local constant and local linear fits at the observations, each left out of its own: twin of
// core/regression/local_fit.cpp.
#ifndef KESTREL_CUDA_REGRESSION_FIT_CUH
#define KESTREL_CUDA_REGRESSION_FIT_CUH

#include "cuda/regression/powers.cuh"
#include "shared/kernel.hpp"

namespace kestrel_cuda {

/// How far below its terms a line's spread may be; see core/regression/local_fit.cpp.
constexpr double kMaxLoss = 1e3;

/// With u_j = (x_j - x) / h: s_q = sum w K u^q, r_q = sum w K u^q (y_j - y), and `size`, the sum of
/// w K |u|.
struct LocalSums {
  double s0 = 0, r0 = 0, s1 = 0, r1 = 0, s2 = 0, size = 0;
};

/// See core/regression/local_fit.hpp.
struct Fit {
  bool supported = false, exact = false, unstable = false;
  double deviation = 0, constant = 0, scale = 1;
};

/// What fits add up to.
struct Totals {
  double squares = 0, in_sample = 0, trace = 0, unsupported = 0;

  KESTREL_DEVICE void add(const Fit& fit, double w) {
    const bool whole = !fit.supported || fit.exact;
    const double room = fit.scale + w * fit.constant;
    const double inside = whole ? 0.0 : fit.deviation * fit.scale / room;
    if (fit.supported)
      squares = fma(w * fit.deviation, fit.deviation, squares);
    else
      unsupported += 1.0;
    in_sample = fma(w * inside, inside, in_sample);
    trace += whole ? 1.0 : 1.0 / (1.0 + fit.scale / (w * fit.constant));
  }
};

// ---- the kernels: (1 - |u|^inner)^outer, and the Gaussian one

/// A kernel that fits are made with.
template <kestrel::KernelForm kForm, int kInnerPower, int kOuterPower>
struct FitKernel {
  static constexpr bool kGaussian = kForm == kestrel::KernelForm::gaussian;
  static constexpr int kInner = kInnerPower, kOuter = kOuterPower;
  static constexpr int kDegree = kInner * kOuter;
  static constexpr bool kClosed = !kGaussian && kOuter == 0;  // the edge belongs to the support
};
using GaussianFit = FitKernel<kestrel::KernelForm::gaussian, 0, 0>;

template <int kSize>
struct Coefficients {
  double c[kSize];
};

/// a b up to the power kSize - 1.
template <int kSize>
KESTREL_CONSTANT Coefficients<kSize> times(const Coefficients<kSize>& a,
                                           const Coefficients<kSize>& b) {
  Coefficients<kSize> product{};
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; i + j < kSize; ++j) product.c[i + j] += a.c[i] * b.c[j];
  }
  return product;
}

/// K(u) u^q, K(0) = 1, in v = 1 - u or in u.
template <class K>
KESTREL_CONSTANT Coefficients<K::kDegree + 3> kernel_times(int q, bool edge) {
  Coefficients<K::kDegree + 3> u{}, p{}, left{};
  u.c[0] = edge ? 1.0 : 0.0;
  u.c[1] = edge ? -1.0 : 1.0;
  left.c[0] = p.c[0] = 1.0;
  for (int k = 0; k < K::kInner; ++k) left = times(left, u);
  for (double& c : left.c) c = -c;
  left.c[0] += 1.0;  // 1 - u^inner
  for (int k = 0; k < K::kOuter; ++k) p = times(p, left);
  for (int k = 0; k < q; ++k) p = times(p, u);
  return p;
}

/// Adds one part of a window; `scale`: 1 / (h unit).
template <class K, bool kLinear, Coordinate kFrom, bool kLeft>
KESTREL_DEVICE void add_sums(const RegressionSample& sample, const Centre& centre, double scale,
                             unsigned begin, unsigned end, LocalSums& to) {
  constexpr int kDegree = K::kDegree, kPowers = kDegree + (kLinear ? 2 : 0);
  constexpr bool kEdge = kFrom == Coordinate::edge;
  constexpr double kSide = kLeft ? -1.0 : 1.0;
  if (begin >= end) return;
  Powers<kPowers> sum;
  sum.clear();
  add_part<kPowers, kFrom, kLeft>(sample, centre, begin, end, sum);
  sum.scale(scale);
  constexpr Coefficients<kDegree + 3> k0 = kernel_times<K>(0, kEdge);
  KESTREL_UNROLL
  for (int q = 0; q <= kDegree; ++q) {
    to.s0 = fma(k0.c[q], sum.m[q], to.s0);
    to.r0 = fma(k0.c[q], sum.r[q], to.r0);
  }
  if constexpr (kLinear) {
    constexpr Coefficients<kDegree + 3> k1 = kernel_times<K>(1, kEdge);
    constexpr Coefficients<kDegree + 3> k2 = kernel_times<K>(2, kEdge);
    double s1 = 0.0, r1 = 0.0;
    KESTREL_UNROLL
    for (int q = 0; q <= kDegree + 1; ++q) {
      s1 = fma(k1.c[q], sum.m[q], s1);
      r1 = fma(k1.c[q], sum.r[q], r1);
    }
    KESTREL_UNROLL
    for (int q = 0; q <= kDegree + 2; ++q) to.s2 = fma(k2.c[q], sum.m[q], to.s2);
    to.s1 = fma(kSide, s1, to.s1);
    to.r1 = fma(kSide, r1, to.r1);
    to.size += s1;
  }
}

// ---- windows

/// The first j in [begin, end) for which `inside` is true; it is false before some place and true
/// from there on.
template <class Inside>
KESTREL_DEVICE unsigned first_where(unsigned begin, unsigned end, const Inside& inside) {
  KESTREL_ROLLED
  while (begin < end) {
    const unsigned middle = begin + (end - begin) / 2;
    if (inside(middle)) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

/// Samples [first, end) in the window of observation i, itself among them: those at distances below
/// `reach`, or up to it where `closed`. Distances as the core compares them.
struct Window {
  unsigned first, end;
};

KESTREL_DEVICE Window window_of(const RegressionSample& sample, unsigned i, double reach,
                                bool closed) {
  const double* x = sample.x;
  const double at = x[i];
  const auto within = [&](double distance) {
    return closed ? distance <= reach : distance < reach;
  };
  return {first_where(0, i, [&](unsigned j) { return within(at - x[j]); }),
          first_where(i + 1, sample.n, [&](unsigned j) { return !within(x[j] - at); })};
}

/// How many different places the neighbours of observation i have, as far as 2; `alone`: i shares
/// its place with none.
KESTREL_DEVICE int places(const RegressionSample& sample, const Window& window, unsigned i,
                          bool* alone) {
  const double* x = sample.x;
  *alone = (i == window.first || x[i - 1] != x[i]) && (i + 1 == window.end || x[i + 1] != x[i]);
  if (window.end - window.first < 2) return 0;
  const double low = x[window.first == i ? i + 1 : window.first];
  const double high = x[window.end - 1 == i ? i - 1 : window.end - 1];
  return low == high ? 1 : 2;
}

// ---- fits

/// The fit that the sums make, the neighbours having `seen` places.
KESTREL_DEVICE Fit fit_from(const LocalSums& sums, bool linear, int seen, double scale) {
  Fit fit;
  if (seen == 0) return fit;
  fit.supported = true;
  fit.deviation = sums.r0 / sums.s0;
  fit.constant = 1 / sums.s0;
  fit.scale = scale;
  if (!linear || seen < 2) return fit;
  const double mean = sums.s1 / sums.s0, spread = sums.s2 - sums.s1 * mean;
  // Every sum is as good as its terms; those of the spread are s_2 and its share of the mean.
  const double terms = (sums.s2 + sums.size * fabs(mean)) / spread;
  const double pull = fabs(mean) * sqrt(sums.s0 / fabs(spread));
  const double loss = terms * (fabs(mean) + pull + fmin(1.0, pull * pull));
  fit.unstable = !(spread > 0 && loss < kMaxLoss);
  fit.deviation -= mean * (sums.r1 - sums.r0 * mean) / spread;
  fit.constant += mean * mean / spread;
  return fit;
}

/// At observation i in its window, by a polynomial kernel.
template <class K, bool kLinear>
KESTREL_DEVICE Fit polynomial_fit(const RegressionSample& sample, const Window& window, unsigned i,
                                  double h) {
  const Centre centre{sample.x[i], sample.y[i], h};
  const double scale = 1.0 / (h * sample.unit);
  LocalSums sums;
  bool alone = true;
  int seen = window.end - window.first > 1 ? 1 : 0;
  if constexpr (kLinear) {
    // Powers of 1 - u in the outer half of the window, of u in the inner one: either way K u^q is
    // not far below its terms.
    const double* x = sample.x;
    const unsigned left =
        first_where(window.first, i, [&](unsigned j) { return centre.x - x[j] < 0.5 * h; });
    const unsigned right =
        first_where(i + 1, window.end, [&](unsigned j) { return !(x[j] - centre.x < 0.5 * h); });
    constexpr Coordinate kEdge = Coordinate::edge, kNear = Coordinate::distance;
    add_sums<K, true, kEdge, true>(sample, centre, scale, window.first, left, sums);
    add_sums<K, true, kNear, true>(sample, centre, scale, left, i, sums);
    add_sums<K, true, kNear, false>(sample, centre, scale, i + 1, right, sums);
    add_sums<K, true, kEdge, false>(sample, centre, scale, right, window.end, sums);
    seen = places(sample, window, i, &alone);
  } else {
    constexpr Coordinate kEdge = Coordinate::edge;
    add_sums<K, false, kEdge, true>(sample, centre, scale, window.first, i, sums);
    add_sums<K, false, kEdge, false>(sample, centre, scale, i + 1, window.end, sums);
  }
  Fit fit = fit_from(sums, kLinear, seen, 1.0);
  fit.exact = kLinear && alone && seen == 1;
  return fit;
}

// ---- lines whose sums have lost digits: once more, about the mean

/// The Gaussian kernel's values are taken times exp(kLift) here, so that those of 38 bandwidths are
/// no denormal numbers.
constexpr double kLift = 300.0;

/// K with K(0) = 1; the Gaussian one divided by its value at distance `nearest`, and lifted.
template <class K>
KESTREL_DEVICE double kernel_value(double distance, double nearest, double h) {
  if constexpr (K::kGaussian) {
    const double a = (nearest - distance) / h, b = (nearest + distance) / h;
    return exp(0.5 * a * b + kLift);
  }
  // 1 - r^a = t (1 + r + ... + r^(a-1)), t = 1 - r.
  const double t = (h - distance) / h;
  double sum = 1.0, value = 1.0;
  for (int k = 1; k < K::kInner; ++k) sum = sum * (1 - t) + 1;
  for (int k = 0; k < K::kOuter; ++k) value *= t * sum;
  return value;
}

KESTREL_DEVICE double nearest_distance(const RegressionSample& sample, const Window& window,
                                       unsigned i) {
  const double* x = sample.x;
  const double left = i > window.first ? x[i] - x[i - 1] : HUGE_VAL;
  return fmin(left, i + 1 < window.end ? x[i + 1] - x[i] : HUGE_VAL);
}

/// The line at observation i whose neighbours have two places or more, by `lanes` threads of which
/// this is number `lane`; all(v) is the sum of v over them. O(samples in the window / lanes).
template <class K, class All>
KESTREL_DEVICE Fit direct_fit(const RegressionSample& sample, const Window& window, unsigned i,
                              double h, unsigned lane, unsigned lanes, const All& all) {
  const double *x = sample.x, *y = sample.y;
  const double min = nearest_distance(sample, window, i);
  const double origin = i > window.first && x[i] - x[i - 1] == min ? x[i - 1] : x[i + 1];
  const auto each = [&](const auto& body) {
    KESTREL_ROLLED
    for (unsigned j = window.first + lane; j < window.end; j += lanes) {
      if (j == i) continue;
      const double k = kernel_value<K>(fabs(x[j] - x[i]), min, h);
      body(sample.weight(j) * k, (x[j] - origin) * sample.unit, y[j] - y[i]);
    }
  };
  double s0 = 0, s1 = 0, r0 = 0;
  each([&](double weight, double z, double d) {
    s0 += weight;
    s1 = fma(weight, z, s1);
    r0 = fma(weight, d, r0);
  });
  s0 = all(s0);
  const double mean = all(s1) / s0, mean_d = all(r0) / s0;
  double spread = 0, product = 0;
  each([&](double weight, double z, double d) {
    const double off = z - mean;
    spread = fma(weight * off, off, spread);
    product = fma(weight * off, d - mean_d, product);
  });
  spread = all(spread);
  const double away = (x[i] - origin) * sample.unit - mean;
  Fit fit;
  fit.supported = true;
  fit.deviation = mean_d + all(product) / spread * away;
  fit.constant = 1 / s0 + away * away / spread;
  if constexpr (K::kGaussian) {
    fit.constant *= exp(kLift);
    fit.scale = exp(-0.5 * (min / h) * (min / h));
  }
  return fit;
}

}  // namespace kestrel_cuda

#endif
