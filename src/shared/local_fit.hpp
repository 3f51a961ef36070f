// One local constant or local linear fit at one point, from sums over its window.
#ifndef KESTREL_SHARED_LOCAL_FIT_HPP
#define KESTREL_SHARED_LOCAL_FIT_HPP

#include <cmath>
#include <cstddef>

#include "shared/host_device.hpp"

namespace kestrel {

/// A fit at a point e, whose reference value is y (its own, or that of a sample near it), by the
/// other samples in its window. The weights of the samples in the fit are l_j = w_j K_j (constant -
/// slope u_j) / scale.
struct LocalFit {
  bool supported = false;  // there is a sample in the window
  bool exact = false;      // only one other position: a line with e passes through y
  bool unstable = false;   // the sums of a line have lost digits: use centred_line()
  double deviation = 0.0;  // the fit minus y
  double constant = 0.0, slope = 0.0, scale = 1.0;

  /// y minus the fit that includes the point with weight w, and the leverage, the weight of y in
  /// that fit. With q = constant / scale, the value of l_e / w_e for the fit without the point, the
  /// residual shrinks by 1 / (1 + w q) (Sherman & Morrison 1950).
  KESTREL_HD KESTREL_INLINE double residual_in_sample(double w) const {
    return whole() ? 0.0 : -deviation * scale / (scale + w * constant);
  }
  KESTREL_HD KESTREL_INLINE double leverage(double w) const {
    // The constant of a steep line may be infinite.
    return whole() ? 1.0 : 1.0 / (1.0 + scale / (w * constant));
  }

 private:
  KESTREL_HD KESTREL_INLINE bool whole() const { return !supported || exact; }
};

/// Sums over leave-one-out fits of observations with weights w: of w e^2 for those that are
/// supported, of w r^2 for the residuals in the sample, of the leverages, and the number that are
/// not supported.
struct FitTotals {
  double squares = 0, in_sample = 0, trace = 0, unsupported = 0;

  KESTREL_HD KESTREL_INLINE void add(const LocalFit& fit, double w) {
    const double inside = fit.residual_in_sample(w);
    if (fit.supported) {
      squares += w * fit.deviation * fit.deviation;
    } else {
      unsupported += 1;
    }
    in_sample += w * inside * inside;
    trace += fit.leverage(w);
  }
};
constexpr std::size_t kFitTotals = 4;

/// A regression on a device takes fewer observations than this: indices of observations, and of all
/// blocks of them, are unsigned 32-bit numbers.
constexpr std::size_t kRegressionLimit = std::size_t{1} << 31;

// ---- fits from sums about the point ------------------------------------------------------------

/// s_q = sum w_j K(u_j) u_j^q, r_q = sum w_j K(u_j) u_j^q v_j, v_j = y_j - y; s1, r1 and s2 for
/// lines only.
struct FitSums {
  double s0 = 0, r0 = 0, s1 = 0, r1 = 0, s2 = 0;
};

/// How far the sums of a fit may be below their terms: relative errors of a few eps times this are
/// accepted.
constexpr double kMaxLoss = 1e3;

KESTREL_HD KESTREL_INLINE LocalFit constant_fit(const FitSums& sums, double scale) {
  LocalFit fit;
  fit.supported = true;
  fit.deviation = sums.r0 / sums.s0;
  fit.constant = 1 / sums.s0;
  fit.scale = scale;
  return fit;
}

/// Whether the line at a sample is no fit because it passes through its y. `alone`: the sample
/// shares its position with no other; `seen`: the number of positions that its neighbours have.
template <class Count>
KESTREL_HD KESTREL_INLINE bool is_exact(bool alone, Count seen) {
  return alone && seen == 1;
}

/// Whether a fit to neighbours at one place, `mean` bandwidths away, has to be made anew because a
/// trend of this slope was taken off y: it is a constant, which follows no trend. Direct sums do
/// for that, since at most two observations see nothing but one place that is not theirs.
KESTREL_HD KESTREL_INLINE bool misses_trend(double mean, double slope) { return mean * slope != 0; }

/// Turns the constant fit into the line of weighted least squares, in centred form: with mean = s_1
/// / s_0 and spread = s_2 - s_1 mean, the fit at u = 0 is r_0 / s_0 - mean (r_1 - r_0 mean) /
/// spread. The textbook quotient (s_2 r_0 - s_1 r_1) / (s_0 s_2 - s_1^2) (Fan & Gijbels 1996, 3.2)
/// loses half the digits. `terms`: the size of the terms of s_2, in which u is at most `extent`.
KESTREL_HD KESTREL_INLINE void make_line(const FitSums& sums, double mean, double terms,
                                         LocalFit& fit, double extent = 1) {
  const double spread = sums.s2 - sums.s1 * mean;
  // Errors of spread and of r_1 - r_0 mean are a few eps of the terms of their sums; |slope| is at
  // most sqrt(s_0 / spread) times the root of the mean of v^2 with weights w K. In units in which u
  // is at most 1, the mean is larger and the spread, too.
  const double pull = fabs(mean) * sqrt(sums.s0 / fabs(spread)), pulls = pull * pull;
  const double loss = terms / spread * (fabs(mean) / extent + pull + (pulls < 1.0 ? pulls : 1.0));
  if (!(spread > 0 && loss < kMaxLoss)) fit.unstable = true;
  fit.deviation -= mean * (sums.r1 - sums.r0 * mean) / spread;
  fit.constant += mean * mean / spread;
  fit.slope = mean / spread;
}

// ---- fits whose sums have lost their digits ----------------------------------------------------

/// h - |a - b|. Where the edge of a window is near, the rounding error of a - b (Knuth 1998, 4.2.2,
/// theorem B) is not small beside it.
KESTREL_HD KESTREL_INLINE double distance_to_edge(double a, double b, double h) {
  const double d = a - b, back = d - a;
  const double lost = (a - (d - back)) - (b + back);
  return d < 0 ? (h + d) + lost : (h - d) - lost;
}

/// (1 - u^inner)^outer at the distance `edge` = (1 - u) h from the edge of the window.
KESTREL_HD KESTREL_INLINE double power_kernel(int inner, int outer, double edge, double h) {
  // 1 - u^a = t (1 + u + ... + u^(a-1)), t = 1 - u.
  const double t = edge / h;
  double sum = 1.0, value = 1.0;
  for (int k = 1; k < inner; ++k) sum = sum * (1 - t) + 1;
  for (int k = 0; k < outer; ++k) value *= t * sum;
  return value;
}

/// Its derivative by e at u = (x - e) / h.
KESTREL_HD KESTREL_INLINE double power_kernel_slope(int inner, int outer, double u, double edge,
                                                    double h) {
  if (outer == 0 || u == 0) return 0.0;
  double slope = inner * outer / (u < 0 ? -h : h);
  for (int k = 1; k < inner; ++k) slope *= fabs(u);
  return slope * power_kernel(inner, outer - 1, edge, h);
}

/// The logarithm of the Gaussian kernel's value at one distance over that at another.
KESTREL_HD KESTREL_INLINE double gaussian_log_ratio(double distance, double nearest, double h) {
  const double a = (nearest - distance) / h, b = (nearest + distance) / h;
  return 0.5 * a * b;
}

/// The radius of the Gaussian kernel's window. A sample counts if it is within `reach` bandwidths
/// and its u^2 exceeds that of the nearest sample, `nearest` bandwidths away, by at most `cut`.
KESTREL_HD KESTREL_INLINE double gaussian_reach(double nearest, double cut, double reach,
                                                double h) {
  const double counts = h * sqrt(nearest * nearest + cut), all = reach * h;
  return all < counts ? all : counts;
}

/// The distance of sample `own` to its nearest neighbour among the samples [first, end) in sorted
/// order.
template <class Index>
KESTREL_HD KESTREL_INLINE double nearest_neighbour(const double* x, Index first, Index end,
                                                   Index own) {
  const double left = own > first ? x[own] - x[own - 1] : HUGE_VAL;
  const double right = own + 1 < end ? x[own + 1] - x[own] : HUGE_VAL;
  return right < left ? right : left;
}

/// A line from sums about the means of position and value, which lose no digits. Positions are
/// relative to the nearest sample, values to y.
template <class Real>
struct CentredLine {
  Real s0, mean, mean_y, spread, product;

  /// The fit minus y, and its constant, `away` from the mean of the positions.
  KESTREL_HD KESTREL_INLINE Real deviation(Real away) const {
    return mean_y + product / spread * away;
  }
  KESTREL_HD KESTREL_INLINE Real constant(Real away) const { return 1 / s0 + away * away / spread; }
};

/// each(body) calls body(weight, position, value) for the caller's samples; all(v) is the sum of v
/// over the threads that share the samples.
template <class Real, class Each, class All>
KESTREL_HD KESTREL_INLINE CentredLine<Real> centred_line(const Each& each, const All& all) {
  Real s0 = 0, s1 = 0, r0 = 0;
  each([&](Real weight, Real place, Real value) {
    s0 += weight;
    s1 += weight * place;
    r0 += weight * value;
  });
  CentredLine<Real> line;
  line.s0 = all(s0);
  line.mean = all(s1) / line.s0;
  line.mean_y = all(r0) / line.s0;
  const Real mean = line.mean, mean_y = line.mean_y;
  Real spread = 0, product = 0;
  each([&](Real weight, Real place, Real value) {
    const Real off = place - mean;
    spread += weight * off * off;
    product += weight * off * (value - mean_y);
  });
  line.spread = all(spread);
  line.product = all(product);
  return line;
}

}  // namespace kestrel

#endif
