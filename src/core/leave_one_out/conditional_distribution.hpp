// The cross-validation of a conditional distribution function on the line in time proportional to
// the data and the grid.
#ifndef KESTREL_CORE_LEAVE_ONE_OUT_CONDITIONAL_DISTRIBUTION_HPP
#define KESTREL_CORE_LEAVE_ONE_OUT_CONDITIONAL_DISTRIBUTION_HPP

#include "core/base/run_options.hpp"
#include "core/leave_one_out/criterion.hpp"
#include "core/mixed/mixed_distribution.hpp"

namespace kestrel {

/// mixed_conditional_distribution_error().
///
/// For columns of numbers without weights, of which one is given, and the Gaussian kernel of order
/// 2 by the engine "nodes". At a point y of the grid F_-i(y | x_i) is the leave-one-out fit at x_i
/// of a local constant regression of the integrated kernels v_j = prod_c C((y_c - y_jc) / h_c).
/// Sums with K(u) and K(u) u^2 over a cell of x come from its weights at the nodes
/// (core/regression/README.md). Where cells hold few observations, or sums at nodes lose their
/// digits, pair by pair, with tied observations as one. Error of F_-i: 1e-14. O(n m + m range / h)
/// for n observations and m points, O(n) memory. The same bits for any number of threads.
LeaveOneOut conditional_distribution_error(const MixedSample& sample, const MixedGrid& grid,
                                           const MixedKernel& kernel, const MixedGiven& given,
                                           bool gradient, const RunOptions& options);

}  // namespace kestrel

#endif
