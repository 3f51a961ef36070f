// Mean and covariance of a weighted sample, and the sample relative to its mean.
#ifndef KESTREL_CORE_DATA_SAMPLE_MOMENTS_HPP
#define KESTREL_CORE_DATA_SAMPLE_MOMENTS_HPP

#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"

namespace kestrel {

/// sum_i p_i (x_i - m)(x_i - m)', m the mean, d*d column-major; and x_i - m, n*d column-major, in
/// `centred`. The mean takes two passes: the second removes the rounding of the first, which is
/// large for a sample far from the origin. Sums are of long doubles, in the order of the samples,
/// on one thread.
///
/// x: n*d samples; p: n weights that sum to one. O(n d^2). Throws error(input) where sizes differ.
std::vector<double> sample_covariance(const MatrixView& x, Span<const double> p,
                                      Span<double> centred, const ParallelOptions& options);

}  // namespace kestrel

#endif
