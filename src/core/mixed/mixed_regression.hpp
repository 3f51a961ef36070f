// Kernel regression with several regressors and factors: criteria with their gradients, and fits.
#ifndef KESTREL_CORE_MIXED_MIXED_REGRESSION_HPP
#define KESTREL_CORE_MIXED_MIXED_REGRESSION_HPP

#include <cstddef>
#include <vector>

#include "core/mixed/mixed_row.hpp"

namespace kestrel {

/// least_squares: the mean of squared leave-one-out residuals, weighted. aic: Hurvich, Simonoff &
/// Tsai (1998), eq. 8, with the weighted mean of squared residuals.
enum class MixedMethod { least_squares, aic };

/// A criterion and its derivatives by log(h) and lambda, which are empty unless asked for.
/// Observations without a neighbour of positive weight count as `unsupported` and in nothing else,
/// and those whose own weight is zero in nothing at all.
struct MixedCriterion {
  double value = 0;
  std::vector<double> gradient;
  std::size_t unsupported = 0, ridged = 0;
};

/// O(n^2 (p + q)) for n observations, p columns and q factors; local linear O(n^2 (p^2 + q)). The
/// same bits for any number of threads.
MixedCriterion mixed_criterion(const MixedSample& sample, const MixedKernel& kernel,
                               MixedMethod method, bool gradient, const RunOptions& options);

/// Expected seconds of a criterion with its gradient on one thread, within a factor of two, which
/// is enough to choose a device.
double mixed_criterion_seconds(const MixedSample& sample, const MixedKernel& kernel);

/// At every point: the fit, NaN where no sample has a positive weight; with squared errors of the
/// observations, its variance; with `gradients`, its derivatives by the columns, point by point,
/// and their variances.
struct MixedFits {
  std::vector<double> mean, variance, gradient, gradient_variance;
  std::size_t ridged = 0;
};

/// `points` have levels of the sample (other codes match none). error2: of the observations as they
/// were given, or empty. `only`: at which points as given, those that are not 0, or at all if it is
/// empty; others are NaN. O(m n (p + q)).
MixedFits mixed_fits(const MixedSample& sample, const MixedSample& points,
                     const MixedKernel& kernel, Span<const double> error2, bool gradients,
                     const RunOptions& options, Span<const char> only = {});

/// Leave-one-out fits minus the responses, NaN where there is no neighbour, and leverages, of the
/// observations as they were given, or those in `only`.
struct MixedResiduals {
  std::vector<double> deviation, leverage;
};
MixedResiduals mixed_residuals(const MixedSample& sample, const MixedKernel& kernel,
                               const RunOptions& options, Span<const char> only = {});

}  // namespace kestrel

#endif
