// Which engine computes a task, and at what cost: the only place that decides it.
#ifndef KESTREL_CORE_PLAN_PLAN_HPP
#define KESTREL_CORE_PLAN_PLAN_HPP

#include <cstddef>
#include <optional>
#include <string>

#include "core/engine/density.hpp"

namespace kestrel {

/// The plan of the engine that is expected to take the least time, or of the one that is asked for
/// by name ("auto" for none). Engines are compared on one thread, so that results do not depend on
/// the number of threads. Nothing if the engine that is asked for does not take the grid. Throws
/// error(input) for an unknown name and for an engine that does not take such tasks, and as the
/// engine's plan() does. O(1), and the engines' looks at the data.
std::optional<DensityPlan> plan_density(const DensityTask& task, const std::string& asked);

}  // namespace kestrel

#endif
