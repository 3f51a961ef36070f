// What fits of a regression cost, in nanoseconds, for the choice of a device.
//
// Measured 2026-11: one core of a 2.5 GHz Xeon with AVX-512, n = 200,000.
#ifndef KESTREL_CORE_REGRESSION_COSTS_HPP
#define KESTREL_CORE_REGRESSION_COSTS_HPP

namespace kestrel {

/// Nanoseconds of a leave-one-out fit with the Gaussian kernel where cells are full: local constant
/// and local linear. Fits in sparse data and at narrow bandwidths cost more.
constexpr double kGaussianFitNs = 30;
constexpr double kGaussianLinearFitNs = 60;
/// The same where a cell's observations are fitted one by one; of a fit that serves a whole place
/// of tied ones, and of each pair in it.
constexpr double kCellFitNs = 100;
constexpr double kPlaceFitNs = 120;
constexpr double kGaussianPairNs = 1.2;
/// Nanoseconds of a leave-one-out fit with a polynomial kernel, and what each degree of the kernel
/// adds: local constant (17, 10, 30, 42 and 46 for degrees 0, 1, 2, 4 and 6).
constexpr double kConstantFitNs = 14;
constexpr double kConstantFitDegreeNs = 6;
/// The same, local linear (87, 105, 104, 132 and 163).
constexpr double kLinearFitNs = 87;
constexpr double kLinearFitDegreeNs = 12.5;

}  // namespace kestrel

#endif
