// Kernel regression with one regressor: cross-validation curves, residuals, fits.
#ifndef KESTREL_CORE_REGRESSION_REGRESSION_HPP
#define KESTREL_CORE_REGRESSION_REGRESSION_HPP

#include <cstddef>
#include <vector>

#include "core/regression/local_sums.hpp"

namespace kestrel {

/// n observations: x, y and weights w > 0.
struct RegressionSample {
  Span<const double> x, y, w;
};

/// For each bandwidth: squares = sum w_i e_i^2 over the supported observations, e_i = y_i minus the
/// fit without observation i (Rohlfs & Zahran 2017, eq. 2; Stone 1974); and the number of
/// unsupported observations. For the fit with all observations: in_sample = sum w_i r_i^2, and the
/// trace of the hat matrix, for the criterion AICc of Hurvich, Simonoff & Tsai (1998).
struct CrossValidation {
  std::vector<double> squares, in_sample, trace;
  std::vector<std::size_t> unsupported;
};

/// Error: 1e-12 of each sum, if residuals are not below 1e-6 of y. Polynomial kernels: O(n log n)
/// once and O(n) a bandwidth; Gaussian: O(n^2) a bandwidth, less if windows are short. O(n) memory
/// a thread. The same bits for any number of threads. Throws error(input) if sizes differ, a
/// bandwidth is not positive, a position is not finite or the kernel is the cosine.
CrossValidation cross_validate(const RegressionSample& sample, Span<const double> bandwidth,
                               Kernel kernel, bool local_linear, const RunOptions& options);

/// Throws error(input) for a bandwidth or a kernel that regression does not take.
void check_local_kernel(const LocalKernel& kernel);

/// For every observation, in the given order: the leave-one-out residual e_i (NaN without
/// neighbour) and the residual in the sample, in the units of y; and the leverage, the diagonal of
/// the hat matrix.
struct Residuals {
  std::vector<double> leave_one_out, in_sample, leverage;
};

/// At one bandwidth, in the units of x. Error of a residual: 1e-11 of the largest |y| near the
/// observation and of the residual; of leverages: 1e-11. Time, memory, bits, source and exceptions
/// as cross_validate.
Residuals regression_residuals(const RegressionSample& sample, const LocalKernel& kernel,
                               const RunOptions& options);

/// For every point the fit (NaN without neighbour), in the units of y, and, if error2 is not empty,
/// the variance sum_i l_i(e)^2 error2_i, l the weights of the fit.
struct Fits {
  std::vector<double> mean, variance;
};

/// m points, in the units of x and any order; error2: squared errors of the n observations in the
/// units of y^2, or empty. Error: fits 1e-11 of the largest |y| near a point; variances 1e-8 of
/// themselves plus 1e-12 of sum_i l_i^2 times the largest error2. O((n + m) log(n + m)) time for
/// polynomial kernels, O(n m) for the Gaussian one; O(n + m) memory. The same bits for any number
/// of threads. Throws as cross_validate, and error(internal) for error2 of another size.
Fits regression_fits(const RegressionSample& sample, Span<const double> points,
                     Span<const double> error2, const LocalKernel& kernel,
                     const RunOptions& options);

/// The smallest bandwidth at which every observation has a neighbour: the maximum distance to the
/// nearest other observation, or the next larger number if the window is open. O(n log n). NaN for
/// n < 2.
double min_supporting_bandwidth(Span<const double> x, Kernel kernel,
                                const ParallelOptions& options);

}  // namespace kestrel

#endif
