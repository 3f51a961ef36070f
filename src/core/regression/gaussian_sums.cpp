#include "core/regression/gaussian_sums.hpp"

#include <algorithm>
#include <cmath>

#include "shared/local_fit.hpp"
#include "simd/sweep/sweep.hpp"

namespace kestrel {

namespace {

/// Points of a work item: with cells, and where all sums are pair by pair.
constexpr std::size_t kItem = kSweepBlock, kItemOfPairs = kLeastBlock;

struct Window {
  std::size_t first, end;
};

/// Samples with fl(|point - x|) < reach.
Window window_of(const double* x, std::size_t n, double point, double reach) {
  const double* first =
      std::partition_point(x, x + n, [&](double v) { return v < point && point - v >= reach; });
  const double* end =
      std::partition_point(first, x + n, [&](double v) { return v <= point || v - point < reach; });
  return {static_cast<std::size_t>(first - x), static_cast<std::size_t>(end - x)};
}

/// The sums of one block of points.
class GaussianBlock {
 public:
  GaussianBlock(const GaussianCall& call, std::size_t begin, std::size_t count, std::size_t slot)
      : call_(call), block_{begin, count, slot, sum_, 2, kItem, first_, end_} {
    find_windows();
    if (call.level == nullptr) {
      for (std::size_t i = 0; i < count; ++i) pair_by_pair(i);
      return;
    }
    std::fill(scale_, scale_ + count, 1.0);
    const double scale = std::ldexp(1.0, -call.level->exponent);
    for (std::size_t i = 0; i < count;) {
      const double key = std::floor(point(i) * scale);
      std::size_t end = i + 1;
      while (end < count && std::floor(point(end) * scale) == key) ++end;
      of_cell(key, i, end);
      i = end;
    }
  }

  LocalSums sums() const { return {block_, scale_}; }

 private:
  double point(std::size_t i) const { return call_.points.x()[block_.begin + i]; }
  double* sum(int q, int column) { return sum_ + (2 * q + column) * static_cast<int>(kItem); }

  void find_windows();
  void of_cell(double key, std::size_t begin, std::size_t end);
  void pair_by_pair(std::size_t i);
  void add_pairs(simd::GaussianWindow& window, std::size_t first, std::size_t end) const;

  const GaussianCall& call_;
  SweepBlock block_;
  double sum_[6 * kItem] = {}, scale_[kItem];
  std::uint32_t first_[kItem], end_[kItem];
};

void GaussianBlock::find_windows() {
  const double* x = call_.source.sample().x();
  const std::size_t n = call_.source.sample().size();
  const double reach = kGaussianReach * call_.kernel.h;
  Window now = window_of(x, n, point(0), reach);
  for (std::size_t i = 0; i < block_.count; ++i) {
    const double e = point(i);
    const auto left = [&](std::size_t j) { return x[j] < e && e - x[j] >= reach; };
    const auto inside = [&](std::size_t j) { return x[j] <= e || x[j] - e < reach; };
    // A few steps mostly; a search where a gap follows.
    int steps = 8;
    while (steps > 0 && now.first < n && left(now.first)) ++now.first, --steps;
    while (steps > 0 && now.end < n && inside(now.end)) ++now.end, --steps;
    if (steps == 0) now = window_of(x, n, e, reach);
    first_[i] = static_cast<std::uint32_t>(now.first);
    end_[i] = static_cast<std::uint32_t>(now.end);
  }
}

void GaussianBlock::of_cell(double key, std::size_t begin, std::size_t end) {
  const NodeLevel& level = *call_.level;
  const double width = std::ldexp(1.0, level.exponent);
  const double scale = std::ldexp(1.0, -level.exponent);
  const auto from_centre = [&](std::size_t i) {
    const TwoPart part = exact_difference(point(i) * scale, key + 0.5);
    return TwoPart{part.high * width, part.low * width};
  };
  // Of the line through the first point, at the centre.
  const double y0 = call_.responses ? call_.points.y()[block_.begin + begin] -
                                          call_.kernel.slope * from_centre(begin).high
                                    : 0.0;
  const std::size_t count = end - begin;
  const CellAtNodes cell(call_, key, y0);
  const int columns = cell.columns, functions = call_.powers * columns;
  // Values at the points.
  double coefficient[6 * kNodes] = {}, t[kItem], value[6 * kItem];
  for (int f = 0; f < functions; ++f) {
    const int at = f * static_cast<int>(kNodes);
    call_.table.nodes->add_product(node_tables().coefficients, cell.sum + at, coefficient + at);
  }
  for (std::size_t i = 0; i < count; ++i) t[i] = 2 * (point(begin + i) * scale - key) - 1;
  call_.table.nodes->interpolate(coefficient, functions, t, count, kItem, value);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = block_.begin + begin + i;
    for (int q = 0; q < call_.powers; ++q) {
      sum(q, 0)[begin + i] = value[static_cast<std::size_t>(q * columns) * kItem + i];
    }
    if (call_.responses) {
      // From the cell's line to that through the point.
      const double off =
          off_line(call_.points.y()[at], y0, call_.kernel.slope, from_centre(begin + i));
      for (int q = 0; q < std::min(2, call_.powers); ++q) {
        sum(q, 1)[begin + i] =
            value[static_cast<std::size_t>(2 * q + 1) * kItem + i] - off * sum(q, 0)[begin + i];
      }
    }
    if (call_.leave_one_out) sum(0, 0)[begin + i] -= call_.points.w()[at];
    if (!is_accurate(call_, sum(0, 0)[begin + i], sum(1, 0)[begin + i], sum(2, 0)[begin + i],
                     cell.bound, cell.bound_of_squares)) {
      pair_by_pair(begin + i);
    }
  }
}

void GaussianBlock::add_pairs(simd::GaussianWindow& window, std::size_t first,
                              std::size_t end) const {
  if (first < end) call_.table.sweep->gaussian_window(window, first, end);
}

void GaussianBlock::pair_by_pair(std::size_t i) {
  poll_if_due({});  // a window may hold all of the sample
  const SortedSample& sample = call_.source.sample();
  const Places* places = call_.source.places();
  const double h = call_.kernel.h, e = point(i);
  const double* x = places != nullptr ? places->x() : sample.x();
  const std::size_t n = places != nullptr ? places->size() : sample.size();
  const std::size_t at = block_.begin + i, none = n;
  const std::size_t own = !call_.leave_one_out ? none : places != nullptr ? places->of(at) : at;
  // Others at the same place, if places are sums of samples.
  double tied = 0;
  if (own != none && places != nullptr) {
    tied = places->w()[own] - sample.w()[at];
    if (!(tied * kMaxLoss > places->w()[own])) {
      tied = 0;
      for (std::size_t j = places->first(own); j < places->first(own + 1); ++j) {
        if (j != at) tied += sample.w()[j];
      }
    }
  }
  const bool has_tied =
      own != none && places != nullptr && places->first(own + 1) - places->first(own) > 1;
  const Window seen = window_of(x, n, e, kGaussianReach * h);
  double nearest = HUGE_VAL;
  if (has_tied) {
    nearest = 0;
  } else if (own != none) {
    nearest = nearest_neighbour(x, seen.first, seen.end, own) / h;
  } else {
    const double* right = std::lower_bound(x + seen.first, x + seen.end, e);
    const double left = right > x + seen.first ? e - right[-1] : HUGE_VAL;
    nearest = std::min(left, right < x + seen.end ? *right - e : HUGE_VAL) / h;
  }
  scale_[i] = std::exp(-0.5 * call_.power * nearest * nearest);
  simd::GaussianWindow window{};
  window.x = x;
  window.w = places != nullptr ? places->w() : sample.w();
  window.y = places != nullptr ? places->y() : sample.y();
  window.more = places != nullptr && call_.responses ? places->more() : nullptr;
  if (!call_.responses) window.y = window.w;  // read, but sums with it are not used
  window.point = e;
  window.reference = call_.responses ? call_.points.y()[at] : 0.0;
  window.scale = 1 / h;
  window.nearest = nearest;
  window.slope = call_.kernel.slope;
  window.power = call_.power;
  window.factor = call_.factors.all_one ? nullptr : call_.factors.of[0].term;
  if (std::isfinite(nearest)) {  // fl(38 h) may be more than 38 h
    const Window used = window_of(x, n, e, gaussian_reach(nearest, call_.cut, kGaussianReach, h));
    add_pairs(window, used.first, own == none ? used.end : own);
    if (own != none) add_pairs(window, own + 1, used.end);
  }
  if (has_tied) {
    window.sum[0] += tied;
    if (call_.responses) {
      window.sum[1] +=
          places->w()[own] * ((places->y()[own] - window.reference) + places->more()[own]);
    }
  }
  for (int k = 0; k < 5; ++k)
    sum_[k * static_cast<int>(kItem) + static_cast<int>(i)] = window.sum[k];
}

}  // namespace

void gaussian_block(const GaussianCall& call, std::size_t begin, std::size_t count,
                    std::size_t slot, int worker, const LocalTake& take) {
  const GaussianBlock block(call, begin, count, slot);
  take(block.sums(), worker);
}

void gaussian_sums(const LocalSource& source, const SortedSample& points, const LocalKernel& kernel,
                   int power, const RunOptions& options, const LocalTake& take) {
  const GaussianCall call(source, points, kernel, power, *options.table);
  const std::size_t size = call.level == nullptr ? kItemOfPairs : kItem;
  const std::size_t items = (points.size() + size - 1) / size;
  parallel_for(items, options.parallel, [&](std::size_t item, int worker) {
    const std::size_t begin = item * size;
    gaussian_block(call, begin, std::min(size, points.size() - begin), item, worker, take);
  });
}

}  // namespace kestrel
