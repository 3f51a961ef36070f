#include "core/sketch/line_sketch.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/parallel.hpp"
#include "core/base/two_part.hpp"
#include "core/base/whole.hpp"
#include "core/sketch/cell_sort.hpp"

namespace kestrel {

namespace {

/// Samples that are sorted together: so many that those of one cell are worth a call.
constexpr std::size_t kPartOfSketch = std::size_t{1} << 20;
/// The exponent of the quanta.
constexpr int kQuantumBits = 44;
/// Exponents of cells, so that 2^e and 2^-e leave room for sums of keys (cell_exponent()), and the
/// largest key.
constexpr int kMaxSketchExponent = 980;
const double kLargestKey = std::ldexp(1.0, 1000);

bool is_finite_range(const ValueRange& range, double scale) {
  return std::fabs(range.min) * scale < kLargestKey && std::fabs(range.max) * scale < kLargestKey;
}

/// The first and second powers of positions relative to a cell, in widths, summed over samples.
struct PowerSums {
  TwoPart first, second;

  void add(const TwoPart& one, const TwoPart& two) {
    first = first + one;
    second = second + two;
  }
};

[[noreturn]] void refuse_parts(const char* what) { throw error(ErrorKind::input, what); }

/// Whether these sums can be those of some samples of a cell.
bool are_sums(const WideInteger* sums) {
  const WideInteger all = sums[0], none;
  const WideInteger count = all.shifted_down(kQuantumBits);
  if (all < none || !(count.shifted(kQuantumBits) == all) || count.high != 0) return false;
  if (count.low <= LineSketch::kMostKept || count.low >> 62 != 0) return false;
  for (int a = 1; a < LineSketch::kMoments; ++a) {
    const WideInteger size = sums[a] < none ? -sums[a] : sums[a];
    if (all < size || (a % 2 == 0 && sums[a] < none)) return false;
  }
  return true;
}

}  // namespace

void LineSketch::add(Span<const double> x, const RunOptions& options) {
  if (x.size == 0) return;
  const ValueRange range = range_of(x, part_of(options.parallel, 0, 0));
  if (!is_finite_range(range, scale_)) {
    throw error(ErrorKind::input, "values are too large for these cells");
  }
  const std::size_t parts = (x.size + kPartOfSketch - 1) / kPartOfSketch;
  const std::size_t workers = static_cast<std::size_t>(parallel_workers(parts, options.parallel));
  // Sums are exact, so that each worker may have its own.
  std::vector<LineSketch> others(workers - 1, LineSketch(plan_));
  parallel_for(parts, options.parallel, [&](std::size_t part, int worker) {
    LineSketch& sketch = worker == 0 ? *this : others[static_cast<std::size_t>(worker) - 1];
    const std::size_t begin = part * kPartOfSketch;
    sketch.add_part({x.data + begin, std::min(kPartOfSketch, x.size - begin)}, options);
  });
  for (const LineSketch& other : others) merge(other, *options.table);
}

void LineSketch::add_part(Span<const double> x, const RunOptions& options) {
  const ValueRange range = range_of(x, part_of(options.parallel, 0, 0));
  CellSort sorted(x, range, plan_.exponent, *options.table);
  poll_if_due(options.parallel);
  const std::size_t before = full_.size();
  std::vector<double> crowded, loose;
  for (std::size_t c = 0; c < sorted.cells(); ++c) {
    if (sorted.count(c) > kMostKept) crowded.push_back(sorted.key(c));
  }
  open(crowded);
  std::size_t k = 0;
  for (std::size_t c = 0; c < sorted.cells(); ++c) {
    double* values = sorted.values(c);
    while (k < full_.size() && full_[k] < sorted.key(c)) ++k;
    if (k < full_.size() && full_[k] == sorted.key(c)) {
      add_values(values, sorted.count(c), full_[k], *options.table, sums_of(k));
      continue;
    }
    std::sort(values, values + sorted.count(c));
    loose.insert(loose.end(), values, values + sorted.count(c));
  }
  n_ += x.size;
  range_ = {std::min(range_.min, range.min + 0.0), std::max(range_.max, range.max + 0.0)};
  if (loose.empty() && full_.size() == before) return;
  std::vector<double> all(kept_.size() + loose.size());
  std::merge(kept_.begin(), kept_.end(), loose.begin(), loose.end(), all.begin());
  settle(all, *options.table);
}

void LineSketch::merge(const LineSketch& other, const simd::Table& table) {
  if (!(plan_ == other.plan_)) throw error(ErrorKind::input, "sketches must have the same plan");
  open(other.full_);
  for (std::size_t c = 0, k = 0; c < other.full_.size(); ++c) {
    while (full_[k] < other.full_[c]) ++k;
    for (int a = 0; a < LineSketch::kMoments; ++a) sums_of(k)[a] += other.sums(c)[a];
  }
  n_ += other.n_;
  range_ = {std::min(range_.min, other.range_.min), std::max(range_.max, other.range_.max)};
  std::vector<double> all(kept_.size() + other.kept_.size());
  std::merge(kept_.begin(), kept_.end(), other.kept_.begin(), other.kept_.end(), all.begin());
  settle(all, table);
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
  pool_.resize(full_.size() * LineSketch::kMoments);
}

void LineSketch::add_values(const double* x, std::size_t count, double key,
                            const simd::Table& table, WideInteger* sums) const {
  sums[0] += WideInteger(static_cast<std::int64_t>(count)).shifted(kQuantumBits);
  for (std::size_t from = 0; from < count; from += simd::kWholeRun) {
    double sum[LineSketch::kMoments];
    table.sketch->sum_whole(x + from, std::min(simd::kWholeRun, count - from), scale_, key, sum);
    for (int a = 1; a < LineSketch::kMoments; ++a) {
      sums[a] += WideInteger(whole_number<std::int64_t>(sum[a]));
    }
  }
}

/// Gives ascending samples, among them all that were kept, to the cells that are full, and keeps
/// the others, unless they fill a cell.
void LineSketch::settle(const std::vector<double>& values, const simd::Table& table) {
  struct Crowd {
    std::size_t begin, end;
  };
  std::vector<double> kept, crowded;
  std::vector<Crowd> crowds;
  for (std::size_t begin = 0, end, k = 0; begin < values.size(); begin = end) {
    const double key = cell_of(values[begin]);
    for (end = begin + 1; end < values.size() && cell_of(values[end]) == key;) ++end;
    while (k < full_.size() && full_[k] < key) ++k;
    if (k < full_.size() && full_[k] == key) {
      add_values(values.data() + begin, end - begin, key, table, sums_of(k));
    } else if (end - begin > kMostKept) {
      crowded.push_back(key + 0.0);
      crowds.push_back({begin, end});
    } else {
      kept.insert(kept.end(), values.data() + begin, values.data() + end);
    }
  }
  kept_.swap(kept);
  open(crowded);
  for (std::size_t c = 0, k = 0; c < crowded.size(); ++c) {
    while (full_[k] < crowded[c]) ++k;
    add_values(values.data() + crowds[c].begin, crowds[c].end - crowds[c].begin, full_[k], table,
               sums_of(k));
  }
}

/// Positions are relative to the cell of the mean, so that nothing cancels.
SampleCovariance LineSketch::moments() const {
  const double n = static_cast<double>(n_);
  const auto sums_about = [&](double origin) {
    PowerSums all;
    for (std::size_t k = 0; k < full_.size(); ++k) {
      const WideInteger* sum = sums(k);
      const double one = std::ldexp(sum[1].value(), -1 - kQuantumBits);
      const double two = std::ldexp(sum[2].value(), -2 - kQuantumBits);
      const TwoPart centre = exact_difference(full_[k], origin) + TwoPart{0.5, 0};
      const TwoPart count{static_cast<double>(count_of(sum)), 0};
      all.add(centre * count + TwoPart{one, 0},
              centre * centre * count + centre * (2 * one) + TwoPart{two, 0});
    }
    for (const double x : kept_) {
      const TwoPart at = exact_difference(x * scale_, origin);
      all.add(at, at * at);
    }
    return all;
  };
  const double origin = std::floor((sums_about(0).first / TwoPart{n, 0}).value());
  const PowerSums about = sums_about(origin);
  const TwoPart away = about.first / TwoPart{n, 0};
  const TwoPart variance = about.second / TwoPart{n, 0} - away * away;
  const TwoPart mean = TwoPart{origin, 0} + away;
  SampleCovariance found;
  found.mean = {{mean.high / scale_}, {mean.low / scale_}};
  found.covariance = {std::max(0.0, variance.value()) / scale_ / scale_};
  return found;
}

std::uint64_t LineSketch::count_of(const WideInteger* sums) {
  return sums[0].shifted_down(kQuantumBits).low;
}

LineSketch LineSketch::of_parts(SketchPlan plan, const ValueRange& range, std::vector<double> kept,
                                std::vector<double> full, std::vector<WideInteger> sums) {
  LineSketch sketch(std::move(plan));
  sketch.range_ = range;
  sketch.kept_ = std::move(kept);
  sketch.full_ = std::move(full);
  sketch.pool_ = std::move(sums);
  for (std::size_t k = 0; k < sketch.full_.size(); ++k) {
    sketch.slot_.push_back(static_cast<std::uint32_t>(k));
  }
  sketch.check_parts();
  sketch.n_ = sketch.kept_.size();
  for (std::size_t k = 0; k < sketch.full_.size(); ++k) sketch.n_ += sketch.count(k);
  return sketch;
}

void LineSketch::check_parts() const {
  if (std::abs(plan_.exponent) > kMaxSketchExponent) refuse_parts("cells of an impossible width");
  if (pool_.size() != full_.size() * LineSketch::kMoments) refuse_parts("not all moments of cells");
  for (std::size_t k = 0; k < full_.size(); ++k) {
    const double key = full_[k];
    const bool ascends = k == 0 || full_[k - 1] < key;
    if (!(std::fabs(key) <= kLargestKey) || std::floor(key) != key || !ascends) {
      refuse_parts("cells that are not in order");
    }
    if (!are_sums(sums(k))) refuse_parts("sums that no samples have");
  }
  std::size_t of_cell = 0;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    const double key = cell_of(kept_[i]);
    if (!(std::fabs(key) <= kLargestKey) || (i > 0 && kept_[i] < kept_[i - 1])) {
      refuse_parts("samples that are not in order");
    }
    of_cell = i > 0 && cell_of(kept_[i - 1]) == key ? of_cell + 1 : 1;
    if (of_cell > kMostKept || std::binary_search(full_.begin(), full_.end(), key)) {
      refuse_parts("samples of a cell with sums");
    }
  }
  if (kept_.empty() && full_.empty()) {
    if (!(range_.min > range_.max)) refuse_parts("a range without samples");
    return;
  }
  // The extremes are samples of the first and of the last cell.
  const double none = HUGE_VAL, first = full_.empty() ? none : full_.front(),
               last = full_.empty() ? -none : full_.back();
  const double low = kept_.empty() ? none : cell_of(kept_.front()),
               high = kept_.empty() ? -none : cell_of(kept_.back());
  const bool begins = low < first ? range_.min == kept_.front() : cell_of(range_.min) == first;
  const bool ends = high > last ? range_.max == kept_.back() : cell_of(range_.max) == last;
  if (!(range_.min <= range_.max) || !begins || !ends) refuse_parts("a range of other samples");
}

}  // namespace kestrel
