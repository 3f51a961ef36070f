// Ranges, mean and covariance of a sample, and the sample relative to its mean or in other
// coordinates.
#ifndef KESTREL_CORE_DATA_SAMPLE_MOMENTS_HPP
#define KESTREL_CORE_DATA_SAMPLE_MOMENTS_HPP

#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

/// sum_i p_i (x_i - m)(x_i - m)', m the mean, d*d column-major; and x_i - m, n*d column-major, in
/// `centred`. p = w / sum w. The mean takes two passes: the second removes the rounding of the
/// first, which is large for a sample far from the origin. Sums are of long doubles.
///
/// x: n*d samples; w: n weights, finite and not negative, at least one positive. O(n d^2). Throws
/// error(input) where sizes differ.
std::vector<double> sample_covariance(const MatrixView& x, Weights w, Span<double> centred,
                                      const ParallelOptions& options);

/// Minimum and maximum of each column of x, which has a row at least: 2 d values. They are NaN for
/// a column with a value that is not finite. One pass, O(n d).
std::vector<double> column_ranges(const MatrixView& x, const ParallelOptions& options);

/// x A', n*d column-major, in `out`, which may be the memory of x. A: d*d column-major. O(n d^2).
void transform_rows(const MatrixView& x, Span<const double> a, Span<double> out,
                    const ParallelOptions& options);

/// Each column k divided by unit[k], n*d column-major, in `out`. O(n d).
void divide_columns(const MatrixView& x, Span<const double> unit, Span<double> out,
                    const ParallelOptions& options);

}  // namespace kestrel

#endif
