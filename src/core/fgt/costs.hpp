// What sums by cells on a line cost, in nanoseconds.
//
// Measured 2026-11: one core of a 2.5 GHz Xeon with AVX-512, thread CPU time.
#ifndef KESTREL_CORE_FGT_COSTS_HPP
#define KESTREL_CORE_FGT_COSTS_HPP

namespace kestrel {

/// A density: a sample or point; a cell; a pair of cells by their moments; a sample and a point by
/// an exponential; a call. A fit (least absolute deviation of logarithms).
constexpr double kFgtValueNs = 23;
constexpr double kFgtCellNs = 65;
constexpr double kFgtCellPairNs = 84;
constexpr double kFgtExponentialNs = 13.5;
constexpr double kFgtCallNs = 7000;

/// A sum over pairs, measured at order 4: a sample and a pair of cells by moments; a sample and a
/// pair within reach if it sums pair by pair; a call.
constexpr double kMomentsNs = 21;
constexpr double kMomentsPairNs = 120;
constexpr double kWindowsNs = 180;
constexpr double kWindowsPairNs = 31;
constexpr double kPairSumsCallNs = 5000;

/// Within a sum over pairs these choose between two ways to compute it, for all instruction sets
/// alike: a pair of cells per squared number of moments (measured 0.043 for 40 moments to 0.057 for
/// 16, and four times that with SSE2); a sample per moment, sorting by cell included (0.3 in full
/// cells to 0.7); a pair of samples (15 to 20); sorting a sample (40 to 120 for n = 1000 to 1e6).
constexpr double kLagCellPairNs = 0.06;
constexpr double kLagMomentNs = 0.5;
constexpr double kLagPairNs = 15;
constexpr double kLagSortNs = 100;

}  // namespace kestrel

#endif
