// The moments of many samples in more cells than FullCells takes.
#ifndef KESTREL_CORE_FGT_PARTED_CELLS_HPP
#define KESTREL_CORE_FGT_PARTED_CELLS_HPP

#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"
#include "core/fgt/cell_order.hpp"

namespace kestrel {

/// The cells that hold a sample, in ascending order. All threads sort one part of the samples after
/// the other, and the sums of the parts are added, so that there is never a copy of all samples.
class PartedCells {
 public:
  /// Samples of a part.
  static constexpr std::size_t kPartSize = std::size_t{1} << 19;

  /// Whether there is more than one part, and a part has on average so many samples in a cell that
  /// parts pay: by the range, or by how some of the samples lie. O(1).
  static bool suit(Span<const double> x, const ValueRange& range, int exponent);

  /// Throws error(input) where CellOrder does. O(n moments); the same bits for every number of
  /// threads.
  PartedCells(Span<const double> x, Weights w, const ValueRange& range, int exponent, int moments,
              const RunOptions& options);

  std::size_t cells() const { return key_.size(); }
  double key(std::size_t cell) const { return key_[cell]; }
  /// The sum of w z^a / a! at [a].
  const double* moment(std::size_t cell) const { return sum_.data() + cell * row_; }

 private:
  void add_part(const CellOrder& order, int moments, const RunOptions& options);
  std::vector<std::size_t> open_cells(const CellOrder& order);

  const std::size_t row_;
  std::vector<double> key_, sum_;  // of sums, row after row
};

}  // namespace kestrel

#endif
