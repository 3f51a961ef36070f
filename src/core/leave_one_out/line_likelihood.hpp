// Leave-one-out likelihoods on the line.
#ifndef KESTREL_CORE_LEAVE_ONE_OUT_LINE_LIKELIHOOD_HPP
#define KESTREL_CORE_LEAVE_ONE_OUT_LINE_LIKELIHOOD_HPP

#include "core/base/run_options.hpp"
#include "core/mixed/mixed_density.hpp"
#include "core/regression/local_source.hpp"

namespace kestrel {

/// mixed_log_likelihood() of a sorted sample with weights of 1 and a bandwidth h, from the sums s_0
/// and s_2 of local_sums(): log f_-i = log(s_0 / ((n - 1) h sqrt(2 pi))), and its derivative by
/// log(h) is s_2 / s_0 - 1. Error of a density: some 1e-14 of itself. Cost of local_sums().
MixedCriterion line_log_likelihood(const LocalSource& source, double h, bool gradient,
                                   const RunOptions& options);

}  // namespace kestrel

#endif
