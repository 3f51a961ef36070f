// Gaussian sums over all pairs of samples on a line, in linear time: for plug-in and
// cross-validation bandwidths.
#ifndef KESTREL_CORE_FGT_PAIRS_HPP
#define KESTREL_CORE_FGT_PAIRS_HPP

#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/pair_curve.hpp"
#include "core/fgt/line_sample.hpp"

namespace kestrel {

/// out[k] = sum_{i<j} w_i w_j phi_g^(order)(x_i - x_j), g = g[k], phi_g the N(0, g^2) density:
/// order even and at most 10 (Wand & Jones 1995, 3.5). Units x^-(1 + order).
///
/// Samples in any order, weights not negative. Error: 1e-14 of the sum of |terms|, for any data.
/// A term whose exp(-u^2/2) is below the range of a double counts as zero.
///
/// O(n + cells) once, for cells of the smallest g, unless the sample has them already; O(cells) for
/// each power of two from there to the largest g; and 5 microseconds for every further g (12 at
/// order 10; 2.5 GHz Xeon), whatever n. If few samples are within reach of each other, O(n log n)
/// and one exponential a pair within reach. The same bits for every number of threads.
///
/// Throws error(input) for another order, a g that is not positive or outside 1e-290 .. 1e290, and
/// data that CellMoments refuses.
std::vector<double> fgt_pair_psi(const LineSample& sample, Span<const double> g, int order,
                                 const RunOptions& options);

/// Arguments, errors, bits and cost as fgt_pair_psi, with two sums a bandwidth.
PairCurve fgt_pair_curve(const LineSample& sample, Span<const double> h, const RunOptions& options);

}  // namespace kestrel

#endif
