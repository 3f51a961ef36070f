// Kernel regression with one regressor: cross-validation curves, residuals, fits.
#ifndef KESTREL_CORE_REGRESSION_REGRESSION_HPP
#define KESTREL_CORE_REGRESSION_REGRESSION_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/data/weights.hpp"
#include "core/regression/local_fit.hpp"
#include "core/regression/pair_distances.hpp"

namespace kestrel {

/// n observations: x, y and weights w > 0. Of a periodic x the last rows may be images of others,
/// whole periods away: `images` has the rows, from 0 on, that they are images of. Images count in
/// fits of the other rows, and have none themselves. There is none as near to its row as another
/// observation.
struct RegressionSample {
  Span<const double> x, y;
  Weights w;
  Span<const std::int32_t> images = {};
};

/// For each bandwidth: squares = sum w_i e_i^2 over the supported observations, e_i = y_i minus the
/// fit without observation i (Rohlfs & Zahran 2017, eq. 2; Stone 1974); and the number of
/// unsupported observations. For the fit with all observations: in_sample = sum w_i r_i^2, and the
/// trace of the hat matrix, for the criterion AICc of Hurvich, Simonoff & Tsai (1998).
struct CrossValidation {
  std::vector<double> squares, in_sample, trace;
  std::vector<std::size_t> unsupported;
};

/// Throws error(input) for a bandwidth or a kernel that regression does not take.
void check_local_kernel(const LocalKernel& kernel);

/// Room for n values each, for every observation in the given order: the leave-one-out residual e_i
/// (NaN without neighbour) and the residual in the sample, in the units of y; the leverage, the
/// diagonal of the hat matrix; error2, e_i^2, or its mean with weights w over the others where
/// there is no neighbour (NaN if none has one); and the variance of the fit with all observations,
/// sum_j l_j^2 error2_j, l the weights of the fit; and the gradient of that fit with its variance,
/// see Fits. Leverage, variance and the gradients may be empty: then they are not computed.
/// Gradients need room for the variance.
struct Residuals {
  Span<double> leave_one_out, in_sample, leverage, error2, variance, gradient, gradient_variance;
};

/// For every point the fit (NaN without neighbour), in the units of y, and, if error2 is not empty,
/// the variance sum_i l_i(e)^2 error2_i, l the weights of the fit. If asked for, the derivative of
/// the fit by x or, for local linear fits, the slope of the line (NaN if it sees one position
/// only), with its variance.
struct Fits {
  std::vector<double> mean, variance, gradient, gradient_variance;
};

/// Three measures of how far positions lie apart: their standard deviation (divisor n - 1), their
/// interquartile range and the median of their distances to their median.
struct Spread {
  double deviation, interquartile, median_deviation;
};

/// The local regressions of a sample, which is sorted once for all of them.
///
/// O(n) time at a bandwidth and O((n + m) log m) for fits at m points, as local_sums(); gradients
/// of local constant fits by polynomial kernels take O(observations in the window) a point. O(n +
/// m) memory. The same bits for any number of threads. All throw error(input) for what
/// check_local_kernel() refuses. Not to be used on several threads at once: sums of the Gaussian
/// kernel keep what they need of the sample.
class LocalRegression {
 public:
  /// O(n log n). Throws error(input) if sizes differ or a position is not finite.
  LocalRegression(const RegressionSample& sample, const ParallelOptions& options);

  /// The number of observations, without their images.
  std::size_t size() const { return line().size() - images_.size(); }

  /// With nearest neighbours `bandwidth` has ascending numbers k, and sums are NaN where some
  /// observation has no k-th one. See neighbour_fits.hpp for their cost.
  ///
  /// Error: 1e-12 of each sum, if residuals are not below 1e-4 of what y differs by within windows.
  /// `kernel`: all but its bandwidth.
  CrossValidation cross_validate(Span<const double> bandwidth, const LocalKernel& kernel,
                                 const RunOptions& options) const;

  /// At one bandwidth, in the units of x. Error of a residual: 1e-11 of the largest |y| near the
  /// observation and of the residual; of leverages: 1e-11; of variances as of fits(). Returns the
  /// sums of cross_validate(). Throws error(internal) for room of another size.
  FitTotals residuals(const LocalKernel& kernel, const Residuals& out,
                      const RunOptions& options) const;

  /// m points, in the units of x and any order; error2: squared errors of the n observations in the
  /// units of y^2, or empty. Error: fits 1e-11 of the largest |y| near a point; variances 1e-8 of
  /// themselves plus 1e-12 of sum_i l_i^2 times the largest error2. Throws error(internal) for
  /// error2 of another size. Gradients, computed if kernel.gradient, need error2.
  Fits fits(Span<const double> points, Span<const double> error2, const LocalKernel& kernel,
            const RunOptions& options) const;

  /// The smallest bandwidth at which every observation has a neighbour: the maximum distance to the
  /// nearest other observation, or the next larger number if the window is open. O(1). NaN for
  /// n < 2.
  double min_supporting_bandwidth(Kernel kernel) const;

  /// Without weights, by quantiles of type 7; images count. O(n).
  Spread spread(const ParallelOptions& options) const;

  /// The largest k up to `limit` for which every observation has a k-th neighbour, see
  /// neighbours.hpp. O(n limit).
  std::size_t most_neighbours(std::size_t limit, const ParallelOptions& options) const;

  /// The observation that is farthest from all others, in the given order. O(1). At least two
  /// observations.
  std::size_t most_isolated() const { return line().given(isolated_.number); }

  /// pair_distances() of the observations.
  std::optional<std::vector<double>> distances(double lower, double upper, PairsOf pairs) const {
    return pair_distances(line(), lower, upper, pairs);
  }

 private:
  const SortedSample& line() const { return source_.sample(); }
  LocalKernel prepared(LocalKernel kernel, double min_bandwidth, const RunOptions& options) const;
  /// The row that a row in the given order is, or is an image of.
  std::size_t row_of(std::size_t given) const {
    return given < size() ? given : static_cast<std::size_t>(images_[given - size()]);
  }

  const std::vector<std::int32_t> images_;
  LocalSource source_;
  LocalFitter fitter_;
  Isolated isolated_;
};

}  // namespace kestrel

#endif
