// The windows of points on a line: which samples of a sorted sample each point reaches.
#ifndef KESTREL_CORE_SWEEP_WINDOWS_HPP
#define KESTREL_CORE_SWEEP_WINDOWS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/data/sorted_sample.hpp"
#include "simd/sweep/sweep.hpp"

namespace kestrel {

/// What is inside a window, decided by the rounded distance: fl(e - x) < outside to the left of a
/// point e, fl(x - e) <= farthest to the right.
struct WindowReach {
  double outside;   // the minimum distance out of reach
  double farthest;  // the maximum distance within reach
};

/// The windows of the points of one block after another, as counts of samples:
///
///     samples   0   1   2   3   4   5   6   7   8
///                     [----------e-----------]           the window of point e
///                     first=2    last=5      end=7
///
/// Samples [first, last) lie in the window and left of the point or at its position, [last, end)
/// right of it.
class BlockWindows {
 public:
  /// `points` may be the sample itself: then last() of a point is the index after the point itself,
  /// as both sides leave it out. Without `both`, end() is not computed. `size`: the maximum number
  /// of points of a block.
  BlockWindows(const SortedSample& sample, const SortedSample& points, const WindowReach& reach,
               bool both, std::size_t size, simd::SweepCountFunction count_leading);

  /// Prepares for the points from this one on. O(log n).
  void start(std::size_t point);
  /// Finds the windows of points [begin, begin + count), which must come after those of the call
  /// before. O(count + samples passed) for all calls together.
  void find(std::size_t begin, std::size_t count);

  // For point i of the block found last.
  std::size_t begin() const { return begin_; }
  std::size_t last(std::size_t i) const { return leave_one_out_ ? begin_ + i + 1 : last_[i]; }
  const std::uint32_t* first() const { return first_.data(); }
  /// Null if the points are the sample.
  const std::uint32_t* last() const { return leave_one_out_ ? nullptr : last_.data(); }
  const std::uint32_t* end() const { return end_.data(); }

 private:
  const SortedSample &sample_, &points_;
  const WindowReach reach_;
  const bool both_, leave_one_out_;
  const simd::SweepCountFunction count_leading_;
  std::size_t begin_ = 0;
  std::vector<simd::SweepEdge> edges_;  // how far each of the three bounds has come
  std::vector<std::uint32_t> first_, last_, end_;
};

/// The index of the first of the bounds [from, to) for which `condition` holds; it must hold for
/// all after it.
template <class Condition>
std::size_t first_bound_where(const std::uint32_t* bounds, std::size_t from, std::size_t to,
                              const Condition& condition) {
  const auto before = [&](std::uint32_t bound) { return !condition(bound); };
  return static_cast<std::size_t>(std::partition_point(bounds + from, bounds + to, before) -
                                  bounds);
}

}  // namespace kestrel

#endif
