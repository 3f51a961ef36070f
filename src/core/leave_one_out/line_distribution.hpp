// Distribution functions on the line, and their cross-validation, in time proportional to the data
// and the points.
#ifndef KESTREL_CORE_LEAVE_ONE_OUT_LINE_DISTRIBUTION_HPP
#define KESTREL_CORE_LEAVE_ONE_OUT_LINE_DISTRIBUTION_HPP

#include "core/base/run_options.hpp"
#include "core/leave_one_out/criterion.hpp"
#include "core/mixed/mixed_distribution.hpp"

namespace kestrel {

/// mixed_distribution_error(), and mixed_densities() of distribution functions without gradients.
///
/// For one column of numbers without weights and the Gaussian kernel of any order by the engine
/// "nodes": the observations of a cell are replaced by weights at 16 nodes (core/regression/
/// README.md), cells out of reach count in full or not at all. Where cells hold few observations,
/// these are summed one by one. Errors: of a distribution function F 1e-14, of F itself where F is
/// small; of variances 1e-13 of 1 / n; of criteria 1e-13.
///
/// The criterion takes O(n + m log n) for m points of the grid, since the cell of a point is halved
/// until few observations are left; values O(n + m + range / h), and O(observations in reach) at
/// points farther than 4 h from all observations. The sorted sample is kept with `sample`. The same
/// bits for any number of threads.
LeaveOneOut distribution_error(const MixedSample& sample, const MixedGrid& grid,
                               const MixedKernel& kernel, bool gradient, const RunOptions& options);
MixedDensities distribution_values(const MixedSample& sample, const MixedSample& points,
                                   const MixedKernel& kernel, const MixedGiven& given,
                                   bool gradients, const RunOptions& options);

}  // namespace kestrel

#endif
