// Sums of compact kernels at points, with a bandwidth for each sample or for each point, over a
// tree of the samples.
#ifndef KESTREL_CORE_KDTREE_VARIABLE_HPP
#define KESTREL_CORE_KDTREE_VARIABLE_HPP

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/data/compact_pairs.hpp"

namespace kestrel {

/// The sums of variable_points() (core/direct/variable_points.hpp). A point passes over nodes of
/// which no sample reaches it. Where all samples of a node do, and the kernel is a polynomial in
/// u^2 with few monomials, their sum is one polynomial of the point. The other pairs are summed
/// one by one.
///
/// Error: 1e-14 of the largest sum. The same bits for every number of threads. Throws
/// error(internal) if sizes do not match. O(n log n + m times the pairs at the edge of a support),
/// or in reach without polynomials. Memory: three copies of the data, at most.
void variable_tree(const VariableTask& task, const ParallelOptions& options, Span<double> out);

/// Its expected seconds on one thread, from some pairs.
double variable_tree_seconds(const VariableTask& task);

}  // namespace kestrel

#endif
