// R to core: kernel regression with one regressor.
#include "rcpp_regression.hpp"

using namespace kestrel;

namespace {

/// The kernel at the only bandwidth of the task.
LocalKernel local_kernel(const LocalFits& fits) {
  return {fits.kernel, Rcpp::as<double>(fits.h), fits.local_linear};
}

}  // namespace

// [[Rcpp::export]]
Rcpp::List regression_cv_cpp(Rcpp::List sample, Rcpp::List task, Rcpp::List run) {
  const Observations data = unpack_observations(sample);
  const LocalFits fits = unpack_local_fits(task);
  return curve_list(
      cross_validate(data.views, view(fits.h), fits.kernel, fits.local_linear, unpack_run(run)));
}

// [[Rcpp::export]]
Rcpp::List regression_loo_cpp(Rcpp::List sample, Rcpp::List task, Rcpp::List run) {
  const Observations data = unpack_observations(sample);
  const Residuals found =
      regression_residuals(data.views, local_kernel(unpack_local_fits(task)), unpack_run(run));
  return Rcpp::List::create(Rcpp::Named("residual") = found.leave_one_out,
                            Rcpp::Named("insample") = found.in_sample,
                            Rcpp::Named("leverage") = found.leverage);
}

// [[Rcpp::export]]
Rcpp::List regression_fit_cpp(Rcpp::List sample, Rcpp::List task, Rcpp::NumericVector points,
                              Rcpp::NumericVector error2, Rcpp::List run) {
  const Observations data = unpack_observations(sample);
  const Fits fits = regression_fits(data.views, view(points), view(error2),
                                    local_kernel(unpack_local_fits(task)), unpack_run(run));
  return Rcpp::List::create(Rcpp::Named("mean") = fits.mean,
                            Rcpp::Named("variance") = fits.variance);
}

// [[Rcpp::export]]
double regression_support_cpp(Rcpp::NumericVector x, std::string kernel, Rcpp::List run) {
  return min_supporting_bandwidth(view(x), kernel_of_name(kernel), unpack_silent_run(run).parallel);
}
