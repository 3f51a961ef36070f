// The least-squares cross-validation of a Gaussian density with a bandwidth for each column.
#ifndef KESTREL_CORE_LEAVE_ONE_OUT_SQUARED_ERROR_HPP
#define KESTREL_CORE_LEAVE_ONE_OUT_SQUARED_ERROR_HPP

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/criteria/pair_sums.hpp"
#include "core/data/sample.hpp"
#include "core/leave_one_out/criterion.hpp"

namespace kestrel {

/// What mixed_squared_error() computes for columns of numbers without weights and a Gaussian kernel
/// of order 2, which is lscv() at H = diag(h^2). `sample` and `mixed` have the same rows. `pairs`
/// are the sums of these rows with each column divided by its `unit`, so that products of
/// bandwidths are numbers. Narrow bandwidths need fine grids, but few pairs are within their reach:
/// then mixed_squared_error() takes less time and serves, and also where a grid needs too much
/// memory. Errors and cost: those of the sums.
LeaveOneOut squared_error(PairSums& pairs, const Sample& sample, const MixedSample& mixed,
                          Span<const double> h, Span<const double> unit, bool gradient,
                          const RunOptions& options);

}  // namespace kestrel

#endif
