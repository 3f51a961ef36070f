// A sample in ascending order.
#ifndef KESTREL_CORE_DATA_SORTED_SAMPLE_HPP
#define KESTREL_CORE_DATA_SORTED_SAMPLE_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "simd/sweep/sweep.hpp"

namespace kestrel {

/// Points on the line and their weights and responses, sorted by x (ties by index), for the leaves
/// of simd/sweep/sweep.hpp. Every array is readable from simd::kSweepPadding values before its
/// first value to as many after its last; there x is infinite. O(n log n) time; 8 bytes a point and
/// variable, and 4 for the order.
class SortedSample {
 public:
  /// w and y may be empty. Throws error(input) when their sizes differ from that of x, a value of
  /// x is not finite, or there are 2^31 - 32 points or more.
  SortedSample(Span<const double> x, Span<const double> w, Span<const double> y,
               const ParallelOptions& options);
  /// The same points and responses with other weights, which are in sorted order. O(n).
  SortedSample with_weights(Span<const double> sorted_w) const;

  std::size_t size() const { return order_.size(); }
  /// The original index of the point that is number i in sorted order.
  std::size_t given(std::size_t i) const { return order_[i]; }
  /// Whether every weight is 1; sums then need not read them.
  bool unit_weights() const { return unit_weights_; }
  const double* x() const { return start(x_); }
  /// Null if not given.
  const double* w() const { return start(w_); }
  const double* y() const { return start(y_); }

 private:
  static const double* start(const std::vector<double>& v) {
    return v.empty() ? nullptr : v.data() + simd::kSweepPadding;
  }

  std::vector<std::uint32_t> order_;
  bool unit_weights_ = false;
  std::vector<double> x_, w_, y_;
};

}  // namespace kestrel

#endif
