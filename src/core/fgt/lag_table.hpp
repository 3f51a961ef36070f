// Sums over all pairs of samples in two cells, for each distance of the cells. They give every
// Gaussian sum over pairs whose bandwidth suits the width of the cells.
#ifndef KESTREL_CORE_FGT_LAG_TABLE_HPP
#define KESTREL_CORE_FGT_LAG_TABLE_HPP

#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/fgt/cell_moments.hpp"
#include "core/fgt/truncation.hpp"

namespace kestrel {

/// A sum over pairs, times (2^exponent / g)^order and without the constant of phi; and whether its
/// error is below kPairTolerance of the sum of |terms|.
struct PairSum {
  double value;
  bool accurate;
};

/// D_m(l) = sum over the pairs of cells A, B = A + l of sum_ij w_i w_j (z_j - z_i)^m / m!, z
/// offsets from the centres of the cells in widths W (l = 0: i < j only):
///
///       cell A                           cell B = A + 3
///     |----+--i--|---------|---------|--j-+----|
///          >--< z_i                     <-< z_j < 0
///             |<-- (3 + z_j - z_i) W -->|
///
/// With rho = W / g a pair has phi^(r)(rho (l + z_j - z_i)), whose Taylor series about rho l gives
///
///     sum over pairs of phi^(r)((x_i - x_j) / g) = sum_l sum_m rho^m phi^(r+m)(rho l) D_m(l).
///
/// So the sums of every bandwidth and order need nothing of the data but D.
class LagTable {
 public:
  /// D for lag 0. O(cells).
  explicit LagTable(const CellMoments& cells);
  /// D for lags up to `lags`, of the same cells. O(pairs of cells within those that are new, times
  /// the square of the moments).
  void extend(const CellMoments& cells, int lags, const RunOptions& options);

  /// The number of lags there are.
  int lags() const { return static_cast<int>(d_.size()) / moments_ - 1; }
  /// The sum of phi^(order)((x_i - x_j) / g) over pairs, by so many lags. O(lags moments), whatever
  /// the data. `alone`: the number of terms phi^(order)(0) that the caller will add, so that the
  /// error may be relative to them, too.
  PairSum evaluate(double g, int lags, const PairTruncation& truncation, double alone = 0) const;

 private:
  const double* lag(int l) const { return d_.data() + static_cast<std::size_t>(l * moments_); }
  double weight_beyond(double rho, int lags) const;

  int exponent_, moments_;
  std::vector<double> d_;
  double across_ = 0.0, squares_ = 0.0;  // sum of W_A W_B, A < B, and of W_A^2 over the cells
};

}  // namespace kestrel

#endif
