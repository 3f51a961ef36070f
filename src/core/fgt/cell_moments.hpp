// The moments of a sample in cells, and Taylor's series about the cells' centres: the basis of the
// `fgt` engine's Gaussian sums (Greengard & Strain 1991, with exact cells and a relative bound).
#ifndef KESTREL_CORE_FGT_CELL_MOMENTS_HPP
#define KESTREL_CORE_FGT_CELL_MOMENTS_HPP

#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"
#include "core/fgt/cell_order.hpp"
#include "core/fgt/cell_sums.hpp"
#include "core/fgt/full_cells.hpp"
#include "core/fgt/parted_cells.hpp"

namespace kestrel {

/// Bound on |phi^(order)(u + v) - its Taylor polynomial in v of `moments` terms|, |v| <= rho,
/// divided by exp(-max(0, |u| - rho)^2 / 4); phi is without its constant, exp(-u^2/2). By Cramer's
/// bound on Hermite functions (Abramowitz & Stegun 1964, 22.14.17).
double taylor_error(double rho, int order, int moments);

/// out[k] = rho^k phi^(k)(u), k < count, phi(u) = exp(-u^2/2), by the recurrence of the Hermite
/// polynomials, which is stable upwards.
void scaled_derivatives(double u, double rho, int count, double* out);

/// How many zeros stand before and after the moments of a cell, as the leaves of simd/fgt/ want.
constexpr std::size_t kMomentPadding = simd::kLanes;

/// The sums over pairs (i, j) of samples of two cells of w_i w_j (z_j - z_i)^m / m!, m = 0, 1, ...,
/// added up over pairs of cells.
class DifferenceMoments {
 public:
  /// `moments`: a multiple of 4, at most kMaxMoments.
  DifferenceMoments(int moments, const simd::Table& table) : moments_(moments), table_(table) {}

  /// Adds a pair of cells; left: the moments of the cell of i, right: of j (CellMoments), each
  /// about its centre, between kMomentPadding zeros.
  void add(const double* left, const double* right);
  /// total[m] += the sums, m < moments.
  void add_to(double* total) const;

 private:
  const int moments_;
  const simd::Table& table_;
  int pending_ = 0;  // sixteen terms are added at a time, so that equal cells round alike
  double sum_[kMaxMoments] = {}, recent_[kMaxMoments] = {};
};

/// Cells whose moments are known: the keys, ascending, as many moments of each, one cell after the
/// other, the sum of w^2 of each, and how many samples it has.
struct GivenCells {
  std::vector<double> keys, moments, squares, counts;
  std::size_t row;

  std::size_t cells() const { return keys.size(); }
  double key(std::size_t cell) const { return keys[cell]; }
  const double* moment(std::size_t cell) const { return moments.data() + cell * row; }
};

/// Moments of a weighted sample in cells: moment(c)[a] = sum over the cell of w z^a / a!. They give
/// every sum over pairs of a function of the distance that is smooth at the scale of the width.
class CellMoments {
 public:
  /// `range`: range_of(x); `moments`: how many per cell, a multiple of 4 up to kMaxMoments. Throws
  /// error(input) for data that CellOrder refuses. O(n moments); the same bits for every number of
  /// threads.
  CellMoments(Span<const double> x, Weights w, const ValueRange& range, int exponent, int moments,
              const RunOptions& options);

  /// From samples that are already sorted by cell.
  CellMoments(const CellOrder& order, int moments, const RunOptions& options);

  /// `moments`: as many as are given. Sums over the pairs in a cell where one sample has most of
  /// the weight are then accurate only beside those with its own pair i = j.
  CellMoments(const GivenCells& cells, int exponent, int moments, const RunOptions& options);

  /// Unites cells to cells of twice the width, with `moments` moments, a multiple of 4. Exact but
  /// for rounding and, if they are more than now, for the moments that narrow cells could do
  /// without. O(cells moments^2).
  void coarsen(int moments, const simd::Table& table);

  int exponent() const { return exponent_; }
  int moments() const { return moments_; }
  std::size_t cells() const { return key_.size(); }
  double key(std::size_t cell) const { return key_[cell]; }
  /// Before and after them stand kMomentPadding zeros.
  const double* moment(std::size_t cell) const {
    return moment_.data() + kMomentPadding + cell * row();
  }
  /// [m] = sum over the pairs i < j that share a cell of w_i w_j (z_i - z_j)^m / m!, m even (odd
  /// ones mean nothing). Accurate for any weights: the terms i = j are never added and subtracted
  /// again where they would drown the pairs.
  const std::vector<double>& within() const { return within_; }

 private:
  /// What the pairs in a cell need beside its moments.
  struct CellPairs {
    double squares;                  // the sum of w^2
    bool any;                        // whether there are pairs
    const double* offset = nullptr;  // of the samples, if these are to be summed one by one
    Weights weight = {};
  };
  CellMoments(int exponent, int moments);
  std::size_t row() const { return static_cast<std::size_t>(moments_) + kMomentPadding; }
  void take_parted_cells(const PartedCells& cells, const RunOptions& options);
  void take_full_cells(const FullCells& cells, Span<const double> x, Weights w,
                       const RunOptions& options);
  void add_cell(double key, const double* moment);
  void pair_within(const std::vector<CellPairs>& pairs, const RunOptions& options);

  int exponent_;
  int moments_;
  std::vector<double> key_, moment_, within_;
};

}  // namespace kestrel

#endif
