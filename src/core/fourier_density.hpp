// Gaussian kernel density estimates by the `fourier` engine.
#ifndef KESTREL_CORE_FOURIER_DENSITY_HPP
#define KESTREL_CORE_FOURIER_DENSITY_HPP

#include "core/run_options.hpp"
#include "core/span.hpp"
#include "core/tiles.hpp"

namespace kestrel {

/// What direct_density computes with the Gaussian kernel, and with its arguments, for d = 1 to 3:
/// the characteristic function times that of the kernel, transformed back and read off at the
/// points with the window it was spread with (Dutt & Rokhlin 1993, type 2); on a grid given by its
/// axes, axis by axis.
///
/// Error: `tolerance` (1e-13 to 0.01) of the largest value that the estimate has anywhere. Values
/// below 1e4 times that, of either sign, are summed anew by density_of_far_points, to `tolerance`
/// relative to each: none is negative. The same bits for every number of threads.
///
/// O(n + N log N + m): N cells, (span / bandwidth)^d times a few hundred. Throws error(memory) when
/// these need more than `bytes`, and error(input) as direct_density. Not to be called inside a
/// parallel_for.
void fourier_density(const MatrixView& x, Span<const double> w, const EvaluationPoints& points,
                     Span<const double> root, double tolerance, double bytes,
                     const RunOptions& options, Span<double> out);

/// out[i] for the chosen points i only, each with an error of `tolerance` relative to its own
/// value, by the direct engine: of the samples a point needs those hardly farther away than the
/// nearest one. For points where the density is small, that is with few samples about. The same
/// bits for every number of threads.
void density_of_far_points(const MatrixView& x, Span<const double> w,
                           const EvaluationPoints& points, const std::vector<std::size_t>& chosen,
                           Span<const double> root, double tolerance, const RunOptions& options,
                           Span<double> out);

}  // namespace kestrel

#endif
