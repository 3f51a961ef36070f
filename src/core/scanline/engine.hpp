// The scanline engine in the list of engines, and what it costs.
#ifndef KESTREL_CORE_SCANLINE_ENGINE_HPP
#define KESTREL_CORE_SCANLINE_ENGINE_HPP

#include <optional>
#include <vector>

#include "core/engine/density.hpp"
#include "core/scanline/axis.hpp"
#include "core/scanline/geometry.hpp"

namespace kestrel {

extern const DensityEngine scanline_engine;

/// The axes of a grid that the engine takes, else empty: their steps are equal, and within the
/// limits of ScanlineGeometry, of which *geometry is then made. O(points of the axes).
std::vector<RegularAxis> scanline_axes(const DensityTask& task,
                                       std::optional<ScanlineGeometry>* geometry);

/// Expected seconds of a density of n samples at m points on one thread.
double scanline_seconds(const ScanlineGeometry& geometry, const KernelChoice& kernel, double n,
                        double m);

}  // namespace kestrel

#endif
