// Sums of compact kernels at points with a bandwidth for each sample, or for each point.
#ifndef KESTREL_CORE_DIRECT_VARIABLE_POINTS_HPP
#define KESTREL_CORE_DIRECT_VARIABLE_POINTS_HPP

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/data/compact_pairs.hpp"

namespace kestrel {

/// The sums of the task, pair by pair. Error: rounding, 1e-15 of each sum. The same bits for every
/// number of threads. Throws error(internal) if sizes do not match. O(n m); a copy of the data.
void variable_points(const VariableTask& task, const ParallelOptions& options, Span<double> out);

/// Its expected seconds on one thread.
double variable_points_seconds(const VariableTask& task);

}  // namespace kestrel

#endif
