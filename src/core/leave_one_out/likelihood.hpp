// The likelihood cross-validation of a Gaussian density in time nearly proportional to the data.
#ifndef KESTREL_CORE_LEAVE_ONE_OUT_LIKELIHOOD_HPP
#define KESTREL_CORE_LEAVE_ONE_OUT_LIKELIHOOD_HPP

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/sample.hpp"
#include "core/leave_one_out/criterion.hpp"

namespace kestrel {

/// What mixed_log_likelihood() computes for columns of numbers without weights and a Gaussian
/// kernel of order 2: the sum of the logarithms of the leave-one-out densities (Duin 1976) and,
/// with `gradient`, its derivatives by log(h). `sample` and `mixed` have the same rows, and h a
/// bandwidth for each column, finite.
///
/// The engine "nodes" takes the line, with sums at the nodes of cells, O(n + range / h), see
/// line_log_likelihood(). In two and three dimensions from densities and second derivatives at the
/// data by the engine that plan_density() chooses, whose errors are relative to the largest
/// density. So the observations of the lowest densities, as many as keep the error of the mean
/// logarithm below 1e-11 by that bound, are summed pair by pair. All else, and what no engine takes
/// in less time, pair by pair. The same bits for any number of threads.
LeaveOneOut log_likelihood(const Sample& sample, const MixedSample& mixed, Span<const double> h,
                           bool gradient, const RunOptions& options);

}  // namespace kestrel

#endif
