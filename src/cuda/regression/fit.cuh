// Local constant and local linear fits at the observations, each without its own observation.
#ifndef KESTREL_CUDA_REGRESSION_FIT_CUH
#define KESTREL_CUDA_REGRESSION_FIT_CUH

#include "cuda/regression/powers.cuh"
#include "shared/kernel.hpp"
#include "shared/local_fit.hpp"
#include "shared/local_trend.hpp"

namespace kestrel_cuda {

using kestrel::first_where;
using kestrel::FitTotals;
using kestrel::LocalFit;
using kestrel::nearest_neighbour;

/// With u_j = (x_j - x) / h; `size`: the sum of w K |u|.
struct LocalSums : kestrel::FitSums {
  double size = 0;
};

// ---- the kernels: (1 - |u|^inner)^outer, and the Gaussian one

/// A kernel of fits.
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

/// The product a b up to the power kSize - 1.
template <int kSize>
KESTREL_HD constexpr Coefficients<kSize> times(const Coefficients<kSize>& a,
                                               const Coefficients<kSize>& b) {
  Coefficients<kSize> product{};
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; i + j < kSize; ++j) product.c[i + j] += a.c[i] * b.c[j];
  }
  return product;
}

/// The coefficients of K(u) u^q, K(0) = 1, in powers of v = 1 - u (edge) or of u.
template <class K>
KESTREL_HD constexpr Coefficients<K::kDegree + 3> kernel_times(int q, bool edge) {
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
KESTREL_HD KESTREL_INLINE void add_sums(const RegressionSample& sample, const Centre& centre,
                                        double scale, unsigned begin, unsigned end, LocalSums& to) {
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

/// Samples [first, end) in the window of observation i, itself among them: those at distances below
/// `reach`, or up to it if `closed`. Distances are compared as in the core.
struct Window {
  unsigned first, end;
};

KESTREL_HD KESTREL_INLINE Window window_of(const RegressionSample& sample, unsigned i, double reach,
                                           bool closed) {
  const double* x = sample.x;
  const double at = x[i];
  const auto within = [&](double distance) {
    return closed ? distance <= reach : distance < reach;
  };
  return {first_where(0u, i, [&](unsigned j) { return within(at - x[j]); }),
          first_where(i + 1, sample.n, [&](unsigned j) { return !within(x[j] - at); })};
}

/// How many distinct positions the neighbours of observation i have, counted up to 2; `alone`: i
/// shares its position with none of them.
KESTREL_HD KESTREL_INLINE int places(const RegressionSample& sample, const Window& window,
                                     unsigned i, bool* alone) {
  const double* x = sample.x;
  *alone = (i == window.first || x[i - 1] != x[i]) && (i + 1 == window.end || x[i + 1] != x[i]);
  if (window.end - window.first < 2) return 0;
  const double low = x[window.first == i ? i + 1 : window.first];
  const double high = x[window.end - 1 == i ? i - 1 : window.end - 1];
  return low == high ? 1 : 2;
}

// ---- fits

/// The fit from the sums, of y without the trend of this slope, if the neighbours have `seen`
/// distinct positions.
KESTREL_HD KESTREL_INLINE LocalFit fit_from(const LocalSums& sums, bool linear, int seen,
                                            double scale, double slope) {
  if (seen == 0) return LocalFit();
  LocalFit fit = constant_fit(sums, scale);
  if (!linear) return fit;
  const double mean = sums.s1 / sums.s0;
  if (seen < 2) {
    fit.unstable = kestrel::misses_trend(mean, slope);
    return fit;
  }
  // Every sum is as accurate as its terms; those of the spread are s_2 and size |mean|.
  make_line(sums, mean, sums.s2 + sums.size * fabs(mean), fit);
  return fit;
}

/// The fit at observation i in its window, by a polynomial kernel.
template <class K, bool kLinear>
KESTREL_HD KESTREL_INLINE LocalFit polynomial_fit(const RegressionSample& sample,
                                                  const Window& window, unsigned i, double h) {
  const Centre centre{sample.x[i], sample.y[i], h};
  const double scale = 1.0 / (h * sample.unit);
  LocalSums sums;
  bool alone = true;
  int seen = window.end - window.first > 1 ? 1 : 0;
  if constexpr (kLinear) {
    // Powers of 1 - u in the outer half of the window, of u in the inner half: in both, K u^q is
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
  LocalFit fit = fit_from(sums, kLinear, seen, 1.0, sample.slope);
  fit.exact = kLinear && kestrel::is_exact(alone, seen);
  return fit;
}

// ---- lines whose sums have lost digits: once more, about the mean

/// The Gaussian kernel's values are multiplied by exp(kLift) here, so that those at 38 bandwidths
/// are not denormal.
constexpr double kLift = 300.0;

/// K((a - b) / h) with K(0) = 1; the Gaussian one divided by its value at distance `nearest`, times
/// exp(kLift).
template <class K>
KESTREL_HD KESTREL_INLINE double kernel_value(double a, double b, double nearest, double h) {
  if constexpr (K::kGaussian) {
    return exp(kestrel::gaussian_log_ratio(fabs(a - b), nearest, h) + kLift);
  } else {
    return kestrel::power_kernel(K::kInner, K::kOuter, kestrel::distance_to_edge(a, b, h), h);
  }
}

/// The fit at observation i, which has neighbours, by `lanes` threads, of which this is number
/// `lane`; all(v) is the sum of v over them. O(samples in the window / lanes).
template <class K, class All>
KESTREL_HD KESTREL_INLINE LocalFit direct_fit(const RegressionSample& sample, const Window& window,
                                              unsigned i, double h, unsigned lane, unsigned lanes,
                                              const All& all) {
  const double *x = sample.x, *y = sample.y;
  const double min = nearest_neighbour(x, window.first, window.end, i);
  const double origin = i > window.first && x[i] - x[i - 1] == min ? x[i - 1] : x[i + 1];
  bool alone = true;
  const int seen = places(sample, window, i, &alone);
  const bool is_line = seen > 1;
  const auto each = [&](const auto& body) {
    KESTREL_ROLLED
    for (unsigned j = window.first + lane; j < window.end; j += lanes) {
      if (j == i) continue;
      const double k = kernel_value<K>(x[j], x[i], min, h);
      const double d = is_line ? sample.above(x[j], y[j], x[i], y[i]) : y[j] - y[i];
      body(sample.weight(j) * k, (x[j] - origin) * sample.unit, d);
    }
  };
  auto line = kestrel::centred_line<double>(each, all);
  const double away = is_line ? (x[i] - origin) * sample.unit - line.mean : 0.0;
  if (!is_line) line.spread = 1.0;
  LocalFit fit;
  fit.supported = true;
  fit.exact = kestrel::is_exact(alone, seen);
  fit.deviation = line.deviation(away);
  fit.constant = line.constant(away);
  if constexpr (K::kGaussian) {
    fit.constant *= exp(kLift);
    fit.scale = exp(kestrel::gaussian_log_ratio(min, 0.0, h));
  }
  return fit;
}

}  // namespace kestrel_cuda

#endif
