// Sums over all leave-one-out fits by the Gaussian kernel, cell by cell.
#ifndef KESTREL_CORE_REGRESSION_GAUSSIAN_CURVE_HPP
#define KESTREL_CORE_REGRESSION_GAUSSIAN_CURVE_HPP

#include <optional>
#include <vector>

#include "core/regression/gaussian_call.hpp"
#include "core/regression/local_fit.hpp"
#include "shared/local_fit.hpp"

namespace kestrel {

/// Sums over the leave-one-out fits of the samples of a cell, and a bound for the error of their
/// squares.
struct CellTotals {
  FitTotals totals;
  double error;

  bool is_accurate() const { return error < 1e-13 * totals.squares; }
};

/// Of the c-th cell of a call, whose weights are 1. Residuals are polynomials in t times e^0, e^1
/// and e^2, e the responses relative to the cell's line, so their sums need the cell's weights at
/// the nodes only. The error is large where polynomials of degree 15 are not enough, or where
/// residuals are far smaller than e. There are no sums where few samples make fits at the nodes
/// uncertain.
std::optional<CellTotals> cell_totals(const GaussianCall& call, std::size_t c);

/// Fills `totals` with sums over leave-one-out fits, whose sum is that over all observations but
/// those for which it calls `take`, in blocks whose slot() is an index of `totals`. O(cells) for
/// the other ones, or O(pairs of places) where many observations are tied. Returns false, and does
/// nothing, if neither pays, or if weights are not all 1.
bool gaussian_totals(const LocalSource& source, const LocalFitter& fitter,
                     const LocalKernel& kernel, const RunOptions& options,
                     std::vector<FitTotals>& totals, const LocalTake& take);

}  // namespace kestrel

#endif
