// Sums of compact kernels at points with a bandwidth for each sample, or for each point.
#ifndef KESTREL_CORE_DIRECT_VARIABLE_POINTS_HPP
#define KESTREL_CORE_DIRECT_VARIABLE_POINTS_HPP

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

/// out[i] = sum_j w_j K_h(e_i - x_j) with h = h_j, or h = h_i if there are bandwidths of points;
/// K_h(u) = h^-d K(u / h) for a compact radial kernel. Samples lie in the leaves of a k-d tree,
/// and a point passes over those out of reach. Pairs at exactly h count for the uniform kernel.
///
/// x: n*d; w: n; h: n or, by_point, m positive numbers; points: m*d; out: m. Error: rounding, 1e-15
/// of each sum. The same bits for every number of threads. Throws error(internal) if sizes do not
/// match. O(m n / 64 + the pairs in reach).
void variable_points(const MatrixView& x, Weights w, Span<const double> h, bool by_point,
                     Kernel kernel, const MatrixView& points, const ParallelOptions& options,
                     Span<double> out);

}  // namespace kestrel

#endif
