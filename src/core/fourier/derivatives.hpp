// Derivatives of Gaussian kernel sums by the `fourier` engine.
#ifndef KESTREL_CORE_FOURIER_DERIVATIVES_HPP
#define KESTREL_CORE_FOURIER_DERIVATIVES_HPP

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/evaluation_points.hpp"
#include "core/data/weights.hpp"
#include "core/fourier/layout.hpp"

namespace kestrel {

/// The grid for all derivatives of an order, of which the error is relative to the sums of
/// fourier_derivatives(). O(order^2).
DensityLayout lay_derivatives(const DataRange& extent, double tolerance, int order);

/// What direct_derivatives() computes, with the same arguments, for d = 1 to 3; `extent` is that of
/// measure_density() for the same data. Each derivative is a factor of the modes of a density, (i
/// t)^a in the coordinates of the data, so that samples are spread once. Every derivative takes a
/// transform back and a look at each point, or on a grid one more product of the modes with
/// matrices (sum_over_modes()).
///
/// Error: `tolerance` (1e-13 to 0.01) of the largest sum of the absolute values of the terms of
/// direct_derivatives() anywhere. Order 0 is fourier_density(). Points out of reach of all samples
/// get 0. The same bits for every number of threads.
///
/// O(n + (N log N + m) M), N the cells of the layout, M the derivatives. Memory 16 N bytes. Throws
/// error(memory) if that is more than `bytes`, and error(input) as direct_derivatives().
void fourier_derivatives(const MatrixView& x, Weights w, const EvaluationPoints& points,
                         Span<const double> root, const DataRange& extent, int order,
                         double tolerance, double bytes, const RunOptions& options,
                         Span<double> out);

}  // namespace kestrel

#endif
