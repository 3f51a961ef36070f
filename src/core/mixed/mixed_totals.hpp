// Criteria of cross-validation as sums over leave-one-out fits.
#ifndef KESTREL_CORE_MIXED_MIXED_TOTALS_HPP
#define KESTREL_CORE_MIXED_MIXED_TOTALS_HPP

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/mixed/mixed_regression.hpp"

namespace kestrel {

/// How the fit without an observation becomes that with it: by `shrink` the residual, and
/// `leverage` = 1 - shrink (Sherman & Morrison 1950).
struct WithOwn {
  double shrink, leverage;
};
inline WithOwn with_own(const MixedFit& fit, double own) {
  if (!fit.supported) return {0.0, 1.0};
  const double pull = own * fit.weight[0];
  // The weight of a steep line may be infinite.
  if (!std::isfinite(pull)) return {0.0, 1.0};
  const double whole = fit.scale + pull;
  return {fit.scale / whole, pull / whole};
}

/// Sums over observations, and their derivatives: of squares and of squared residuals in the
/// sample, both times their weights, and of leverages.
class MixedTotals {
 public:
  MixedTotals() = default;
  /// Derivatives by log(h) of `columns` and by `factors` lambdas, or none.
  MixedTotals(bool gradient, std::size_t columns, std::size_t factors)
      : columns_(columns),
        value_by_(gradient ? columns + factors : 0),
        inside_by_(value_by_),
        trace_by_(value_by_) {}

  void add(const MixedTotals& other);
  /// The fit without an observation. `change(k)`: its MixedRow::Change by parameter k.
  template <class Changes>
  void add_fit(const MixedFit& fit, MixedMethod method, const MixedOwn& own, const Changes& change);
  /// For AICc the fit with the observation, which has slopes in more directions than that without
  /// it.
  template <class Changes>
  void add_whole_fit(const MixedFit& fit, const MixedOwn& own, const Changes& change);
  /// The criterion of n observations, whose weights sum to n.
  MixedCriterion criterion(MixedMethod method, std::size_t n) const;

 private:
  double slope_of_own(const MixedOwn& own, std::size_t k) const {
    return k < columns_ ? 0.0 : own.times * own.slope[k - columns_];
  }

  std::size_t columns_ = 0;
  double value_ = 0, inside_ = 0, trace_ = 0;
  std::vector<double> value_by_, inside_by_, trace_by_;
  std::size_t unsupported_ = 0, ridged_ = 0;
};

template <class Changes>
void MixedTotals::add_whole_fit(const MixedFit& fit, const MixedOwn& own, const Changes& change) {
  const double inside = fit.beta[0];
  ++ridged_;
  inside_ += own.w * inside * inside;
  trace_ += own.weight * fit.weight[0];
  for (std::size_t k = 0; k < inside_by_.size(); ++k) {
    const MixedRow::Change by = change(k);
    inside_by_[k] += own.w * 2 * inside * by.fit;
    trace_by_[k] += slope_of_own(own, k) * fit.weight[0] + own.weight * by.weight;
  }
}

template <class Changes>
void MixedTotals::add_fit(const MixedFit& fit, MixedMethod method, const MixedOwn& own,
                          const Changes& change) {
  ridged_ += fit.ridged ? 1 : 0;
  if (!fit.supported) {
    ++unsupported_;
    trace_ += 1;
    return;
  }
  const double deviation = fit.beta[0];
  const WithOwn with = with_own(fit, own.weight);
  value_ += own.w * deviation * deviation;
  const double inside = deviation * with.shrink;
  inside_ += own.w * inside * inside;
  trace_ += with.leverage;
  for (std::size_t k = 0; k < value_by_.size(); ++k) {
    const MixedRow::Change by = change(k);
    value_by_[k] += own.w * 2 * deviation * by.fit;
    if (method != MixedMethod::aic) continue;
    const double shrinks = -with.shrink * with.shrink *
                           (slope_of_own(own, k) * fit.weight[0] + own.weight * by.weight) /
                           fit.scale;
    inside_by_[k] += own.w * 2 * inside * (by.fit * with.shrink + deviation * shrinks);
    trace_by_[k] -= shrinks;
  }
}

/// Adds observation i of the sample, whose columns are `point` and whose weight is positive, by a
/// row that has started at its levels.
void add_observation(const MixedSample& sample, std::size_t i, const double* point,
                     MixedMethod method, bool gradient, MixedRow& row, MixedTotals& totals);

}  // namespace kestrel

#endif
