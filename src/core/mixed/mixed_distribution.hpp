// Kernel distribution functions of mixed data, also conditional ones: criteria with their
// gradients, and quantiles. mixed_densities() has the estimates.
#ifndef KESTREL_CORE_MIXED_MIXED_DISTRIBUTION_HPP
#define KESTREL_CORE_MIXED_MIXED_DISTRIBUTION_HPP

#include <cstddef>
#include <vector>

#include "core/mixed/mixed_density.hpp"

namespace kestrel {

/// Where the squared errors of a criterion are taken: a grid of m points or, where it is null, the
/// observations, of which none counts at itself.
struct MixedGrid {
  const MixedSample* points = nullptr;
};

/// The mean over observations i and grid points x of (1(x_i <= x) - F_-i(x))^2 (Bowman, Hall &
/// Prvan 1998; Li, Li & Racine 2017). Columns and ordered factors; the forms of kernels are those
/// of distribution functions, so that their h are finite. O(n m (p + q)).
MixedCriterion mixed_distribution_error(const MixedSample& sample, const MixedGrid& grid,
                                        const MixedKernel& kernel, bool gradient,
                                        const RunOptions& options);

/// The same of (1(y_i <= y) - F_-i(y | x_i))^2 (Li, Lin & Racine 2013), where the grid has any x.
/// O(n^2 m) for each column and factor of y, O(n) memory for each worker. Observations without
/// neighbours count as `unsupported`, and as if F_-i were 0.
MixedCriterion mixed_conditional_distribution_error(const MixedSample& sample,
                                                    const MixedGrid& grid,
                                                    const MixedKernel& kernel,
                                                    const MixedGiven& given, bool gradient,
                                                    const RunOptions& options);

/// At every point the least y with F(y | x) >= tau, for one column y that is not given, 0 < tau <
/// 1; where kernels are of higher order, some y at which F crosses tau. The density f(y | x) there.
/// NaN where nothing has a positive weight. O(n) for each of about ten steps.
struct MixedQuantiles {
  std::vector<double> quantile, density;
};
MixedQuantiles mixed_quantiles(const MixedSample& sample, const MixedSample& points,
                               const MixedKernel& kernel, const MixedGiven& given, double tau,
                               const RunOptions& options);

}  // namespace kestrel

#endif
