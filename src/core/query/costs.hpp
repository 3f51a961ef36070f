// What distribution functions cost, in nanoseconds.
//
// Measured 2026-11: one core of a 2.5 GHz Xeon with AVX-512, thread CPU time.
#ifndef KESTREL_CORE_QUERY_COSTS_HPP
#define KESTREL_CORE_QUERY_COSTS_HPP

namespace kestrel {

/// A product with its sum (0.027 measured); a factor, the mass of one kernel beyond one line.
constexpr double kOrthantProductNs = 0.04;
constexpr double kOrthantFactorNs = 5;

/// A sample, for each box and each term of a mixture (0.85 measured for orthants, 45 terms, d = 2).
constexpr double kBoxSampleNs = 1;

}  // namespace kestrel

#endif
