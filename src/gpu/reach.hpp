// How far from a centre the device's coordinates are accurate.
#ifndef KESTREL_GPU_REACH_HPP
#define KESTREL_GPU_REACH_HPP

#include <vector>

#include "core/base/parallel.hpp"
#include "core/data/tiles.hpp"

namespace kestrel {

/// Coordinates are relative to a centre, so that their rounding errors are relative to the distance
/// from there. Points can share a centre if they lie within this reach of it, in whitened
/// coordinates times their `stretch` (core/data/tiles.hpp). In double precision it is 512, for
/// rounding errors of 512 * 2^-53 = 6e-14 of a bandwidth each; in single precision 64 / sqrt(d),
/// for one of 2e-6 in the whole distance.
double gpu_reach(std::size_t d, bool single_precision);

/// Samples are clamped this far outside the reach, where every kernel is zero.
constexpr double kOutsideReach = 64.0;

/// The midpoint of the points' range in every variable, and half the range.
void measure_box(const EvaluationPoints& points, std::vector<double>& centre,
                 std::vector<double>& half, const ParallelOptions& options);

/// Whether all points within `half` of a centre are within reach, wherever they lie in that box.
bool within_reach(const TileKernel& kernel, const std::vector<double>& half, double reach);

}  // namespace kestrel

#endif
