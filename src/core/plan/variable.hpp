// Sums of compact kernels with bandwidths that vary, by the engine that is fastest.
#ifndef KESTREL_CORE_PLAN_VARIABLE_HPP
#define KESTREL_CORE_PLAN_VARIABLE_HPP

#include <string>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/data/compact_pairs.hpp"

namespace kestrel {

/// How the CPU computes a task: by "direct", "kdtree" or "scanline", and its expected seconds on
/// one thread.
struct VariablePlan {
  std::string engine;
  double seconds;
};

/// The engine that is asked for, or for "auto" the one that is expected to take the least time.
/// Throws error(unfit) for a task that the scanline engine does not take. O(n).
VariablePlan plan_variable(const VariableTask& task, const std::string& asked);

/// The sums of the task by that engine.
void variable_sums(const VariableTask& task, const std::string& engine,
                   const ParallelOptions& options, Span<double> out);

}  // namespace kestrel

#endif
