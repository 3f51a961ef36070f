// The kdtree engine in the list of engines, and what it costs.
#ifndef KESTREL_CORE_KDTREE_ENGINE_HPP
#define KESTREL_CORE_KDTREE_ENGINE_HPP

#include <cstddef>

#include "core/engine/density.hpp"

namespace kestrel {

extern const DensityEngine kdtree_engine;

/// Expected seconds of a density of n samples at m points on one thread; `share`: that of all pairs
/// which are summed one by one (share_of_pairs()).
double kdtree_seconds(const KernelChoice& kernel, std::size_t d, double n, double m, double share,
                      std::size_t lanes);

}  // namespace kestrel

#endif
