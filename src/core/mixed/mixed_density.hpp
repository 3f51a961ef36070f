// Kernel densities of mixed data, also conditional ones: criteria with their gradients, estimates.
#ifndef KESTREL_CORE_MIXED_MIXED_DENSITY_HPP
#define KESTREL_CORE_MIXED_MIXED_DENSITY_HPP

#include <cstddef>
#include <vector>

#include "core/mixed/mixed_regression.hpp"

namespace kestrel {

/// For each column, factor and ordered factor, in the order of h and lambda: whether the density is
/// conditional on it. The kernels of the others are densities, so their h are finite.
using MixedGiven = std::vector<bool>;

/// The sum of the logarithms of the leave-one-out densities. One whose sum of kernels is below the
/// least normal number counts as this number, and as `unsupported` (np does so, too). Conditional
/// densities: of these sums, too. Kernels are taken as MixedForm::density. `only`: of which rows,
/// those that are not 0, or of all if it is empty.
MixedCriterion mixed_log_likelihood(const MixedSample& sample, const MixedKernel& kernel,
                                    const MixedGiven& given, bool gradient,
                                    const RunOptions& options, Span<const char> only = {});

/// The integral (or sum) of the squared density minus twice the mean of the leave-one-out densities
/// (Bowman 1984; Li & Racine 2003). O(n^2 (p + q)).
MixedCriterion mixed_squared_error(const MixedSample& sample, const MixedKernel& kernel,
                                   bool gradient, const RunOptions& options);

/// The same for conditional densities (Hall, Racine & Li 2004, eq. 6). O(n^3) for each factor and
/// column that is not given, O(n) memory for each worker. Observations whose leave-one-out density
/// of what is given is 0 count as `unsupported` and in nothing else.
MixedCriterion mixed_conditional_error(const MixedSample& sample, const MixedKernel& kernel,
                                       const MixedGiven& given, bool gradient,
                                       const RunOptions& options);

/// At every point, or those in `only` as mixed_fits() has them: the density and the variance of
/// this mean of kernels, NaN where no sample has a positive weight for what is given; with
/// `gradients` its derivatives by all columns, point by point, and their variances.
struct MixedDensities {
  std::vector<double> density, variance, gradient, gradient_variance;
};
MixedDensities mixed_densities(const MixedSample& sample, const MixedSample& points,
                               const MixedKernel& kernel, const MixedGiven& given, bool gradients,
                               const RunOptions& options, Span<const char> only = {});

}  // namespace kestrel

#endif
