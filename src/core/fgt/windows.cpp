#include "core/fgt/windows.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/parallel_sort.hpp"
#include "core/base/summation.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

constexpr std::size_t kSamplesOfItem = 512;
/// Beyond this distance exp(-u^2/2) is zero in doubles.
constexpr double kFarthest = 38.6;

/// Distances u in units of h, and exp(-u^2 / (2 variance)), variance 1 or 2, accurate to the last
/// places even for large u^2. Plain arithmetic would multiply the rounding errors of the difference
/// and of the quotient by u^2.
class GaussianOfDistance {
 public:
  GaussianOfDistance(double h, int variance) : inverse_(1 / h), half_(0.5 / variance) {
    const double far = 134217729.0 * h;  // 2^27 + 1 (Dekker 1971): h = high_ + low_, 26 bits each
    high_ = far - (far - h);
    low_ = h - high_;
  }

  /// For (b - a) / h in [0, 2^6): the exponential, and u^2 as the sum of *square, which is exact,
  /// and a small *rest.
  double operator()(double a, double b, double* square, double* rest) const {
    const double d = b - a;
    const double back = d - b;  // -a but for rounding (Knuth's two-sum)
    const double lost = (b - (d - back)) - (a + back);
    constexpr double kRound = 6442450944.0;  // 1.5 * 2^32: rounds to multiples of 2^-20
    const double lead = (d * inverse_ + kRound) - kRound;
    // The products are exact: 26 bits by 26.
    const double tail = (((d - lead * high_) - lead * low_) + lost) * inverse_;
    *square = lead * lead;
    *rest = tail * (2 * lead + tail);
    const double s = half_ * *rest;  // below 3e-5
    return std::exp(-half_ * *square) * (1 - s * (1 - s * (0.5 - s / 6)));
  }

 private:
  double inverse_, half_, high_, low_;
};

/// A number to about twenty digits.
struct LongNumber {
  double lead, rest;
};

/// The squares of the positive zeros of the Hermite polynomial He_order, order even. As a product
/// of differences from them the polynomial keeps its relative accuracy where its monomials cancel.
std::vector<LongNumber> squared_zeros(int order) {
  const auto hermite = [order](long double u) {
    long double before = 0, now = 1;
    for (int k = 0; k < order; ++k) {
      const long double next = u * now - k * before;
      before = now;
      now = next;
    }
    return now;
  };
  std::vector<LongNumber> zeros;
  const long double step = 0.125L;  // zeros are further apart, and below 2 sqrt(order)
  for (long double from = 0; from < 2 * std::sqrt(static_cast<long double>(order)); from += step) {
    long double low = from, high = from + step;
    if ((hermite(low) > 0) == (hermite(high) > 0)) continue;
    for (int k = 0; k < 64; ++k) {
      const long double middle = (low + high) / 2;
      ((hermite(middle) > 0) == (hermite(low) > 0) ? low : high) = middle;
    }
    const double lead = static_cast<double>(low * low);
    zeros.push_back({lead, static_cast<double>(low * low - lead)});
  }
  return zeros;
}

}  // namespace

WindowSums::WindowSums(Span<const double> x, Weights w, const ParallelOptions& options) {
  std::vector<std::pair<double, double>> sample;
  for (std::size_t i = 0; i < x.size; ++i) {
    if (w[i] > 0) sample.push_back({x[i], w[i]});
  }
  parallel_sort(&sample, options);
  for (const auto& one : sample) {
    x_.push_back(one.first);
    w_.push_back(one.second);
  }
  total_weight_ = pairwise_sum(w_.data(), w_.size());
}

double WindowSums::reach(double h, int variance, int order) const {
  const double deviation = h * std::sqrt(static_cast<double>(variance));
  double largest = 0.0;
  for (std::size_t i = 1; i < x_.size(); ++i) {
    const double u = (x_[i] - x_[i - 1]) / deviation;
    if (u < kFarthest) {
      largest = std::max(largest, w_[i - 1] * w_[i] * std::exp(-0.5 * u * u));
    }
  }
  if (!(largest > 0)) return kFarthest * deviation;
  // From there on (W^2 / 2) u^order exp(-u^2/2) is below 1e-16 of `largest`; log 38.6 = 3.65 bounds
  // log u.
  const double ratio = 0.5 * total_weight_ / largest * total_weight_;
  const double exponent = std::log(std::max(1.0, ratio)) + 37 + 3.65 * order;
  return std::min(kFarthest, std::sqrt(2 * exponent)) * deviation;
}

double WindowSums::sum(double h, int variance, int order, const RunOptions& options) const {
  const std::size_t n = x_.size(), items = (n + kSamplesOfItem - 1) / kSamplesOfItem;
  const GaussianOfDistance gaussian(h, variance);
  const std::vector<LongNumber> zeros = squared_zeros(order);
  const double far = reach(h, variance, order);
  std::vector<double> partial(items, 0.0);
  parallel_for(items, options.parallel, [&](std::size_t item, int) {
    double of_samples[kSamplesOfItem];
    const std::size_t begin = item * kSamplesOfItem, end = std::min(n, begin + kSamplesOfItem);
    for (std::size_t i = begin; i < end; ++i) {
      // Sixteen terms at a time, so that those of ties round alike.
      double of_sample = 0.0, recent = 0.0;
      for (std::size_t j = i + 1; j < n && x_[j] - x_[i] < far; ++j) {
        double square, rest;
        double value = w_[j] * gaussian(x_[i], x_[j], &square, &rest);
        for (const LongNumber& zero : zeros) value *= (square - zero.lead) + (rest - zero.rest);
        recent += value;
        if ((j - i) % 16 > 0) continue;
        of_sample += recent;
        recent = 0.0;
      }
      of_sample += recent;
      of_samples[i - begin] = w_[i] * of_sample;
    }
    partial[item] = pairwise_sum(of_samples, end - begin);
  });
  ScaledNumber scale;
  scale.multiply(1 / std::sqrt(2 * kPi * variance));
  for (int k = 0; k <= order; ++k) scale.divide(h);
  return scale.times(pairwise_sum(partial.data(), items));
}

}  // namespace kestrel
