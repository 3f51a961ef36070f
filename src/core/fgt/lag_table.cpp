#include "core/fgt/lag_table.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/parallel.hpp"
#include "core/base/summation.hpp"

namespace kestrel {

namespace {

/// Rounding error of a sum of that many products, relative to the sum of their absolute values:
/// half a unit in the last place each, with random signs.
constexpr double kRounding = 5e-17;

/// Cells of one work item.
constexpr std::size_t kCellsOfLagItem = 256;

/// rho^k phi^(k)(u), k < count, at one lag and at its neighbours.
class DerivativesByLag {
 public:
  DerivativesByLag(double rho, int count) : rho_(rho), count_(count) {
    scaled_derivatives(0.0, rho_, count_, next_);
  }

  /// Goes on to the next lag; the first call goes to lag 0.
  void advance(int lag) {
    std::copy(next_, next_ + count_, now_);
    scaled_derivatives((lag + 1) * rho_, rho_, count_, next_);
  }
  const double* now() const { return now_; }
  const double* next() const { return next_; }

 private:
  double rho_;
  int count_;
  double now_[kMaxMoments + kHighestPairOrder], next_[kMaxMoments + kHighestPairOrder];
};

/// A sum of products, and the sum of their absolute values.
struct SizedSum {
  double sum = 0, size = 0;
};

SizedSum taylor_sum(const double* derivative, const double* d, int moments) {
  SizedSum of_lag;
  for (int m = 0; m < moments; ++m) {
    const double term = derivative[m] * d[m];
    of_lag.sum += term;
    of_lag.size += std::fabs(term);
  }
  return of_lag;
}

/// A lower bound on |phi^(r)| between lags l - 1 and l + 1, given its values at these and at l;
/// zero if it has a zero there. Its zeros are farther apart than two cells. Where it has one sign,
/// its minimum is at an end.
double least_about(double before, double now, double next) {
  if (!(before * now > 0 && now * next > 0)) return 0;
  return std::min(std::fabs(now), std::min(std::fabs(before), std::fabs(next)));
}

}  // namespace

LagTable::LagTable(const CellMoments& cells)
    : exponent_(cells.exponent()), moments_(cells.moments()), d_(cells.within()) {
  double before = 0.0;
  for (std::size_t c = 0; c < cells.cells(); ++c) {
    const double weight = cells.moment(c)[0];
    across_ += before * weight;
    before += weight;
    squares_ += weight * weight;
  }
}

void LagTable::extend(const CellMoments& cells, int lags, const RunOptions& options) {
  const int first = this->lags() + 1;
  if (lags < first) return;
  const std::size_t p = static_cast<std::size_t>(moments_), n = cells.cells();
  const std::size_t chunks = (n + kCellsOfLagItem - 1) / kCellsOfLagItem;
  const std::size_t added = static_cast<std::size_t>(lags + 1 - first), items = chunks * added;
  std::vector<double> key(n), partial(items * p, 0.0);
  for (std::size_t c = 0; c < n; ++c) key[c] = cells.key(c);
  parallel_for(items, options.parallel, [&](std::size_t item, int) {
    const double lag = first + static_cast<double>(item / chunks);
    const std::size_t begin = item % chunks * kCellsOfLagItem;
    const std::size_t end = std::min(n, begin + kCellsOfLagItem);
    DifferenceMoments total(moments_, *options.table);
    std::size_t b = static_cast<std::size_t>(
        std::lower_bound(key.begin(), key.end(), key[begin] + lag) - key.begin());
    for (std::size_t a = begin; a < end; ++a) {
      while (b < n && key[b] - key[a] < lag) ++b;
      if (b == n) break;
      if (key[b] - key[a] == lag) {
        total.add(cells.moment(a), cells.moment(b));
      }
    }
    total.add_to(partial.data() + item * p);
  });
  for (std::size_t lag = 0; lag < added; ++lag) {
    for (std::size_t m = 0; m < p; ++m) {
      d_.push_back(pairwise_sum(partial.data() + lag * chunks * p + m, chunks, p));
    }
  }
}

/// A weight that, times |phi^(r)(L rho)|, bounds the sum of the pairs of cells beyond the last lag
/// L. Pairs at lag L + 1 + k have a weight of at most sum W^2, and their terms are at most exp(-k L
/// rho^2) |phi^(r)(L rho)|; the sum of these factors over k is below 1 + 1 / (L rho^2).
double LagTable::weight_beyond(double rho, int lags) const {
  return std::min(across_, squares_ * (1 + 1 / (lags * rho * rho)));
}

/// The error has three parts: Taylor's series of each lag, the lags left out, and rounding. Their
/// sum is compared with a lower bound on the sum of |terms|: the weight of each lag's pairs times
/// the minimum of |phi^(r)| there.
PairSum LagTable::evaluate(double g, int lags, const PairTruncation& truncation,
                           double alone) const {
  const int order = truncation.order;
  const double rho = std::ldexp(1.0, exponent_) / g;
  DerivativesByLag derivatives(rho, order + moments_);
  double total = 0, size = 0, taylor_pairs = 0, at_least = 0;
  double last = 0;  // the derivative of order `order` at the lag before
  for (int l = 0; l <= lags; ++l) {
    derivatives.advance(l);
    const double now = derivatives.now()[order], next = derivatives.next()[order];
    const double* d = lag(l);
    const SizedSum of_lag = taylor_sum(derivatives.now() + order, d, moments_);
    total += of_lag.sum;
    size += of_lag.size;
    const double inner = std::max(0.0, (l - 1) * rho);
    taylor_pairs += d[0] * std::exp(-0.25 * inner * inner);
    at_least += d[0] * least_about(l == 0 ? next : last, now, next);
    if (l == 0) at_least += alone * std::fabs(now);
    last = now;
  }
  // Twice: the truncation of these cells, and at most as much of the narrower ones that they were
  // made of.
  const double taylor_error = 2 * truncation.taylor * taylor_pairs * std::pow(rho, order);
  const double error = taylor_error + weight_beyond(rho, lags) * std::fabs(last) + kRounding * size;
  return {total, error <= kPairTolerance * at_least};
}

}  // namespace kestrel
