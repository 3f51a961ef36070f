#include "core/data/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/parallel.hpp"

namespace kestrel {

namespace {

/// Samples of a work item.
constexpr std::size_t kWalks = 64;

/// Calls body(item, i) for every sample i of every item.
template <class Body>
void each_walk(std::size_t n, const ParallelOptions& options, const Body& body) {
  parallel_for((n + kWalks - 1) / kWalks, options, [&](std::size_t item, int) {
    for (std::size_t i = item * kWalks; i < std::min(n, (item + 1) * kWalks); ++i) {
      poll_if_due({});
      body(item, i);
    }
  });
}

}  // namespace

NeighbourWalk::NeighbourWalk(const double* x, std::size_t n, double point)
    : x_(x),
      left_(static_cast<std::size_t>(std::lower_bound(x, x + n, point) - x)),
      right_(left_),
      end_(n),
      point_(point) {}

double NeighbourWalk::to(std::size_t k) {
  if (distance_ >= 0 && met_ >= k) return distance_;
  while (left_ > 0 || right_ < end_) {
    const double left = left_ > 0 ? point_ - x_[left_ - 1] : HUGE_VAL;
    const double right = right_ < end_ ? x_[right_] - point_ : HUGE_VAL;
    const bool leftwards = left < right;
    double distance = leftwards ? left : right;
    if (distance < std::numeric_limits<double>::min()) distance = 0;
    if (distance > distance_) {
      if (distance_ >= 0) ++met_;
      distance_ = distance;
    }
    leftwards ? --left_ : ++right_;
    if (met_ == k) return distance_;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

NeighbourDistances::NeighbourDistances(const SortedSample& line, const ParallelOptions& options)
    : size_(line.size()), walks_(size_) {
  each_walk(size_, options, [&](std::size_t, std::size_t i) {
    walks_[i] = NeighbourWalk(line.x(), size_, line.x()[i]);
  });
}

RawArray<double> NeighbourDistances::to(std::size_t k, const ParallelOptions& options) {
  RawArray<double> distance(size_);
  each_walk(size_, options, [&](std::size_t, std::size_t i) { distance[i] = walks_[i].to(k); });
  return distance;
}

std::size_t most_neighbours(const SortedSample& line, std::size_t limit,
                            const ParallelOptions& options) {
  const std::size_t n = line.size();
  std::vector<std::size_t> most((n + kWalks - 1) / kWalks, limit);
  each_walk(n, options, [&](std::size_t item, std::size_t i) {
    NeighbourWalk walk(line.x(), n, line.x()[i]);
    // Those at the ends have the most.
    if (std::isnan(walk.to(most[item]))) most[item] = walk.met();
  });
  return most.empty() ? 0 : std::min(limit, *std::min_element(most.begin(), most.end()));
}

}  // namespace kestrel
