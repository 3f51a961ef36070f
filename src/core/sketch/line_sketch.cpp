#include "core/sketch/line_sketch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/parallel.hpp"
#include "core/base/two_part.hpp"
#include "core/base/whole.hpp"
#include "core/sketch/cell_sort.hpp"
#include "core/sketch/line_limits.hpp"

namespace kestrel {

namespace {

double whole_quanta(double value) { return std::floor(value * simd::kQuanta + 0.5); }
double in_quanta(const WideInteger& sum) { return sum.value() / simd::kQuanta; }

/// The first and second powers of positions relative to a cell, in widths, summed over samples.
struct PowerSums {
  TwoPart first, second;

  void add(const TwoPart& one, const TwoPart& two) {
    first = first + one;
    second = second + two;
  }
};

void widen(ValueRange* range, const ValueRange& by) {
  *range = {std::min(range->min, by.min + 0.0), std::max(range->max, by.max + 0.0)};
}

}  // namespace

std::uint64_t LineSketch::count(std::size_t k) const {
  return sums(k)[plan_.weighted() ? row() - 1 : 0].shifted_down(kQuantumBits).low;
}

double LineSketch::weight(std::size_t k) const { return in_quanta(sums(k)[0]); }

double LineSketch::squares(std::size_t k) const {
  return in_quanta(sums(k)[plan_.weighted() ? kMoments : 0]);
}

WeightSums LineSketch::weight_sums() const {
  const double n = static_cast<double>(n_);
  if (!plan_.weighted()) return {n, n, n_ > 0 ? 1.0 : 0.0, 1.0, static_cast<std::size_t>(n_)};
  TwoPart sum, squares;
  for (std::size_t k = 0; k < full_.size(); ++k) {
    sum = sum + TwoPart{weight(k), 0};
    squares = squares + TwoPart{this->squares(k), 0};
  }
  for (const double w : kept_.w) {
    const TwoPart v{in_units(w), 0};
    sum = sum + v;
    squares = squares + v * v;
  }
  const double unit = std::ldexp(1.0, plan_.weight_exponent);
  return {sum.value() * unit, squares.value() * unit * unit, second_range_.max, second_range_.min,
          static_cast<std::size_t>(n_)};
}

ValueRange LineSketch::check(Span<const double> x, Weights w,
                             const ParallelOptions& options) const {
  check_weight_count(x.size, w.size);
  if (w.absent() == plan_.paired()) {
    throw error(ErrorKind::internal, "weights and responses go with a plan that has them");
  }
  const ValueRange range = range_of(x, options);
  if (x.size == 0) return range;
  if (std::max(std::fabs(range.min), std::fabs(range.max)) * scale_ >= kLargestKey) {
    throw error(ErrorKind::input, "values are too large for these cells");
  }
  if (w.absent()) return range;
  const ValueRange second = range_of({w.data, w.size}, options);
  if (plan_.regression()) {
    if (!(response_in_units(second.max) < kMostUnits &&
          response_in_units(second.min) > -kMostUnits)) {
      throw error(ErrorKind::input, "values are not responses for this plan");
    }
  } else if (second.min < 0 || in_units(second.max) >= kMostUnits) {
    throw error(ErrorKind::input, "values are not weights for this plan");
  }
  return range;
}

void LineSketch::add(Span<const double> x, Weights w, const ValueRange& range,
                     const RunOptions& options, CellSort* sorted) {
  KeptSamples positive;
  if (plan_.weighted() && std::find(w.data, w.data + w.size, 0.0) != w.data + w.size) {
    for (std::size_t i = 0; i < x.size; ++i) {
      if (w[i] > 0) positive.append(x.data + i, w.data + i, 1);
    }
    if (positive.empty()) return;
    x = {positive.x.data(), positive.size()};
    w = {positive.w.data(), positive.size()};
  }
  const ParallelOptions silent = part_of(options.parallel, 0, 0);
  // A pass, unless there are few cells for so many samples.
  const bool narrow =
      positive.empty() && range.cells(plan_.exponent) <= static_cast<double>(x.size);
  const ValueRange own = narrow ? range : range_of(x, silent);
  sorted->sort(x, w, own, plan_.exponent, *options.table);
  poll_if_due(options.parallel);
  const std::size_t before = full_.size();
  std::vector<double> crowded;
  for (std::size_t c = 0; c < sorted->cells(); ++c) {
    if (sorted->count(c) > kMostKept) crowded.push_back(sorted->key(c));
  }
  open(crowded);
  KeptSamples loose;
  std::size_t k = 0;
  for (std::size_t c = 0; c < sorted->cells(); ++c) {
    double *values = sorted->values(c), *weights = sorted->weights(c);
    while (k < full_.size() && full_[k] < sorted->key(c)) ++k;
    if (k < full_.size() && full_[k] == sorted->key(c)) {
      add_values(values, weights, sorted->count(c), full_[k], *options.table, sums_of(k));
      continue;
    }
    sort_samples(values, weights, sorted->count(c));
    loose.append(values, weights, sorted->count(c));
  }
  n_ += x.size;
  widen(&range_, own);
  if (!w.absent()) widen(&second_range_, range_of({w.data, w.size}, silent));
  if (loose.empty() && full_.size() == before) return;
  settle(merged(kept_, loose), *options.table);
}

void LineSketch::merge(const LineSketch& other, const simd::Table& table) {
  if (!(plan_ == other.plan_)) throw error(ErrorKind::input, "sketches must have the same plan");
  open(other.full_);
  for (std::size_t c = 0, k = 0; c < other.full_.size(); ++c) {
    while (full_[k] < other.full_[c]) ++k;
    for (std::size_t a = 0; a < row(); ++a) sums_of(k)[a] += other.sums(c)[a];
  }
  ties_.add(other.ties_);
  n_ += other.n_;
  widen(&range_, other.range_);
  widen(&second_range_, other.second_range_);
  settle(merged(kept_, other.kept_), table);
}

/// Makes cells with these ascending keys full, with sums of zero, unless they are.
void LineSketch::open(const std::vector<double>& keys) {
  std::vector<double> missing;
  std::set_difference(keys.begin(), keys.end(), full_.begin(), full_.end(),
                      std::back_inserter(missing));
  if (missing.empty()) return;
  std::vector<double> all;
  std::vector<std::uint32_t> slot;
  std::uint32_t next = static_cast<std::uint32_t>(slot_.size());
  for (std::size_t k = 0, m = 0; k < full_.size() || m < missing.size();) {
    const bool is_new = k == full_.size() || (m < missing.size() && missing[m] < full_[k]);
    all.push_back(is_new ? missing[m++] : full_[k]);
    slot.push_back(is_new ? next++ : slot_[k++]);
  }
  full_.swap(all);
  slot_.swap(slot);
  pool_.resize(full_.size() * row());
  ties_.open(plan_.weighted());
}

void LineSketch::add_values(const double* x, const double* w, std::size_t count, double key,
                            const simd::Table& table, WideInteger* sums) {
  for (std::size_t from = 0; from < count; from += simd::kWholeRun) {
    const std::size_t run = std::min(simd::kWholeRun, count - from);
    if (plan_.weighted()) {
      add_weighted(x + from, w + from, run, key, table, sums);
    } else {
      add_run(x + from, nullptr, run, key, table, sums);
      count_ties(x + from, nullptr, run, key, table);
      if (plan_.regression()) add_responses(x + from, w + from, run, key, table, sums + kMoments);
    }
  }
}

/// At most kWholeRun samples; v is null if they have no weights.
void LineSketch::count_ties(const double* x, const double* v, std::size_t count, double key,
                            const simd::Table& table) {
  alignas(64) std::uint64_t hash[simd::kWholeRun];
  table.sketch->hash_ties(x, count, scale_, key, start_of_ties(0, key), hash);
  ties_.count(hash, v, count);
}

/// Sums of v t^a over at most kWholeRun samples, 1 for null; |v| <= 1.
void LineSketch::add_run(const double* x, const double* v, std::size_t count, double key,
                         const simd::Table& table, WideInteger* sums) const {
  double sum[simd::kWholeMoments];
  table.sketch->sum_whole(x, v, count, scale_, key, sum);
  for (int a = 0; a < kMoments; ++a) sums[a] += WideInteger(whole_number<std::int64_t>(sum[a]));
}

void LineSketch::add_weighted(const double* x, const double* w, std::size_t count, double key,
                              const simd::Table& table, WideInteger* sums) {
  double light[simd::kWholeRun], weight[simd::kWholeRun], units[simd::kWholeRun],
      square[simd::kWholeRun];
  std::size_t lights = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double v = in_units(w[i]);
    if (!plan_.bounded) sums[kMoments] += WideInteger::of(whole_quanta(v * v));
    units[i] = v;
    if (v > 1) {
      add_heavy(x[i], v, key, sums);
      if (plan_.bounded) add_heavy(x[i], v * v, key, sums + kMoments);
    } else {
      light[lights] = x[i];
      weight[lights] = v;
      square[lights++] = v * v;
    }
  }
  count_ties(x, units, count, key, table);
  add_run(light, weight, lights, key, table, sums);
  if (plan_.bounded) add_run(light, square, lights, key, table, sums + kMoments);
  sums[row() - 1] += WideInteger(static_cast<std::int64_t>(count)).shifted(kQuantumBits);
}

/// Those of responses, and then of their squares.
void LineSketch::add_responses(const double* x, const double* y, std::size_t count, double key,
                               const simd::Table& table, WideInteger* sums) const {
  double near[simd::kWholeRun], response[simd::kWholeRun], square[simd::kWholeRun];
  std::size_t nears = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double v = response_in_units(y[i]);
    if (std::fabs(v) > 1) {
      add_heavy(x[i], v, key, sums);
      add_heavy(x[i], v * v, key, sums + kMoments);
    } else {
      near[nears] = x[i];
      response[nears] = v;
      square[nears++] = v * v;
    }
  }
  add_run(near, response, nears, key, table, sums);
  add_run(near, square, nears, key, table, sums + kMoments);
}

/// One sample as the leaf has it. Powers beyond 2^53 quanta are whole numbers already.
void LineSketch::add_heavy(double x, double v, double key, WideInteger* sums) const {
  const double t = 2 * (x * scale_ - key) - 1;
  double power = v;
  for (int a = 0; a < kMoments; ++a) {
    sums[a] += WideInteger::of(whole_quanta(power));
    power *= t;
  }
}

/// Gives ascending samples, among them all that were kept, to the cells that are full, and keeps
/// the others, unless they fill a cell.
void LineSketch::settle(const KeptSamples& samples, const simd::Table& table) {
  struct Crowd {
    std::size_t begin, end;
  };
  KeptSamples kept;
  std::vector<double> crowded;
  std::vector<Crowd> crowds;
  const std::vector<double>& x = samples.x;
  for (std::size_t begin = 0, end, k = 0; begin < x.size(); begin = end) {
    const double key = cell_of(x[begin]);
    for (end = begin + 1; end < x.size() && cell_of(x[end]) == key;) ++end;
    while (k < full_.size() && full_[k] < key) ++k;
    if (k < full_.size() && full_[k] == key) {
      add_values(x.data() + begin, samples.weights(begin), end - begin, full_[k], table,
                 sums_of(k));
    } else if (end - begin > kMostKept) {
      crowded.push_back(key + 0.0);
      crowds.push_back({begin, end});
    } else {
      kept.append(x.data() + begin, samples.weights(begin), end - begin);
    }
  }
  std::swap(kept_, kept);
  open(crowded);
  for (std::size_t c = 0, k = 0; c < crowded.size(); ++c) {
    while (full_[k] < crowded[c]) ++k;
    const std::size_t begin = crowds[c].begin;
    add_values(x.data() + begin, samples.weights(begin), crowds[c].end - begin, full_[k], table,
               sums_of(k));
  }
}

/// Positions are relative to the cell of the mean, so that nothing cancels.
SampleCovariance LineSketch::moments() const {
  const auto sums_about = [&](double origin) {
    PowerSums all;
    for (std::size_t k = 0; k < full_.size(); ++k) {
      const double one = std::ldexp(in_quanta(sums(k)[1]), -1);
      const double two = std::ldexp(in_quanta(sums(k)[2]), -2);
      const TwoPart centre = exact_difference(full_[k], origin) + TwoPart{0.5, 0};
      const TwoPart weight_of_cell{weight(k), 0};
      all.add(centre * weight_of_cell + TwoPart{one, 0},
              centre * centre * weight_of_cell + centre * (2 * one) + TwoPart{two, 0});
    }
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const TwoPart at = exact_difference(kept_.x[i] * scale_, origin);
      const double v = kept_units(i);
      all.add(at * v, at * at * v);
    }
    return all;
  };
  const TwoPart n{in_units(weight_sums().sum), 0};
  const double origin = std::floor((sums_about(0).first / n).value());
  const PowerSums about = sums_about(origin);
  const TwoPart away = about.first / n;
  const TwoPart variance = about.second / n - away * away;
  const TwoPart mean = TwoPart{origin, 0} + away;
  SampleCovariance found;
  found.mean = {{mean.high / scale_}, {mean.low / scale_}};
  found.covariance = {std::max(0.0, variance.value()) / scale_ / scale_};
  return found;
}

}  // namespace kestrel
