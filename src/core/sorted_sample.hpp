// A sample in ascending order, and the same seen in a mirror.
#ifndef KESTREL_CORE_SORTED_SAMPLE_HPP
#define KESTREL_CORE_SORTED_SAMPLE_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/span.hpp"

namespace kestrel {

/// Points on the line with what is attached to them, sorted by x (ties by their place), for the
/// leaves of simd/sweep.hpp: every array may be read from one place before its first value to
/// simd::kSweepPadding behind its last, where x is infinite. The mirrored side holds -x in
/// ascending order, so that sums over what lies to the right are sums over what lies to the left.
/// O(n log n) time; 16 bytes a point and attached variable, and 4 for the order.
class SortedSample {
 public:
  struct Side {
    const double* x;
    const double* w;  // null where nothing was given
    const double* y;
  };

  /// w and y may be empty. Throws error(input) when their sizes differ from that of x, a value of
  /// x is not finite, or there are 2^31 - 32 points or more.
  SortedSample(Span<const double> x, Span<const double> w, Span<const double> y);

  std::size_t size() const { return order_.size(); }
  /// Where point i of the sorted ones was given.
  std::size_t given(std::size_t i) const { return order_[i]; }
  /// Whether every weight is 1: then sums need not read them.
  bool unit_weights() const { return unit_weights_; }
  Side ascending() const { return {x_[0].data() + 1, start(w_[0]), start(y_[0])}; }
  Side mirrored() const { return {x_[1].data() + 1, start(w_[1]), start(y_[1])}; }

 private:
  static const double* start(const std::vector<double>& v) {
    return v.empty() ? nullptr : v.data() + 1;
  }

  std::vector<std::uint32_t> order_;
  bool unit_weights_ = false;
  std::vector<double> x_[2], w_[2], y_[2];  // ascending and mirrored
};

}  // namespace kestrel

#endif
