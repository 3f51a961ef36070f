// Regressions y = x' gamma(z) + error, whose coefficients are smooth functions of mixed data z: a
// weighted least-squares fit by x at every point z (Li & Racine 2007, ch. 9).
#ifndef KESTREL_CORE_MIXED_MIXED_COEFFICIENTS_HPP
#define KESTREL_CORE_MIXED_MIXED_COEFFICIENTS_HPP

#include <cstddef>
#include <vector>

#include "core/mixed/mixed_regression.hpp"

namespace kestrel {

/// Columns of x, without the constant one, and responses; rows as given. At most
/// simd::kMixedColumns columns.
struct MixedDesign {
  MatrixView x;
  Span<const double> y;
};

/// The mean of squared leave-one-out residuals, and its derivatives. O(n^2 (p + q + k^2)) for k
/// columns of x.
MixedCriterion mixed_coefficient_criterion(const MixedSample& sample, const MixedKernel& kernel,
                                           const MixedDesign& design, bool gradient,
                                           const RunOptions& options);

/// At every point z with its row of x: the fit x' gamma and gamma itself, k + 1 numbers, the
/// constant first, point by point; with squared errors of the observations, their variances. NaN
/// where no sample has a positive weight. In a direction of x in which the neighbours do not differ
/// gamma is 0.
struct MixedCoefficients {
  std::vector<double> mean, variance, beta, beta_variance;
  std::size_t ridged = 0;
};

/// x: a row for each point, as given. leave_out: the observation itself, where the points are the
/// sample.
MixedCoefficients mixed_coefficients(const MixedSample& sample, const MixedSample& points,
                                     const MixedKernel& kernel, const MixedDesign& design,
                                     const MatrixView& x, Span<const double> error2, bool leave_out,
                                     const RunOptions& options);

}  // namespace kestrel

#endif
