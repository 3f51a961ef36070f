// The list of engines.
#ifndef KESTREL_CORE_PLAN_ENGINES_HPP
#define KESTREL_CORE_PLAN_ENGINES_HPP

#include <string>
#include <vector>

#include "core/engine/density.hpp"

namespace kestrel {

/// The engines for densities. The first takes every task.
const std::vector<const DensityEngine*>& density_engines();

/// The engine of that name. Throws error(input), with the names there are, if there is none.
const DensityEngine& density_engine(const std::string& name);

}  // namespace kestrel

#endif
