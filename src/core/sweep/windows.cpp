#include "core/sweep/windows.hpp"

#include <limits>

namespace kestrel {

namespace {

/// Padding, so that a vector's last bound is its largest, however few points there are.
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

}  // namespace

BlockWindows::BlockWindows(const SortedSample& sample, const SortedSample& points,
                           const WindowReach& reach, bool both, std::size_t size,
                           simd::SweepCountFunction count_leading)
    : sample_(sample),
      points_(points),
      reach_(reach),
      both_(both),
      leave_one_out_(&sample == &points),
      count_leading_(count_leading),
      first_(size + simd::kSweepPadding, 0),
      last_(size + simd::kSweepPadding, 0),
      end_(size + simd::kSweepPadding, 0) {}

void BlockWindows::start(std::size_t point) {
  const double* x = sample_.x();
  const double e = points_.x()[point];
  edges_.clear();
  const auto add = [&](double bound, std::vector<std::uint32_t>& found) {
    const double* at =
        std::partition_point(x, x + sample_.size(), [&](double v) { return e - v >= bound; });
    edges_.push_back({bound, static_cast<std::size_t>(at - x), found.data()});
  };
  // Compares as the kernel itself does. x - e <= farthest is the same as e - x >= -farthest, since
  // rounding is symmetric.
  add(reach_.outside, first_);
  if (!leave_one_out_) add(0.0, last_);
  if (both_) add(-reach_.farthest, end_);
}

void BlockWindows::find(std::size_t begin, std::size_t count) {
  begin_ = begin;
  count_leading_(
      {sample_.x(), points_.x() + begin, count, edges_.data(), static_cast<int>(edges_.size())});
  for (const simd::SweepEdge& edge : edges_) {
    std::fill_n(edge.count + count, simd::kSweepPadding, kNone);
  }
}

}  // namespace kestrel
