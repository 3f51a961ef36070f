// What a sweep over a sorted line costs, in nanoseconds.
//
// Measured 2026-11: one core of a 2.5 GHz Xeon with AVX-512, thread CPU time.
#ifndef KESTREL_CORE_SWEEP_COSTS_HPP
#define KESTREL_CORE_SWEEP_COSTS_HPP

namespace kestrel {

/// Sorting and sweeping a value, for each doubling of their number: 58 to 102 for 400 to 13,000
/// values. (Two million took 178, not 157.)
constexpr double kSweepDoublingNs = 7.5;

}  // namespace kestrel

#endif
