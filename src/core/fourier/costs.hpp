// What sums by Fourier transform cost, in nanoseconds.
//
// Measured 2026-11: one core of a 2.5 GHz Xeon with AVX-512, thread CPU time.
#ifndef KESTREL_CORE_FOURIER_COSTS_HPP
#define KESTREL_CORE_FOURIER_COSTS_HPP

namespace kestrel {

/// A density: a call; a sample, and each row of cells that its window meets; a cell with its share
/// of the transform, and of the one back; a point read off by itself, and each row for it; a point
/// of a grid, with its share of the far points. A fit (least absolute deviation of logarithms) to
/// 118 calls: the minimum of 2 to 5 runs, d = 2 and 3, n = 300 to 1e6 normal and trimodal samples,
/// H = (0.15 to 1.3)^2 times that of the normal reference, correlations 0 to 0.7, grids of 151^2,
/// 500 x 400, 51^3 and 25^3, 500 to 1e5 points, tolerances 1e-6 and 1e-12. In a second run half of
/// the times were 0.8 to 1.05 times the prediction, all within a factor of 2. The fit had one
/// number for both transforms, 47; each has half of it here.
constexpr double kFourierCallNs = 250000;
constexpr double kFourierSampleNs = 130;
constexpr double kFourierSampleRowNs = 5.5;
constexpr double kFourierCellNs = 24;
constexpr double kFourierInverseNs = 24;
constexpr double kFourierPointNs = 170;
constexpr double kFourierPointRowNs = 4.3;
constexpr double kFourierGridPointNs = 60;

/// A product of sum_over_modes(), and its share of a vector of doubles: in sum 0.02 to 0.06 with
/// AVX-512, 0.04 to 0.085 with AVX2 and 0.1 to 0.155 with SSE2, the more for d = 3 (30 to 370 modes
/// and 51 to 1500 points an axis, orders 0 and 2).
constexpr double kModeProductNs = 0.02, kModeVectorNs = 0.22;

/// These choose how far a grid for sums over pairs is trimmed: a cell and its transform; a mode in
/// a query; a pair of the tail in a query; a sample in the search for outliers.
constexpr double kTrimCellNs = 25;
constexpr double kTrimModeNs = 3;
constexpr double kTrimPairNs = 30;
constexpr double kTrimSampleNs = 4000;

}  // namespace kestrel

#endif
