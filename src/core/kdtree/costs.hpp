// What trees cost beside the pairs that are summed (core/data/costs.hpp), in nanoseconds.
//
// Measured 2026-11: one core of an AMD EPYC with AVX2, normal samples, d = 2, 3 and 5, n = 1e5, m =
// 1e4.
#ifndef KESTREL_CORE_KDTREE_COSTS_HPP
#define KESTREL_CORE_KDTREE_COSTS_HPP

namespace kestrel {

/// A sample or point, for each level of its tree; a block of points; and the factor by which small
/// tiles slow a pair. Right within a factor of two, but for the uniform kernel, whose pairs cost
/// more than pair_seconds() says.
constexpr double kTreeLevelNs = 20;
constexpr double kTreeBlockNs = 20000;
constexpr double kTreePairFactor = 1.3;

/// With bandwidths that vary (variable.hpp): a node that a point visits. Timed on a Xeon with 500
/// to 1e5 normal samples, d = 1 to 3: mostly right within a factor of two.
constexpr double kVariableNodeNs = 40;

}  // namespace kestrel

#endif
