// Sums over the samples of each cell: all that the `fgt` engine uses of its data.
#ifndef KESTREL_CORE_FGT_CELL_SUMS_HPP
#define KESTREL_CORE_FGT_CELL_SUMS_HPP

#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/fgt/cell_order.hpp"
#include "simd/fgt/cells.hpp"

namespace kestrel {

/// The maximum number of moments of a cell that any sum needs.
constexpr int kMaxMoments = simd::kMostMoments;

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

/// sum[a] = sum_i w_i z_i^a, a < moments, and sum[moments] = sum_i w_i^2, pairwise, so that ties
/// round the same way each time. `w`: null if all weights are 1.
void sum_powers(const double* z, const double* w, std::size_t count, int moments,
                const simd::Table& table, double* sum);

/// Turns sums of powers z^a, a < moments, into moments, the sums of z^a / a!.
void divide_by_factorials(int moments, double* sum);

/// For each cell its `moments` moments, the sum of w z^a / a! at [a], and the sum of w^2.
struct CellSums {
  std::size_t moments = 0;
  std::vector<double> sum;

  const double* moment(std::size_t cell) const { return sum.data() + cell * (moments + 1); }
  double squares(std::size_t cell) const { return moment(cell)[moments]; }
};

/// Of the chosen cells. O(samples moments).
CellSums sum_cells(const CellOrder& order, const std::vector<std::size_t>& chosen, int moments,
                   const RunOptions& options);

}  // namespace kestrel

#endif
