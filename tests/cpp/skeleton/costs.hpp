// What the skeleton costs, in nanoseconds. bench/calibrate.R writes the line below and the numbers.
//
// Measured: say when and where, and below for which n, m and d.
#ifndef KESTREL_CORE_SKELETON_COSTS_HPP
#define KESTREL_CORE_SKELETON_COSTS_HPP

namespace kestrel {

/// A pair of a sample and a point.
constexpr double kSkeletonPairNs = 10;

}  // namespace kestrel

#endif
