// Sums over the samples of each cell: all that the `fgt` engine uses of its data.
#ifndef KESTREL_CORE_FGT_CELL_SUMS_HPP
#define KESTREL_CORE_FGT_CELL_SUMS_HPP

#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/fgt/cell_order.hpp"

namespace kestrel {

/// The maximum number of moments of a cell that any sum needs.
constexpr int kMaxMoments = 40;

/// Parts of cells, each small enough for a work item, and the items: item k consists of the pieces
/// first_piece[k], ..., first_piece[k + 1] - 1.
struct CellPieces {
  struct Piece {
    std::size_t cell;
    std::size_t begin, end;  // positions
  };
  std::vector<Piece> piece;
  std::vector<std::size_t> first_piece;

  std::size_t items() const { return first_piece.size() - 1; }
};

/// Cuts the chosen cells into pieces, in the order given.
CellPieces cut_cells(const CellOrder& order, const std::vector<std::size_t>& chosen);

/// For each chosen cell its `moments` moments, the sum of w z^a / a! at [a], and its sum_{i<j} w_i
/// w_j, computed from positive terms only. O(samples moments).
struct CellSums {
  std::vector<double> moment, pair_weight;
};
CellSums sum_cells(const CellOrder& order, const std::vector<std::size_t>& chosen, int moments,
                   const RunOptions& options);

}  // namespace kestrel

#endif
