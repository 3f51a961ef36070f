// Rows of a sample, drawn with probability proportional to their weights.
#ifndef KESTREL_CORE_DATA_ROW_DRAWS_HPP
#define KESTREL_CORE_DATA_ROW_DRAWS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

/// Walker's alias method (1977, "An efficient method for generating discrete random variables with
/// general distributions"): each row has a share of its own cell, and one other row has the rest of
/// that cell. Cells are filled in the order of R's sample.int(). O(n) to make and 12 bytes a
/// row if there are weights; O(1) a draw.
class RowDraws {
 public:
  /// weight: finite, not negative, and not all zero.
  RowDraws(Weights weight, const ParallelOptions& options);

  std::size_t size() const { return size_; }
  /// The row for a cell and a number in [0, 1), both uniform.
  std::size_t row(std::size_t cell, double uniform) const {
    return share_.empty() || uniform < share_[cell] ? cell : other_[cell];
  }

 private:
  std::size_t size_;
  std::vector<double> share_;  // none if every row has all of its cell
  std::vector<std::uint32_t> other_;
};

}  // namespace kestrel

#endif
