// The moments of many samples in few cells.
#ifndef KESTREL_CORE_FGT_FULL_CELLS_HPP
#define KESTREL_CORE_FGT_FULL_CELLS_HPP

#include <cstddef>
#include <vector>

#include "core/base/raw_array.hpp"
#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"
#include "core/fgt/cell_order.hpp"
#include "simd/fgt/cells.hpp"

namespace kestrel {

/// Samples are cut into parts only if a part has on average at least this many in a cell.
constexpr double kMinOfFullCell = 16;
/// Cells of a work item that adds up the sums of parts.
constexpr std::size_t kCellsOfAddition = 32;

/// Samples of some cells, one cell after the other: offsets in the cell (CellOrder) and weights.
/// The k-th of these cells has those from end[k - 1], or 0, to end[k].
struct SortedSamples {
  std::vector<double> offset, weight;
  std::vector<std::size_t> end;
};

/// All cells from the first to the last that hold a sample. The samples are sorted in parts that a
/// level-2 cache holds, and the sums of the parts are added.
class FullCells {
 public:
  /// Samples of a part.
  static constexpr std::size_t kPartSize = std::size_t{1} << 15;

  /// Whether there are enough samples in each cell, and so many samples that parts pay.
  static bool suit(std::size_t samples, const ValueRange& range, int exponent);

  /// Throws error(input) where check_weights does. O(n moments); the same bits for every number of
  /// threads.
  FullCells(Span<const double> x, Weights w, const ValueRange& range, int exponent, int moments,
            const RunOptions& options);

  std::size_t cells() const { return cells_; }
  double key(std::size_t cell) const { return first_ + static_cast<double>(cell); }
  /// The sum of w z^a / a! at [a].
  const double* moment(std::size_t cell) const { return sum_.data() + cell * row_; }
  /// The sum of w^2, and the number of samples with a positive weight.
  double squares(std::size_t cell) const { return moment(cell)[row_ - 2]; }
  double positive(std::size_t cell) const { return moment(cell)[row_ - 1]; }

  /// The samples of the chosen cells, chosen[cell] != 0, from those that the cells were made of.
  /// O(n).
  SortedSamples samples_of(const std::vector<char>& chosen, Span<const double> x, Weights w,
                           const RunOptions& options) const;

 private:
  struct Scratch;
  void add_part(Span<const double> x, Weights w, const simd::Table& table, Scratch* scratch,
                double* sum) const;
  void add_up(const ParallelOptions& options);

  simd::CellSlots slots() const { return {scale_, first_, static_cast<double>(cells_ - 1)}; }

  std::size_t cells_, row_;
  double scale_, first_;
  RawArray<double> sum_;                 // row after row; those of the first item of work
  std::vector<RawArray<double>> other_;  // of the other items
};

}  // namespace kestrel

#endif
