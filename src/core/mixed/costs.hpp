// What a pair of mixed data costs, in nanoseconds.
//
// Measured 2026-11: one core of an AMD EPYC with AVX2, criteria with gradients.
#ifndef KESTREL_CORE_MIXED_COSTS_HPP
#define KESTREL_CORE_MIXED_COSTS_HPP

namespace kestrel {

/// For one exponential, for each column, and for each moment of a local linear fit.
constexpr double kMixedPairNs = 2;
constexpr double kMixedColumnNs = 0.9;
constexpr double kMixedMomentNs = 1;

}  // namespace kestrel

#endif
