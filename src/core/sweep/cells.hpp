// The greedy cells of a sorted sample, and the groups of cells that a work item takes.
#ifndef KESTREL_CORE_SWEEP_CELLS_HPP
#define KESTREL_CORE_SWEEP_CELLS_HPP

#include <cstddef>
#include <vector>

#include "core/data/sorted_sample.hpp"
#include "simd/sweep/sweep.hpp"

namespace kestrel {

/// About how many samples one work item takes, in whole cells.
constexpr std::size_t kSweepGroup = std::size_t{1} << 16;

/// Samples [begin, end) of which none is out of reach of another, and a line near their y: sums are
/// of y minus this, so that a large mean or trend of y does not drown its residuals.
struct SweepCell {
  std::size_t begin = 0, end = 0;
  simd::SweepLine line;

  /// Runs are numbered from the end of the cell, so that all runs but the one with the last number
  /// are full.
  std::size_t run_of(std::size_t sample) const { return (end - 1 - sample) / simd::kSweepRun; }
  std::size_t runs() const { return begin < end ? run_of(begin) + 1 : 0; }
  std::size_t end_of(std::size_t run) const { return end - run * simd::kSweepRun; }
  std::size_t begin_of(std::size_t run) const {
    return end_of(run) - begin <= simd::kSweepRun ? begin : end_of(run + 1);
  }
};

/// The greedy cells of a sample: from the first sample on, each cell ends before the first sample
/// that is out of reach of the one it begins with.
class SweepCells {
 public:
  /// outside: the minimum distance that is out of reach; with_y: whether cells get a line, of this
  /// slope.
  SweepCells(const SortedSample& sample, double outside, bool with_y, double slope)
      : sample_(sample), outside_(outside), with_y_(with_y), slope_(slope) {}

  /// Where the cell that begins at sample `begin` ends. O(log of its size).
  std::size_t end_of_cell(std::size_t begin) const;
  SweepCell cell(std::size_t begin, std::size_t end) const;
  SweepCell cell_from(std::size_t begin) const { return cell(begin, end_of_cell(begin)); }

 private:
  const SortedSample& sample_;
  const double outside_;
  const bool with_y_;
  const double slope_;
};

/// Whole cells with about kSweepGroup samples, and the points that lie among these.
struct SweepGroup {
  std::size_t cell_before;  // where the cell before the first one begins
  std::size_t first_cell;   // where the first one begins
  std::size_t first_point;  // the first point that is not left of it
  std::size_t first_slot;   // SweepBlock::slot of the first block of these points
};

/// The groups of a sample, and one more after the last. They depend on the data alone. `points` may
/// be the sample itself. O(cells log n).
std::vector<SweepGroup> cut_groups(const SweepCells& cells, const SortedSample& sample,
                                   const SortedSample& points, std::size_t points_of_block);

}  // namespace kestrel

#endif
