// The samples on a line as sums at points need them.
#ifndef KESTREL_CORE_FGT_SOURCE_CELLS_HPP
#define KESTREL_CORE_FGT_SOURCE_CELLS_HPP

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/data/weights.hpp"
#include "core/fgt/cell_order.hpp"
#include "core/fgt/line_sample.hpp"

namespace kestrel {

/// The cells of a sample: the moments of those that hold many samples, and the samples of the
/// others.
class SourceCells {
 public:
  struct Demand {
    int exponent;                    // cells are 2^exponent wide
    std::size_t few;                 // cells with at most so many samples get no moments
    std::function<int(int)> enough;  // (k): how many moments are enough for cells 2^-k as wide
    bool need_samples;               // whether the samples of other cells are wanted, too
  };

  /// If cells are full and samples are not needed, all cells have moments, and no sample is kept.
  /// Throws error(input) where CellOrder does. O(n), O(cells) if cells are full and the sample
  /// keeps them; 12 bytes for each sample, and 8 for its weight, if samples are kept.
  SourceCells(const LineSample& sample, const Demand& demand, const RunOptions& options);

  std::size_t size() const { return key_.size(); }
  /// Of the cells, ascending.
  const std::vector<double>& key() const { return key_; }
  bool has_moments(std::size_t cell) const { return slot_[cell] != kNone; }
  /// [a] = the sum of w z^a / a! over the samples of a cell that has moments, a < enough(0).
  const double* moment(std::size_t cell) const { return moment_.data() + slot_[cell] * row_; }

  /// Whether the samples are known, too; else the functions that follow must not be called.
  bool has_samples() const { return order_ != nullptr; }
  /// Those of a cell are number first(cell), ..., first(cell + 1) - 1.
  std::size_t first(std::size_t cell) const { return order_->first(cell); }
  std::size_t count(std::size_t cell) const { return order_->count(cell); }
  const double* offset() const { return order_->offset(); }
  Weights weight() const { return order_->weight(); }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  template <class Cells>
  void take_moments(const Cells& cells, int moments);
  void sort_samples(const LineSample& sample, const Demand& demand, const RunOptions& options);

  std::unique_ptr<const CellOrder> order_;
  std::vector<double> key_;
  std::vector<std::size_t> slot_;  // where a cell's moments are
  std::vector<double> moment_;     // slot by slot
  std::size_t row_ = 0;            // of moment_
};

}  // namespace kestrel

#endif
