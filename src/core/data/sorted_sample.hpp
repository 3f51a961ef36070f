// A sample in ascending order.
#ifndef KESTREL_CORE_DATA_SORTED_SAMPLE_HPP
#define KESTREL_CORE_DATA_SORTED_SAMPLE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/base/raw_array.hpp"
#include "core/base/span.hpp"
#include "core/data/passes.hpp"
#include "core/data/weights.hpp"
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
  SortedSample(Span<const double> x, Weights w, Span<const double> y,
               const ParallelOptions& options);
  /// The same points and responses, in the same memory, with weight(i) for the point that is number
  /// i in sorted order. O(n).
  template <class Weight>
  SortedSample with_weights(const Weight& weight, const ParallelOptions& options) const {
    SortedSample other = *this;
    other.w_ = padded(size_, 0.0, weight, options);
    other.unit_weights_ = false;
    return other;
  }

  std::size_t size() const { return size_; }
  /// The original index of the point that is number i in sorted order.
  std::size_t given(std::size_t i) const { return (*order_)[i]; }
  /// Whether every weight is 1; sums then need not read them.
  bool unit_weights() const { return unit_weights_; }
  /// The weights, absent if every one is 1.
  Weights weights() const { return {unit_weights_ ? nullptr : w(), size_}; }
  const double* x() const { return start(x_); }
  /// Null if not given.
  const double* w() const { return start(w_); }
  const double* y() const { return start(y_); }

 private:
  /// Shared, since samples with other weights have the same points.
  using Column = std::shared_ptr<const RawArray<double>>;

  static const double* start(const Column& column) {
    return column == nullptr ? nullptr : column->data() + simd::kSweepPadding;
  }

  /// value(i) for all i, padded with simd::kSweepPadding values `beside` on either side.
  template <class Value>
  static Column padded(std::size_t n, double beside, const Value& value,
                       const ParallelOptions& options) {
    constexpr std::size_t padding = simd::kSweepPadding;
    const auto all = std::make_shared<RawArray<double>>(n + 2 * padding);
    std::fill(all->data(), all->data() + padding, beside);
    std::fill(all->data() + padding + n, all->data() + n + 2 * padding, beside);
    pass_over(n, options, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) (*all)[padding + i] = value(i);
    });
    return all;
  }

  /// The values v in sorted order; none if v is empty.
  Column arranged(Span<const double> v, double beside, const ParallelOptions& options) const;

  std::size_t size_ = 0;
  std::shared_ptr<const RawArray<std::uint32_t>> order_;
  bool unit_weights_ = false;
  Column x_, w_, y_;
};

}  // namespace kestrel

#endif
