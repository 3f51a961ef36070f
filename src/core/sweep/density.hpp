// Densities and pair sums of polynomial kernels on the line, by the sweep engine.
#ifndef KESTREL_CORE_SWEEP_DENSITY_HPP
#define KESTREL_CORE_SWEEP_DENSITY_HPP

#include <vector>

#include "core/data/pair_curve.hpp"
#include "core/data/weights.hpp"
#include "core/sweep/sweep.hpp"

namespace kestrel {

/// out[i] = sum_j w_j K((e_i - x_j) / h) / h, K normalised, in the given order of the points.
/// Error: relative to each value, as that of sweep_sums. O((n + m) log(n + m)) time, O(n + m)
/// memory. Throws error(input) when sizes do not match, a position is not finite, h is not positive
/// or the kernel is not polynomial.
void sweep_density(Span<const double> x, Weights w, Span<const double> points, Kernel kernel,
                   double h, const RunOptions& options, Span<double> out);

/// The sums of the LSCV curve, K normalised and 1/h included, one value of each for every
/// bandwidth. Error: 1e-13 of each sum, all of whose terms are positive (of degree 6: 5e-13, K*K
/// being a polynomial of condition 942). Kernels of a higher degree: 1e-12 of the sum, and for K*K
/// 1e-12 of what the sum would be if all pairs in reach were at distance zero. O(n log n + n k)
/// time for k bandwidths, O(n) memory a thread. Throws as sweep_density does.
PairCurve sweep_pair_curve(Span<const double> x, Weights w, Span<const double> bandwidth,
                           Kernel kernel, const RunOptions& options);

}  // namespace kestrel

#endif
