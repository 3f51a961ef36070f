// Sums over all leave-one-out fits by the Gaussian kernel, cell by cell.
#ifndef KESTREL_CORE_REGRESSION_GAUSSIAN_CURVE_HPP
#define KESTREL_CORE_REGRESSION_GAUSSIAN_CURVE_HPP

#include <vector>

#include "core/regression/local_fit.hpp"
#include "shared/local_fit.hpp"

namespace kestrel {

/// Fills `totals` with sums over leave-one-out fits, whose sum is that over all observations but
/// those for which it calls `take`, in blocks whose slot() is an index of `totals`. O(cells) for
/// the other ones, or O(pairs of places) where many observations are tied. Returns false, and does
/// nothing, if neither pays, or if weights are not all 1.
bool gaussian_totals(const LocalSource& source, const LocalFitter& fitter,
                     const LocalKernel& kernel, const RunOptions& options,
                     std::vector<FitTotals>& totals, const LocalTake& take);

}  // namespace kestrel

#endif
