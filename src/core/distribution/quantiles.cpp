#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/parallel.hpp"
#include "core/distribution/distribution.hpp"

namespace kestrel {

namespace {

/// Quantiles of a work item, each of which takes some ten points.
constexpr std::size_t kQuantilesOfItem = 2;
/// Of a quantile, in bandwidths: F changes by less than the half of this.
constexpr double kQuantileTolerance = 1e-14;
constexpr double kEpsilonOfDoubles = std::numeric_limits<double>::epsilon();
constexpr double kLargest = std::numeric_limits<double>::max();

}  // namespace

/// Where the weight of the cells passes p.
double Distribution::start(double p) const {
  const auto next = std::upper_bound(before_.begin(), before_.end() - 1, p * total_);
  const std::size_t cell = static_cast<std::size_t>(next - before_.begin()) - 1;
  return (cells_->key()[cell] + 0.5) * width_;
}

// Newton's method within a bracket, which is halved where a step leaves it or the steps do not
// become smaller (Press et al. 1992, section 9.4).
double Distribution::quantile(double p, double min, double max,
                              const ParallelOptions& options) const {
  if (at(min, options).value >= p) return min;
  if (at(max, options).value <= p) return max;
  double before = kLargest, step = kLargest;  // the two last steps
  double q = cells_ ? start(p) : min / 2 + max / 2;
  for (;;) {
    if (!(q > min && q < max)) q = min / 2 + max / 2;
    const double enough = kQuantileTolerance * h_ + kEpsilonOfDoubles * std::fabs(q);
    const Local local = at(q, options);
    const double excess = local.value - p;
    if (excess == 0) return q;
    (excess < 0 ? min : max) = q;
    if (max - min <= enough) return min / 2 + max / 2;
    double next = q - excess / local.slope * h_;
    if (!(next > min && next < max) || std::fabs(next - q) > before / 2) next = min / 2 + max / 2;
    before = step;
    step = std::fabs(next - q);
    q = next;
    if (step <= enough) return q;
  }
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
  const double min = std::max(-kLargest, range.min - kernel_.farthest() * h_);
  const double max = std::min(kLargest, range.max + kernel_.farthest() * h_);
  const double end = kernel_.is_compact() ? 0.0 : std::numeric_limits<double>::infinity();
  const std::size_t items = (p.size + kQuantilesOfItem - 1) / kQuantilesOfItem;
  parallel_for(items, options, [&](std::size_t item, int) {
    const std::size_t last = std::min(p.size, (item + 1) * kQuantilesOfItem);
    for (std::size_t i = item * kQuantilesOfItem; i < last; ++i) {
      poll_if_due(options);
      out[i] = p[i] == 0 ? min - end : p[i] == 1 ? max + end : quantile(p[i], min, max, options);
    }
  });
}

}  // namespace kestrel
