// The fit of a kernel regression at its own data, and how good it is.
#ifndef KESTREL_CORE_REGRESSION_FIT_AT_DATA_HPP
#define KESTREL_CORE_REGRESSION_FIT_AT_DATA_HPP

#include "core/regression/regression.hpp"

namespace kestrel {

/// Room for n values each, for every observation in the given order: the fit with all observations,
/// y minus it, the fit without the observation, error2 (see Residuals), the standard error of the
/// fit with all observations, the gradient of that fit (see Fits) and its standard error. The last
/// three may be empty: then they are not computed; gradients need room for the standard error.
struct FitAtData {
  Span<double> mean, residual, left_out, error2, standard_error, gradient, gradient_error;
};

/// np's measures of a fit, all with weights w. r2: (sum (y - m)(fit - m))^2 / (sum (y - m)^2 sum
/// (fit - m)^2), m the mean of y; correlation: the magnitude of that of y and the fit. Both are
/// `missing` if y is constant, or the fit up to rounding. Means: mse of the squared residuals, mae
/// of their magnitudes, mape of these divided by |y| (1/2, or 0 for no residual, where y = 0), and
/// sign, how often y and the fit have the same sign.
struct FitMeasures {
  FitTotals totals;
  double r2, correlation, mse, mae, mape, sign;
};

/// Fits `sorted`, which was made of `sample`, and measures the fit. What does not exist, for lack
/// of neighbours, is `missing`. Errors as of LocalRegression::residuals().
FitMeasures fit_at_data(const RegressionSample& sample, const LocalRegression& sorted,
                        const LocalKernel& kernel, double missing, const FitAtData& out,
                        const RunOptions& options);

/// sum w_i (y_i - y_1)^2; 0 without observations. It may be infinite. One pass.
double squared_differences(Span<const double> y, Weights w, const ParallelOptions& options);

/// mean -+ z * error, value by value.
void confidence_bands(Span<const double> mean, Span<const double> errors, double z,
                      Span<double> lower, Span<double> upper, const ParallelOptions& options);

}  // namespace kestrel

#endif
