#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/parallel.hpp"
#include "core/data/order.hpp"
#include "core/distribution/distribution.hpp"

namespace kestrel {

namespace {

/// Quantiles of a work item: one by one, when each takes some ten points, and by cell.
constexpr std::size_t kQuantilesOfItem = 2, kQuantilesOfWalk = 4096;
/// The fewest quantiles for each cell for which the series of all cells cost less.
constexpr std::size_t kManyQuantiles = 2;
/// Of a quantile, in bandwidths: F changes by less than the half of this.
constexpr double kQuantileTolerance = 1e-14;
constexpr double kEpsilonOfDoubles = std::numeric_limits<double>::epsilon();
constexpr double kLargest = std::numeric_limits<double>::max();

/// The q in [min, max] with f(q).value = p. `slope` of f's result is its derivative by q; enough(q)
/// is the error that q may have. Newton's method within a bracket, which is halved where a step
/// leaves it or the steps do not become smaller (Press et al. 1992, section 9.4).
template <class Function, class Enough>
double solve(double p, double min, double max, double q, const Function& f, const Enough& enough) {
  double before = kLargest, step = kLargest;  // the two last steps
  for (;;) {
    if (!(q > min && q < max)) q = min / 2 + max / 2;
    const double tolerance = enough(q);
    const auto local = f(q);
    const double excess = local.value - p;
    if (excess == 0) return q;
    (excess < 0 ? min : max) = q;
    if (max - min <= tolerance) return min / 2 + max / 2;
    double next = q - excess / local.slope;
    if (!(next > min && next < max) || std::fabs(next - q) > before / 2) next = min / 2 + max / 2;
    before = step;
    step = std::fabs(next - q);
    q = next;
    if (step <= tolerance) return q;
  }
}

}  // namespace

/// Where F becomes more than 0 and, in doubles, 1; and the quantiles of 0 and 1.
struct Distribution::Ends {
  double min, max, of_zero, of_one;
};

/// From cell to cell, for ascending probabilities. The cell of a probability is the first one at
/// whose right end F is not less.
class Distribution::Walk {
 public:
  /// Begins at a point that is not right of what is looked for.
  Walk(const Distribution& of, double from) : of_(of) {
    const std::vector<double>& keys = of.cells_->key();
    reach_ = std::ceil(of.kernel_.reach() / of.rho_) + 1;
    key_ = std::max(std::floor(from / of.width_), keys.front() - reach_);
    while (!of.has_series(key_)) ++key_;
    take();
    least_ = of.value_of(series_, -0.5);
  }

  /// Returns whether there is a cell with F = p.
  bool find(double p) {
    if (p < least_) return false;
    while (right_ < p && next()) take();
    return right_ >= p;
  }

  double quantile(double p) const {
    struct Local {
      double value, slope;
    };
    const auto f = [&](double offset) {
      double slope = 0.0;
      for (std::size_t a = of_.kernel_.moments(); a-- > 1;) {
        slope = slope * offset + static_cast<double>(a) * series_.coefficient[a];
      }
      return Local{of_.value_of(series_, offset), std::max(0.0, slope / of_.total_)};
    };
    const auto point = [&](double offset) { return (key_ + 0.5 + offset) * of_.width_; };
    const auto enough = [&](double offset) {
      return kQuantileTolerance / of_.rho_ +
             kEpsilonOfDoubles * std::fabs(point(offset)) / of_.width_;
    };
    return point(solve(p, -0.5, 0.5, (p - left_) / (right_ - left_) - 0.5, f, enough));
  }

 private:
  void take() {
    series_ = of_.series_of(key_);
    left_ = of_.value_of(series_, -0.5);
    right_ = of_.value_of(series_, 0.5);
  }

  /// Goes to the next cell where F grows. Returns false if there is none.
  bool next() {
    const std::vector<double>& keys = of_.cells_->key();
    const double key = key_ + 1;
    const auto source = std::lower_bound(keys.begin(), keys.end(), key - reach_);
    if (source == keys.end()) return false;
    key_ = std::max(key, *source - reach_);
    return true;
  }

  const Distribution& of_;
  double reach_, key_ = 0.0;  // in widths
  Series series_{};
  double least_ = 0.0, left_ = 0.0, right_ = 0.0;
};

/// Where the weight of the cells passes p.
double Distribution::start(double p) const {
  const auto next = std::upper_bound(before_.begin(), before_.end() - 1, p * total_);
  const std::size_t cell = static_cast<std::size_t>(next - before_.begin()) - 1;
  return (cells_->key()[cell] + 0.5) * width_;
}

double Distribution::quantile(double p, const Ends& ends, const ParallelOptions& options) const {
  if (p == 0) return ends.of_zero;
  if (p == 1) return ends.of_one;
  if (at(ends.min, options).value >= p) return ends.min;
  if (at(ends.max, options).value <= p) return ends.max;
  const auto f = [&](double q) {
    const Local local = at(q, options);
    return Local{local.value, local.slope / h_};
  };
  const auto enough = [&](double q) {
    return kQuantileTolerance * h_ + kEpsilonOfDoubles * std::fabs(q);
  };
  return solve(p, ends.min, ends.max, cells_ ? start(p) : ends.min / 2 + ends.max / 2, f, enough);
}

/// How many cells a walk from end to end visits, about.
std::size_t Distribution::cells_in_reach() const {
  const std::vector<double>& keys = cells_->key();
  const double widest = 2 * (std::ceil(kernel_.reach() / rho_) + 1) + 1;
  double cells = widest;
  for (std::size_t c = 1; c < keys.size(); ++c) cells += std::min(keys[c] - keys[c - 1], widest);
  return static_cast<std::size_t>(std::min(cells, 1e15));
}

void Distribution::quantiles_by_cell(Span<const double> p, const Ends& ends,
                                     const ParallelOptions& options, Span<double> out) const {
  const std::vector<std::uint32_t> order = order_of(p, {}, part_of(options, 0, 0));
  const std::size_t items = (p.size + kQuantilesOfWalk - 1) / kQuantilesOfWalk;
  parallel_for(items, options, [&](std::size_t item, int) {
    const std::size_t begin = item * kQuantilesOfWalk;
    const std::size_t end = std::min(p.size, begin + kQuantilesOfWalk);
    // The cell before the first quantile, so that its rounding does not matter.
    const double first = quantile(p[order[begin]], ends, options);
    Walk walk(*this, std::max(ends.min, first - width_));
    for (std::size_t i = begin; i < end; ++i) {
      if (i % 64 == 0) poll_if_due(options);
      const double probability = p[order[i]];
      const bool within = probability > 0 && probability < 1 && walk.find(probability);
      out[order[i]] = within ? walk.quantile(probability) : quantile(probability, ends, options);
    }
  });
}

void Distribution::quantiles(Span<const double> p, const ParallelOptions& options,
                             Span<double> out) const {
  if (out.size != p.size) throw error(ErrorKind::internal, "output of a wrong size");
  ValueRange range{kLargest, -kLargest};
  const Span<const double> x = sample_.x();
  for (std::size_t i = 0; i < x.size; ++i) {
    if (!(sample_.w()[i] > 0)) continue;
    range = {std::min(range.min, x[i]), std::max(range.max, x[i])};
  }
  const double beyond = kernel_.is_compact() ? 0.0 : std::numeric_limits<double>::infinity();
  Ends ends{std::max(-kLargest, range.min - kernel_.farthest() * h_),
            std::min(kLargest, range.max + kernel_.farthest() * h_), 0, 0};
  ends.of_zero = ends.min - beyond;
  ends.of_one = ends.max + beyond;
  if (cells_ && !kernel_.is_compact() && p.size / kManyQuantiles >= cells_in_reach()) {
    return quantiles_by_cell(p, ends, options, out);
  }
  const std::size_t items = (p.size + kQuantilesOfItem - 1) / kQuantilesOfItem;
  parallel_for(items, options, [&](std::size_t item, int) {
    const std::size_t last = std::min(p.size, (item + 1) * kQuantilesOfItem);
    for (std::size_t i = item * kQuantilesOfItem; i < last; ++i) {
      poll_if_due(options);
      out[i] = quantile(p[i], ends, options);
    }
  });
}

}  // namespace kestrel
