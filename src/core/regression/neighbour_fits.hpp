// Regression whose bandwidths are distances to nearest neighbours.
#ifndef KESTREL_CORE_REGRESSION_NEIGHBOUR_FITS_HPP
#define KESTREL_CORE_REGRESSION_NEIGHBOUR_FITS_HPP

#include "core/regression/regression.hpp"

namespace kestrel {

// As the methods of LocalRegression, with the same errors. O(samples in the window) for each fit,
// and O(log n + k) for each distance. The kernel is nearest(). Bandwidths of generalized_nn
// are those of points, and derivatives of fits are taken at fixed bandwidths, as in np.

/// Generalized_nn with a compact kernel: O(n) for each observation and all k together.
CrossValidation neighbour_curve(const SortedSample& line, Span<const double> neighbours,
                                const LocalKernel& kernel, const RunOptions& options);

/// Throws error(input) if some observation has no k-th neighbour.
FitTotals neighbour_residuals(const SortedSample& line, const LocalKernel& kernel,
                              const Residuals& out, const RunOptions& options);

/// Points without a k-th neighbour have no fit.
Fits neighbour_fits(const SortedSample& line, Span<const double> points, Span<const double> error2,
                    const LocalKernel& kernel, const RunOptions& options);

}  // namespace kestrel

#endif
