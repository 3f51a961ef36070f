// What a pair of a sample and a point costs in the leaf loops of tiles, in nanoseconds.
//
// Measured 2026-11: one core of a 2.5 GHz Xeon with AVX-512, thread CPU time.
#ifndef KESTREL_CORE_DATA_COSTS_HPP
#define KESTREL_CORE_DATA_COSTS_HPP

namespace kestrel {

/// Vector operations of a kernel in a pair, beyond two for each variable: a polynomial, and others.
/// Timed with n = m = 3000 normal samples (1000 for narrower vectors), 1 to 16 variables and every
/// kernel: right within a quarter with AVX-512 and within a factor of three with narrower vectors,
/// except for the uniform kernel (a factor of two in one dimension, more in several).
constexpr double kPolynomialOperations = 4;
constexpr double kOtherOperations = 13;

/// Nanoseconds of a vector operation, for each pair: of vectors of eight, four and two lanes, and
/// of numbers.
constexpr double kOperationOfEightNs = 0.0304878;
constexpr double kOperationOfFourNs = 0.078125;
constexpr double kOperationOfTwoNs = 0.333333;
constexpr double kOperationOfOneNs = 0.666667;

/// What does not decrease with the width of vectors: the comparison of the uniform kernel, which
/// works on the data as given; a square root.
constexpr double kComparisonNs = 0.7;
constexpr double kSquareRootNs = 1;

/// A pair whose kernel is compact and has a bandwidth of its own (compact_pairs.hpp).
constexpr double kVariablePairNs = 2.8;

}  // namespace kestrel

#endif
