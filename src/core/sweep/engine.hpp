// The sweep engine in the list of engines, and what it costs.
#ifndef KESTREL_CORE_SWEEP_ENGINE_HPP
#define KESTREL_CORE_SWEEP_ENGINE_HPP

#include "core/engine/density.hpp"

namespace kestrel {

extern const DensityEngine sweep_engine;

/// Expected seconds of a density of n samples at m points on one thread.
double sweep_seconds(double n, double m);

}  // namespace kestrel

#endif
