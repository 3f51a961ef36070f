// The trend of y over distances of about a bandwidth. Local linear fits take it off y.
#ifndef KESTREL_SHARED_LOCAL_TREND_HPP
#define KESTREL_SHARED_LOCAL_TREND_HPP

#include <cmath>
#include <cstddef>

#include "shared/host_device.hpp"

namespace kestrel {

/// The first j in [begin, end) for which `inside` is true; it must be false up to some index and
/// true from there on.
template <class Index, class Inside>
KESTREL_HD KESTREL_INLINE Index first_where(Index begin, Index end, const Inside& inside) {
  KESTREL_ROLLED
  while (begin < end) {
    const Index middle = begin + (end - begin) / 2;
    if (inside(middle)) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

/// The trend of y is that of least squares through this many pairs of observations, or one for each
/// observation if there are fewer. Pair k begins with observation k n / pairs, in sorted order. Its
/// other end is the first observation at least h away or, if that is more than 2 h away, the last
/// one that is nearer.
constexpr unsigned kTrendPairs = 256;
/// A trend counts if it explains this share of the squared differences. Where it explains less,
/// sums of y itself lose less than a digit; and at other bandwidths a trend that is nothing but
/// noise would cost them.
constexpr double kTrendShare = 0.99;

/// Sums over pairs, with dx in bandwidths: of weight dx dy, weight dx^2 and weight dy^2.
struct TrendSums {
  double product = 0.0, spread = 0.0, squares = 0.0;

  KESTREL_HD KESTREL_INLINE void add(const TrendSums& other) {
    product += other.product;
    spread += other.spread;
    squares += other.squares;
  }
};

/// The pair that begins with observation i of n, which are sorted by x; w null: all are 1. O(log
/// n).
template <class Index>
KESTREL_HD KESTREL_INLINE TrendSums trend_pair(const double* x, const double* y, const double* w,
                                               Index n, Index i, double h) {
  const Index end = first_where(i + 1, n, [&](Index j) { return x[j] - x[i] >= h; });
  const Index j = end < n && x[end] - x[i] < 2 * h ? end : end - 1;
  const double dx = (x[j] - x[i]) / h;
  // The inverse of the variance of a difference, if weights are those of variances.
  const double weight = w == nullptr ? 1.0 : 1 / (1 / w[i] + 1 / w[j]);
  const double dy = y[j] - y[i];
  return {weight * dx * dy, weight * dx * dx, weight * dy * dy};
}

/// The trend at bandwidth h by the sums over all pairs, in the units of y / x; 0 where there is
/// none.
KESTREL_HD KESTREL_INLINE double trend_of(const TrendSums& sums, double h) {
  const double trend = sums.product / sums.spread;
  const bool counts = trend * sums.product > kTrendShare * sums.squares;
  return counts && fabs(trend / h) < HUGE_VAL ? trend / h : 0.0;
}

/// The same by one thread, from n observations.
template <class Index>
double local_trend(const double* x, const double* y, const double* w, Index n, double h) {
  const std::size_t pairs = n < kTrendPairs ? n : kTrendPairs;
  TrendSums all;
  for (std::size_t k = 0; k < pairs; ++k) {
    all.add(trend_pair(x, y, w, n, static_cast<Index>(k * n / pairs), h));
  }
  return trend_of(all, h);
}

}  // namespace kestrel

#endif
