// How many pairs the kdtree engine will sum, from a look at a few of them.
#ifndef KESTREL_CORE_KDTREE_REACH_HPP
#define KESTREL_CORE_KDTREE_REACH_HPP

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/evaluation_points.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

/// An estimate of the share of all pairs that kdtree_density() sums one by one, in (0, 1]: of the
/// distances of some pairs that lie about the edge of the support, or within it if the kernel has
/// no moments. For a plan: a function of the data, never of threads. O(d^2) time for each of at
/// most 2^16 pairs, so less than a millisecond for few variables.
double share_of_pairs(const MatrixView& x, const EvaluationPoints& points,
                      const KernelChoice& choice, Span<const double> root,
                      const RunOptions& options);

}  // namespace kestrel

#endif
