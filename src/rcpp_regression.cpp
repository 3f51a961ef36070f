// R to core: kernel regression with one regressor.
#include "rcpp_regression.hpp"

using namespace kestrel;

namespace {

/// The kernel at the only bandwidth of the task.
LocalKernel local_kernel(const LocalFits& fits) {
  return {fits.kernel, Rcpp::as<double>(fits.h), fits.local_linear};
}

const LocalRegression& regression_of(SEXP pointer) { return *Rcpp::XPtr<LocalRegression>(pointer); }

}  // namespace

/// A sample with positive weights, sorted for all that is asked of it.
// [[Rcpp::export]]
SEXP regression_cpp(Rcpp::List sample, Rcpp::List run) {
  const Observations data = unpack_observations(sample);
  return Rcpp::XPtr<LocalRegression>(
      new LocalRegression(data.views, unpack_silent_run(run).parallel));
}

// [[Rcpp::export]]
Rcpp::List regression_cv_cpp(SEXP regression, Rcpp::List task, Rcpp::List run) {
  const LocalFits fits = unpack_local_fits(task);
  return curve_list(
      regression_of(regression)
          .cross_validate(view(fits.h), fits.kernel, fits.local_linear, unpack_run(run)));
}

/// At the n data: residuals without and with the observation itself, error2 and, if asked for, the
/// variance (see Residuals); and the sums of regression_cv_cpp.
// [[Rcpp::export]]
Rcpp::List regression_residuals_cpp(SEXP regression, Rcpp::List task, bool errors, Rcpp::List run) {
  const LocalRegression& local = regression_of(regression);
  const auto room = [&](bool wanted) {
    return Rcpp::NumericVector(Rcpp::no_init(wanted ? static_cast<R_xlen_t>(local.size()) : 0));
  };
  const auto span = [](Rcpp::NumericVector& v) { return Span<double>{v.begin(), view(v).size}; };
  Rcpp::NumericVector residual = room(true), in_sample = room(true), error2 = room(true),
                      variance = room(errors);
  const FitTotals totals = local.residuals(
      local_kernel(unpack_local_fits(task)),
      {span(residual), span(in_sample), {}, span(error2), span(variance)}, unpack_run(run));
  return Rcpp::List::create(
      Rcpp::Named("residual") = residual, Rcpp::Named("within") = in_sample,
      Rcpp::Named("squares") = totals.squares, Rcpp::Named("insample") = totals.in_sample,
      Rcpp::Named("trace") = totals.trace, Rcpp::Named("unsupported") = totals.unsupported,
      Rcpp::Named("error2") = error2, Rcpp::Named("variance") = variance);
}

// [[Rcpp::export]]
Rcpp::List regression_fit_cpp(SEXP regression, Rcpp::List task, Rcpp::NumericVector points,
                              Rcpp::NumericVector error2, Rcpp::List run) {
  const Fits fits =
      regression_of(regression)
          .fits(view(points), view(error2), local_kernel(unpack_local_fits(task)), unpack_run(run));
  return Rcpp::List::create(Rcpp::Named("mean") = fits.mean,
                            Rcpp::Named("variance") = fits.variance);
}

// [[Rcpp::export]]
double regression_support_cpp(SEXP regression, std::string kernel) {
  return regression_of(regression).min_supporting_bandwidth(kernel_of_name(kernel));
}

/// The number of the observation, from one on.
// [[Rcpp::export]]
double regression_isolated_cpp(SEXP regression) {
  return static_cast<double>(regression_of(regression).most_isolated()) + 1;
}

/// Distances of observations in (lower, upper], of all or of the nearest (see PairsOf); NULL if
/// they are too many.
// [[Rcpp::export]]
SEXP regression_distances_cpp(SEXP regression, double lower, double upper, bool nearest) {
  const auto found =
      regression_of(regression).distances(lower, upper, nearest ? PairsOf::nearest : PairsOf::all);
  return found ? Rcpp::wrap(*found) : R_NilValue;
}
