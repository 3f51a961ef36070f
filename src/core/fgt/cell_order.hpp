// Values on a line in cells of a power-of-two width.
//
// A cell of width W = 2^e is [k W, (k + 1) W). Its key k is a double and exact however large, since
// a number of 2^53 W or more is itself a multiple of W. Differences of the keys of neighbours are
// exact too. A value is represented by its cell and its offset z = x / W - k - 1/2 in [-1/2, 1/2].
// So data need no centring, and no digits are lost to a far origin, to outliers or to clusters.
#ifndef KESTREL_CORE_FGT_CELL_ORDER_HPP
#define KESTREL_CORE_FGT_CELL_ORDER_HPP

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/raw_array.hpp"
#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

/// The exponent e with bandwidth * 2^-halvings / 2 < 2^e <= bandwidth * 2^-halvings. Throws
/// error(input) for a bandwidth that is not positive, or outside 1e-290 .. 1e290.
int cell_exponent(double bandwidth, int halvings);

/// The minimum and maximum of some values.
struct ValueRange {
  double min, max;

  /// How many cells of width 2^exponent the range spans, those at both ends included.
  double cells(int exponent) const;
};

/// Whether cell_exponent() and CellOrder take such a bandwidth, and up to so many halvings, for
/// values in this range. The bandwidth is positive and finite.
bool fits_cells(const ValueRange& range, double bandwidth, int halvings);

/// Throws error(input) when a value is not finite. O(n).
ValueRange range_of(Span<const double> x, const ParallelOptions& options);

/// Values sorted by cell, with their weights unless they are absent; inside a cell they keep their
/// order. Only cells that hold something are stored.
class CellOrder {
 public:
  /// w: one weight a value. Throws error(input) where check_weights does, and if a value
  /// leaves the range of a double in units of the width. Values within about 2 n cells of their
  /// median are sorted by counting, the m values farther out by comparison: O(n + m log m).
  CellOrder(Span<const double> x, Weights w, const ValueRange& range, int exponent,
            const RunOptions& options);

  int exponent() const { return exponent_; }
  std::size_t cells() const { return key_.size(); }
  /// Ascending.
  double key(std::size_t cell) const { return key_[cell]; }
  /// The values of a cell are at positions first(cell), ..., first(cell + 1) - 1.
  std::size_t first(std::size_t cell) const { return first_[cell]; }
  std::size_t count(std::size_t cell) const { return first_[cell + 1] - first_[cell]; }
  /// By position.
  const double* offset() const { return offset_.data(); }
  /// Absent if those of the values are.
  Weights weight() const { return weight_; }
  /// The position of value i of the input.
  std::size_t place(std::size_t i) const { return place_[i]; }

 private:
  /// Keys and indices of values beyond the slots.
  using Outside = std::vector<std::pair<double, std::uint32_t>>;
  std::size_t open_cells(double min, std::size_t slots, std::size_t chunks, const Outside& outside,
                         std::uint32_t* next, const ParallelOptions& options);
  void find_slots(Span<const double> x, std::size_t begin, std::size_t end, double min,
                  std::size_t slots, const simd::Table& table, std::uint32_t* count,
                  Outside* outside);
  void fill(Span<const double> x, Weights w, double min, std::size_t slots,
            const RunOptions& options);

  int exponent_;
  std::vector<double> key_;
  std::vector<std::size_t> first_;
  RawArray<double> offset_, sorted_weight_;
  Weights weight_;
  RawArray<std::uint32_t> place_;
};

}  // namespace kestrel

#endif
