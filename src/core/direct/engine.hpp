// The direct engine in the list of engines, and what it costs.
#ifndef KESTREL_CORE_DIRECT_ENGINE_HPP
#define KESTREL_CORE_DIRECT_ENGINE_HPP

#include <cstddef>

#include "core/engine/density.hpp"

namespace kestrel {

extern const DensityEngine direct_engine;

/// Expected seconds of a density on one thread; `spread`: the range of the samples in bandwidths if
/// d is 1, else 0.
double direct_seconds(const KernelChoice& kernel, std::size_t d, double n, double m, double spread,
                      std::size_t lanes);

/// The same for a sum over all pairs of n samples on a line with the Gaussian kernel times a
/// polynomial.
double direct_line_pairs_seconds(double n, std::size_t lanes);

}  // namespace kestrel

#endif
