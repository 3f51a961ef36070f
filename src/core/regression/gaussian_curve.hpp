// Sums over all leave-one-out fits by the Gaussian kernel, cell by cell.
#ifndef KESTREL_CORE_REGRESSION_GAUSSIAN_CURVE_HPP
#define KESTREL_CORE_REGRESSION_GAUSSIAN_CURVE_HPP

#include <functional>
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

/// Whether there are such totals at this bandwidth: if weights are 1, and if cells or places pay.
bool has_totals(const LocalSource& source, const LocalKernel& kernel);

/// Adds the fits of a block of samples at bandwidth k to `totals`, on any thread.
using CurveTake = std::function<void(std::size_t k, const LocalSums& sums, FitTotals& totals)>;

/// Sums over the leave-one-out fits of all samples, for each of several bandwidths, which all have
/// totals and are summed side by side. Where cells are not accurate, fits are made one by one and
/// given to `take`. O(cells) for a bandwidth, or O(pairs of places) where many observations are
/// tied.
std::vector<FitTotals> gaussian_totals(const LocalSource& source, const LocalFitter& fitter,
                                       Span<const LocalKernel> kernels, const RunOptions& options,
                                       const CurveTake& take);

}  // namespace kestrel

#endif
