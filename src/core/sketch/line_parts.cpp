// A sketch on a line made of parts that were read, whatever these are.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "core/sketch/line_limits.hpp"
#include "core/sketch/line_sketch.hpp"

namespace kestrel {

namespace {

/// Whether this can be a number of samples of a full cell, in quanta.
bool is_count(const WideInteger& quanta) {
  const WideInteger count = quanta.shifted_down(kQuantumBits);
  return !(quanta < WideInteger()) && count.shifted(kQuantumBits) == quanta && count.high == 0 &&
         count.low > LineSketch::kMostKept && count.low >> 62 == 0;
}

/// Whether none of the sums of a cell with t^a, a > 0, is larger than `most`, and none of those
/// with an even power is negative; `of_positive`: of terms v t^a, v > 0.
bool are_powers(const WideInteger* sums, const WideInteger& most, bool of_positive) {
  const WideInteger none;
  for (int a = 0; a < LineSketch::kMoments; ++a) {
    const WideInteger size = sums[a] < none ? -sums[a] : sums[a];
    if (most < size || (of_positive && a % 2 == 0 && sums[a] < none)) return false;
  }
  return true;
}

/// Those of a regression: responses in units are less than 2^24, and so these sums are less than so
/// many times the first ones.
bool are_sums_of_regression(const WideInteger* sums) {
  constexpr int kMoments = LineSketch::kMoments, kBits = 24;
  if (!is_count(sums[0])) return false;
  const WideInteger most = sums[0].shifted(kBits);
  WideInteger squares = sums[2 * kMoments];
  squares += sums[0];
  return are_powers(sums, sums[0], true) && are_powers(sums + kMoments, most, false) &&
         are_powers(sums + 2 * kMoments, squares, true) &&
         !(most.shifted(kBits) < sums[2 * kMoments]);
}

/// Whether these sums can be those of some samples of a cell.
bool are_sums(const WideInteger* sums, const SketchPlan& plan, std::size_t row) {
  if (plan.regression()) return are_sums_of_regression(sums);
  const WideInteger none;
  const bool weighted = plan.weighted();
  if (!is_count(weighted ? sums[row - 1] : sums[0])) return false;
  // Of light samples all sums may be rounded to zero, and an odd power to less than an even one.
  const auto most = [&](const WideInteger& first) {
    WideInteger sum = first;
    if (weighted) sum += sums[row - 1].shifted_down(kQuantumBits);
    return sum;
  };
  constexpr int kMoments = LineSketch::kMoments;
  if (sums[0] < none || (weighted && sums[kMoments] < none)) return false;
  return are_powers(sums, most(sums[0]), true) &&
         (!plan.bounded || are_powers(sums + kMoments, most(sums[kMoments]), true));
}

}  // namespace

LineSketch LineSketch::of_parts(SketchPlan plan, const ValueRange& range,
                                const ValueRange& second_range, KeptSamples kept,
                                std::vector<double> full, std::vector<WideInteger> sums,
                                TieCounters ties) {
  LineSketch sketch(std::move(plan));
  sketch.range_ = range;
  sketch.second_range_ = second_range;
  sketch.kept_ = std::move(kept);
  sketch.full_ = std::move(full);
  sketch.pool_ = std::move(sums);
  sketch.ties_ = std::move(ties);
  for (std::size_t k = 0; k < sketch.full_.size(); ++k) {
    sketch.slot_.push_back(static_cast<std::uint32_t>(k));
  }
  sketch.check_parts();
  sketch.n_ = sketch.kept_.size();
  for (std::size_t k = 0; k < sketch.full_.size(); ++k) sketch.n_ += sketch.count(k);
  WideInteger weight;
  for (std::size_t k = 0; k < sketch.full_.size(); ++k) weight += sketch.sums(k)[0];
  check_counters(sketch.ties_, sketch.n_ - sketch.kept_.size(), sketch.plan_.weighted(), weight);
  return sketch;
}

void LineSketch::check_parts() const {
  const std::vector<double>& kept = kept_.x;
  if (std::abs(plan_.exponent) > kMaxSketchExponent ||
      std::abs(plan_.weight_exponent) > kMaxSketchExponent ||
      std::abs(plan_.response_exponent) > kMaxResponseExponent ||
      !std::isfinite(plan_.response_origin)) {
    refuse_parts("cells of an impossible width");
  }
  if (pool_.size() != full_.size() * row()) refuse_parts("not all moments of cells");
  for (std::size_t k = 0; k < full_.size(); ++k) {
    const double key = full_[k];
    const bool ascends = k == 0 || full_[k - 1] < key;
    if (!(std::fabs(key) <= kLargestKey) || std::floor(key) != key || !ascends) {
      refuse_parts("cells that are not in order");
    }
    if (!are_sums(sums(k), plan_, row())) refuse_parts("sums that no samples have");
  }
  std::size_t of_cell = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const double key = cell_of(kept[i]);
    if (!(std::fabs(key) <= kLargestKey) || (i > 0 && kept[i] < kept[i - 1])) {
      refuse_parts("samples that are not in order");
    }
    of_cell = i > 0 && cell_of(kept[i - 1]) == key ? of_cell + 1 : 1;
    if (of_cell > kMostKept || std::binary_search(full_.begin(), full_.end(), key)) {
      refuse_parts("samples of a cell with sums");
    }
  }
  check_second();
  const bool none = kept.empty() && full_.empty();
  if (none) {
    if (!(range_.min > range_.max)) refuse_parts("a range without samples");
    return;
  }
  // The extremes are samples of the first and of the last cell.
  const double first = full_.empty() ? HUGE_VAL : full_.front(),
               last = full_.empty() ? -HUGE_VAL : full_.back();
  const double low = kept.empty() ? HUGE_VAL : cell_of(kept.front()),
               high = kept.empty() ? -HUGE_VAL : cell_of(kept.back());
  const bool begins = low < first ? range_.min == kept.front() : cell_of(range_.min) == first;
  const bool ends = high > last ? range_.max == kept.back() : cell_of(range_.max) == last;
  if (!(range_.min <= range_.max) || !begins || !ends) refuse_parts("a range of other samples");
}

/// Weights and responses.
void LineSketch::check_second() const {
  const char* const what =
      plan_.regression() ? "responses that no samples have" : "weights that no samples have";
  const bool none = kept_.empty() && full_.empty();
  const ValueRange& range = second_range_;
  const bool regular = plan_.regression() ? response_in_units(range.min) > -kMostUnits &&
                                                response_in_units(range.max) < kMostUnits
                                          : range.min > 0 && in_units(range.max) < kMostUnits;
  if (plan_.paired() && !none ? !(range.min <= range.max && regular) : !(range.min > range.max)) {
    refuse_parts(what);
  }
  for (std::size_t i = 0; plan_.paired() && i < kept_.size(); ++i) {
    const double w = kept_.w[i];
    const bool ordered = i == 0 || kept_.x[i - 1] < kept_.x[i] || kept_.w[i - 1] <= w;
    if (!(w >= range.min && w <= range.max) || !ordered) refuse_parts(what);
  }
}

}  // namespace kestrel
