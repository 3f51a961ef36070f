// What runs of grid points cost, in nanoseconds.
//
// Measured 2026-11: one core of a 2.5 GHz Xeon with AVX-512, thread CPU time.
#ifndef KESTREL_CORE_SCANLINE_COSTS_HPP
#define KESTREL_CORE_SCANLINE_COSTS_HPP

namespace kestrel {

/// A sample, to be sorted; a row of the grid that it crosses; if the kernel has no events, a point
/// that it covers; a point of the grid.
constexpr double kScanlineSampleNs = 60;
constexpr double kScanlineRowNs = 12;
constexpr double kScanlineCoveredNs = 1;
constexpr double kScanlinePointNs = 4;
/// A sample on a grid of one axis if the kernel has events: samples are not sorted.
constexpr double kScanlineLineSampleNs = 72;

/// With a bandwidth for each sample (variable.hpp): the same, a point of the grid for each range of
/// bandwidths. Timed with 1e2 to 1e6 normal samples, d = 1 to 3 and half runs of 1 to 100 steps:
/// right within a third but for the cosine, which costs three times as much for a point covered.
constexpr double kVariableSampleNs = 300;
constexpr double kVariableRowNs = 55;
constexpr double kVariableCoveredNs = 4;
constexpr double kVariablePointNs = 10;

}  // namespace kestrel

#endif
