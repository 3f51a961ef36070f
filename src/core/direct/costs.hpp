// What direct sums cost beside their pairs (core/data/costs.hpp), in nanoseconds.
//
// Measured 2026-11: one core of a 2.5 GHz Xeon with AVX-512, thread CPU time.
#ifndef KESTREL_CORE_DIRECT_COSTS_HPP
#define KESTREL_CORE_DIRECT_COSTS_HPP

namespace kestrel {

/// A sample for each block of points, however many points it has.
constexpr double kBlockSampleNs = 2;

/// For a sum over pairs on a line: a sample, in the corners of the triangle of pairs; and the
/// factor by which the polynomial slows a pair.
constexpr double kCornerNs = 100;
constexpr double kPolynomialFactor = 1.2;

}  // namespace kestrel

#endif
