// Ranges, mean and covariance of a sample, and the sample relative to its mean or in other
// coordinates.
#ifndef KESTREL_CORE_DATA_SAMPLE_MOMENTS_HPP
#define KESTREL_CORE_DATA_SAMPLE_MOMENTS_HPP

#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

/// The mean m of a sample, in two parts: the second is the mean of what the first leaves. It
/// removes the rounding of the first, which is large for a sample far from the origin, if one is
/// subtracted after the other. Each has d values.
struct SampleMean {
  std::vector<double> first, second;

  /// x - m for variable k.
  double centred(double x, std::size_t k) const { return (x - first[k]) - second[k]; }
};

/// sum_i p_i (x_i - m)(x_i - m)', d*d column-major, and m. p = w / sum w. Sums are of long doubles.
struct SampleCovariance {
  SampleMean mean;
  std::vector<double> covariance;
};

/// x: n*d samples; w: n weights, finite and not negative, at least one positive. Three passes, O(n
/// d^2). Throws error(input) where sizes differ.
SampleCovariance sample_covariance(const MatrixView& x, Weights w, const ParallelOptions& options);

/// Minimum and maximum of each column of x, which has a row at least: 2 d values. They are NaN for
/// a column with a value that is not finite. One pass, O(n d).
std::vector<double> column_ranges(const MatrixView& x, const ParallelOptions& options);

/// A (x_i - m) for every sample, n*d column-major, in `out`. A: d*d column-major. O(n d^2).
void transform_rows(const MatrixView& x, const SampleMean& mean, Span<const double> a,
                    Span<double> out, const ParallelOptions& options);

/// (x_ik - m_k) / unit_k, n*d column-major, in `out`. O(n d).
void divide_columns(const MatrixView& x, const SampleMean& mean, Span<const double> unit,
                    Span<double> out, const ParallelOptions& options);

}  // namespace kestrel

#endif
