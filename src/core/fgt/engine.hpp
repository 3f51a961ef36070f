// The fgt engine in the list of engines, and what it costs.
#ifndef KESTREL_CORE_FGT_ENGINE_HPP
#define KESTREL_CORE_FGT_ENGINE_HPP

#include "core/engine/density.hpp"

namespace kestrel {

extern const DensityEngine fgt_engine;

/// Expected seconds on one thread, of a density of n samples at m points, and of a sum over all
/// pairs of n samples at one bandwidth; `spread`: the range of the samples in bandwidths.
double fgt_density_seconds(double n, double m, double spread);
double fgt_pairs_seconds(double n, double spread);

}  // namespace kestrel

#endif
