// Gaussian kernel density estimates by the `fourier` engine.
#ifndef KESTREL_CORE_FOURIER_DENSITY_HPP
#define KESTREL_CORE_FOURIER_DENSITY_HPP

#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/evaluation_points.hpp"
#include "core/data/weights.hpp"
#include "core/fourier/layout.hpp"
#include "core/fourier/mode_source.hpp"

namespace kestrel {

/// What direct_density computes with the Gaussian kernel, with the same arguments, for d = 1 to 3;
/// `extent` is that of measure_density for the same data. The characteristic function times that of
/// the kernel is transformed back, and values are read off at the points with the window that the
/// samples were spread with (Dutt & Rokhlin 1993, type 2). On a grid given by its axes this is done
/// axis by axis if that is expected to be faster.
///
/// Error: `tolerance` (1e-13 to 0.01) of the largest value that the estimate has anywhere. Values
/// below 100 times that error are summed again by density_of_far_points, to 1 % of each; if all
/// values are, to `tolerance` of each. Where points are not `within` limits (DensityTask::within)
/// they are not summed again, unless all values are. No value is negative. Rounding adds 4e-16
/// times the distance, in bandwidths, of samples and points from the centre of the samples
/// (DensityLayout::rounding). The same bits for every number of threads.
///
/// O(n + N log N + m), N the cells of lay_density; for a grid see sum_over_modes(). Throws
/// error(memory) if these need more than `bytes`, and error(input) as direct_density. Not to be
/// called inside a parallel_for.
void fourier_density(const MatrixView& x, Weights w, const EvaluationPoints& points,
                     Span<const double> root, Span<const double> within, const DataRange& extent,
                     double tolerance, double bytes, const RunOptions& options, Span<double> out);

/// The same for samples that are not known one by one. Error: `tolerance` of the largest value that
/// the estimate has anywhere, also where it is small. Throws error(unfit) if the modes do not serve
/// the bandwidth. O(N log N + m), and m for each sample that the grid leaves out.
void density_of_modes(const ModeSource& source, const EvaluationPoints& points,
                      Span<const double> root, double tolerance, const RunOptions& options,
                      Span<double> out);

/// out[i] for the chosen points i only, each with an error of `tolerance` relative to its own
/// value. Sums the samples that add enough to matter, which are found by cubes two bandwidths wide.
/// For points where the density is small, that is with few samples nearby. Points farther than 38
/// bandwidths from all samples, where exp(-u^2 / 2) is no normal number, get 0. The same bits for
/// every number of threads. O(n + m) and the pairs that are summed.
void density_of_far_points(const MatrixView& x, Weights w, const EvaluationPoints& points,
                           const std::vector<std::size_t>& chosen, Span<const double> root,
                           const DataRange& extent, double tolerance, const RunOptions& options,
                           Span<double> out);

}  // namespace kestrel

#endif
