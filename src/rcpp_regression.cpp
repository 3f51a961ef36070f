// R to core: kernel regression with one regressor.
#include "rcpp_regression.hpp"

using namespace kestrel;

namespace {

LocalKernel local_kernel(const std::string& kernel, double h, bool local_linear) {
  return {kernel_of_name(kernel), h, local_linear};
}

}  // namespace

// [[Rcpp::export]]
Rcpp::List regression_cv_cpp(Rcpp::NumericVector x, Rcpp::NumericVector y, Rcpp::NumericVector w,
                             Rcpp::NumericVector bandwidths, std::string kernel, bool local_linear,
                             int threads, std::string isa,
                             Rcpp::Nullable<Rcpp::Function> progress) {
  return curve_list(cross_validate(sample_of(x, y, w), view(bandwidths), kernel_of_name(kernel),
                                   local_linear, options(threads, isa, progress)));
}

// [[Rcpp::export]]
Rcpp::List regression_loo_cpp(Rcpp::NumericVector x, Rcpp::NumericVector y, Rcpp::NumericVector w,
                              double h, std::string kernel, bool local_linear, int threads,
                              std::string isa, Rcpp::Nullable<Rcpp::Function> progress) {
  const Residuals found = regression_residuals(
      sample_of(x, y, w), local_kernel(kernel, h, local_linear), options(threads, isa, progress));
  return Rcpp::List::create(Rcpp::Named("residual") = found.leave_one_out,
                            Rcpp::Named("insample") = found.in_sample,
                            Rcpp::Named("leverage") = found.leverage);
}

// [[Rcpp::export]]
Rcpp::List regression_fit_cpp(Rcpp::NumericVector x, Rcpp::NumericVector y, Rcpp::NumericVector w,
                              Rcpp::NumericVector points, double h, std::string kernel,
                              bool local_linear, Rcpp::NumericVector error2, int threads,
                              std::string isa, Rcpp::Nullable<Rcpp::Function> progress) {
  const Fits fits =
      regression_fits(sample_of(x, y, w), view(points), view(error2),
                      local_kernel(kernel, h, local_linear), options(threads, isa, progress));
  return Rcpp::List::create(Rcpp::Named("mean") = fits.mean,
                            Rcpp::Named("variance") = fits.variance);
}

// [[Rcpp::export]]
double regression_support_cpp(Rcpp::NumericVector x, std::string kernel, int threads) {
  ParallelOptions parallel;
  parallel.threads = threads;
  parallel.poll = r_poll(R_NilValue);
  return min_supporting_bandwidth(view(x), kernel_of_name(kernel), parallel);
}
