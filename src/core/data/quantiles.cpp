#include "core/data/quantiles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/parallel_sort.hpp"
#include "core/base/raw_array.hpp"
#include "core/base/whole.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

namespace {

struct Weighted {
  double x, w;
};

double between(double lower, double upper, double share) {
  return lower == upper ? lower : (1 - share) * lower + share * upper;
}

/// A quantile of n values of which value(k) is number k from 0 on, in ascending order.
template <class Value>
double quantile_of(std::size_t n, double prob, const Value& value) {
  // Counts from 1, as stats::quantile() does, for the same bits.
  const double place = 1 + static_cast<double>(n - 1) * prob, below = std::floor(place);
  return between(value(whole_number<std::size_t>(below - 1)),
                 value(whole_number<std::size_t>(std::ceil(place) - 1)), place - below);
}

/// A sample, counted in bins of equal width between its limits.
class BinnedSample {
 public:
  BinnedSample(Span<const double> x, Weights w, const ParallelOptions& options)
      : x_(x), w_(w), options_(options), block_(std::max(kMinBlock, x.size / kMaxBlocks + 1)) {
    measure();
    count();
  }

  std::vector<double> quantiles(Span<const double> prob) {
    std::vector<Window> windows;
    for (const double p : prob) windows.push_back(equal_ ? ranks_of(p) : window_of(p));
    collect(windows);
    std::vector<double> result;
    for (std::size_t k = 0; k < prob.size; ++k) {
      result.push_back(equal_ ? between_ranks(windows[k], prob[k]) : mean_in(windows[k]));
    }
    return result;
  }

 private:
  static constexpr std::size_t kMinBlock = std::size_t{1} << 16, kMaxBlocks = 64;
  /// A small sample is sorted as it is.
  static constexpr std::size_t kMinBinned = std::size_t{1} << 13, kBins = std::size_t{1} << 14;

  /// A part of the mass, from 0 to the total, and the bins that hold it.
  struct Window {
    double from, to;
    std::size_t first, last;
  };

  /// What a block of the sample has, for values with a weight.
  struct Measure {
    double min = std::numeric_limits<double>::infinity(), max = -min;
    double min_weight = min, max_weight = 0;
  };

  std::size_t blocks() const { return (x_.size + block_ - 1) / block_; }
  std::size_t end_of(std::size_t block) const { return std::min(x_.size, (block + 1) * block_); }

  Measure measure_values(std::size_t begin, std::size_t end) const {
    // Two lanes, since a chain of comparisons waits for each of its results.
    Measure even, odd;
    const auto look = [](Measure& lane, double value) {
      lane.min = value < lane.min ? value : lane.min;
      lane.max = value > lane.max ? value : lane.max;
    };
    for (std::size_t i = begin; i + 1 < end; i += 2) {
      look(even, x_[i]);
      look(odd, x_[i + 1]);
    }
    look(even, x_[end - 1]);
    return {std::min(even.min, odd.min), std::max(even.max, odd.max), 1.0, 1.0};
  }

  Measure measure_weighted(std::size_t begin, std::size_t end) const {
    Measure all;
    for (std::size_t i = begin; i < end; ++i) {
      const double weight = w_[i];
      if (weight == 0) continue;
      all.min = std::min(all.min, x_[i]);
      all.max = std::max(all.max, x_[i]);
      all.min_weight = std::min(all.min_weight, weight);
      all.max_weight = std::max(all.max_weight, weight);
    }
    return all;
  }

  void measure() {
    std::vector<Measure> of_block(blocks());
    parallel_for(blocks(), part_of(options_, 0.0, 0.2), [&](std::size_t block, int) {
      const std::size_t begin = block * block_, end = end_of(block);
      of_block[block] = w_.absent() ? measure_values(begin, end) : measure_weighted(begin, end);
    });
    Measure all;
    for (const Measure& one : of_block) {
      all.min = std::min(all.min, one.min);
      all.max = std::max(all.max, one.max);
      all.min_weight = std::min(all.min_weight, one.min_weight);
      all.max_weight = std::max(all.max_weight, one.max_weight);
    }
    min_ = all.min;
    max_weight_ = all.max_weight;
    equal_ = all.min_weight == all.max_weight;
    bins_ = x_.size < kMinBinned ? 1 : kBins;
    per_unit_ = static_cast<double>(bins_) / (all.max - all.min);
    // All values in one bin, if the width of a bin is no number.
    if (bins_ == 1 || !std::isfinite(per_unit_)) per_unit_ = 0;
  }

  /// Ascends with x.
  std::size_t bin_of(double x) const {
    const double at = (x - min_) * per_unit_, last = static_cast<double>(bins_ - 1);
    return at < last ? static_cast<std::size_t>(at) : bins_ - 1;
  }

  /// Relative to the largest weight, so that no square overflows; 1 if all are equal.
  double mass_of(std::size_t i) const { return w_.absent() ? 1.0 : w_[i] / max_weight_; }

  void count() {
    std::vector<double> square(blocks(), 0.0);
    std::vector<RawArray<double>> mass(blocks());
    parallel_for(blocks(), part_of(options_, 0.2, 0.5), [&](std::size_t block, int) {
      mass[block] = RawArray<double>(bins_);
      double* to = mass[block].data();
      std::fill(to, to + bins_, 0.0);
      for (std::size_t i = block * block_; i < end_of(block); ++i) {
        const double m = mass_of(i);
        if (m == 0) continue;
        to[bin_of(x_[i])] += m;
        square[block] += m * m;
      }
    });
    for (std::size_t block = 1; block < blocks(); ++block) {
      for (std::size_t bin = 0; bin < bins_; ++bin) mass[0][bin] += mass[block][bin];
    }
    before_.assign(bins_ + 1, 0.0);
    for (std::size_t bin = 0; bin < bins_; ++bin) before_[bin + 1] = before_[bin] + mass[0][bin];
    double squares = 0;
    for (const double one : square) squares += one;
    n_ = equal_ ? before_[bins_] : before_[bins_] * before_[bins_] / squares;
  }

  /// The bin in which the mass passes `at`, not an empty one.
  std::size_t bin_at(double at) const {
    const auto end = std::upper_bound(before_.begin() + 1, before_.end(), at);
    if (end != before_.end()) return static_cast<std::size_t>(end - before_.begin()) - 1;
    const auto full = std::lower_bound(before_.begin() + 1, before_.end(), before_.back());
    return static_cast<std::size_t>(full - before_.begin()) - 1;
  }

  /// The ranks on both sides of a quantile, as masses. Counts from 1, as stats::quantile() does,
  /// for the same bits.
  Window ranks_of(double p) const {
    const double place = 1 + (n_ - 1) * p;
    Window window{std::floor(place) - 1, std::ceil(place) - 1, 0, 0};
    window.first = bin_at(window.from);
    window.last = bin_at(window.to);
    return window;
  }

  Window window_of(double p) const {
    const double total = before_[bins_], from = p * (n_ - 1) / n_ * total;
    return {from, from + total / n_, bin_at(from), bin_at(from + total / n_)};
  }

  /// Sorts the values of all bins that a window needs.
  void collect(const std::vector<Window>& windows) {
    std::vector<char> wanted(bins_, 0);
    for (const Window& window : windows) {
      for (std::size_t bin = window.first; bin <= window.last; ++bin) wanted[bin] = 1;
    }
    std::vector<std::vector<Weighted>> of_block(blocks());
    parallel_for(blocks(), part_of(options_, 0.5, 0.7), [&](std::size_t block, int) {
      for (std::size_t i = block * block_; i < end_of(block); ++i) {
        const double m = mass_of(i);
        if (m != 0 && wanted[bin_of(x_[i])]) of_block[block].push_back({x_[i], m});
      }
    });
    for (std::vector<Weighted>& one : of_block) {
      sorted_.insert(sorted_.end(), one.begin(), one.end());
      std::vector<Weighted>().swap(one);
    }
    parallel_sort(&sorted_, part_of(options_, 0.7, 1.0), [](const Weighted& a, const Weighted& b) {
      return a.x < b.x || (a.x == b.x && a.w < b.w);
    });
  }

  /// The first sorted value of a bin.
  std::size_t begin_of(std::size_t bin) const {
    const auto at = std::partition_point(sorted_.begin(), sorted_.end(),
                                         [&](const Weighted& one) { return bin_of(one.x) < bin; });
    return static_cast<std::size_t>(at - sorted_.begin());
  }

  double value_of_rank(double rank, std::size_t bin) const {
    return sorted_[begin_of(bin) + whole_number<std::size_t>(rank - before_[bin])].x;
  }

  double between_ranks(const Window& window, double p) const {
    return between(value_of_rank(window.from, window.first), value_of_rank(window.to, window.last),
                   1 + (n_ - 1) * p - (1 + window.from));
  }

  /// The mean of the values in a window, as distances from the first one: ties give their value.
  /// Halves, since a distance may be larger than the largest number.
  double mean_in(const Window& window) const {
    double mass = before_[window.first], weight = 0, sum = 0;
    std::size_t i = begin_of(window.first);
    while (i + 1 < sorted_.size() && mass + sorted_[i].w <= window.from) mass += sorted_[i++].w;
    const double first = sorted_[i].x, width = window.to - window.from;
    for (; i < sorted_.size() && mass < window.to; mass += sorted_[i++].w) {
      const double share =
          (std::min(mass + sorted_[i].w, window.to) - std::max(mass, window.from)) / width;
      weight += share;
      sum += share * (sorted_[i].x / 2 - first / 2);
    }
    const double half = weight > 0 ? sum / weight : 0.0;
    return first + half + half;
  }

  const Span<const double> x_;
  const Weights w_;
  const ParallelOptions& options_;
  const std::size_t block_;  // depends on n only, so that sums do
  double min_ = 0, max_weight_ = 0, per_unit_ = 0, n_ = 0;
  bool equal_ = true;
  std::size_t bins_ = 1;
  std::vector<double> before_;  // the mass of all bins before
  std::vector<Weighted> sorted_;
};

}  // namespace

std::vector<double> quantiles(Span<const double> x, Weights w, Span<const double> prob,
                              const ParallelOptions& options) {
  if (w.size > 0) check_weight_count(x.size, w.size);
  return BinnedSample(x, w.size > 0 ? w : Weights::ones(x.size), options).quantiles(prob);
}

double quantile_of_sorted(Span<const double> x, double prob) {
  return quantile_of(x.size, prob, [&](std::size_t k) { return x[k]; });
}

double median_distance(Span<const double> x, double centre) {
  const double* const end = x.data + x.size;
  const double* const middle = std::lower_bound(x.data, end, centre);
  const auto below = static_cast<std::size_t>(middle - x.data), above = x.size - below;
  const auto left = [&](std::size_t k) {
    return centre - middle[-1 - static_cast<std::ptrdiff_t>(k)];
  };
  const auto right = [&](std::size_t k) { return middle[k] - centre; };
  // Distances ascend on both sides. Number k of both is among the first `from` on the left and the
  // first k - from on the right.
  return quantile_of(x.size, 0.5, [&](std::size_t k) {
    std::size_t low = k < above ? 0 : k - above, high = std::min(k, below);
    while (low < high) {
      const std::size_t from = low + (high - low) / 2;
      if (left(from) < right(k - from - 1)) {
        low = from + 1;
      } else {
        high = from;
      }
    }
    const std::size_t other = k - low;
    if (low == below) return right(other);
    if (other == above) return left(low);
    return std::min(left(low), right(other));
  });
}

double median_of_every(std::size_t step, Span<const double> x) {
  std::vector<double> some;
  for (std::size_t i = 0; i < x.size; i += step) some.push_back(x[i]);
  const auto middle = some.begin() + static_cast<std::ptrdiff_t>(some.size() / 2);
  std::nth_element(some.begin(), middle, some.end());
  return *middle;
}

}  // namespace kestrel
