// R to core: distribution functions of mixed data, and their quantiles.
#include "core/leave_one_out/conditional_distribution.hpp"
#include "core/leave_one_out/line_distribution.hpp"
#include "rcpp_mixed_density.hpp"

using namespace kestrel;

/// The mean squared error of leave-one-out distribution functions at a grid of points or, for NULL,
/// at the observations, and its gradient by log(h) and lambda if asked for.
// [[Rcpp::export]]
Rcpp::List mixed_distribution_objective_cpp(SEXP sample, Rcpp::List task, SEXP grid, bool gradient,
                                            Rcpp::List run) {
  const MixedDensityTask of = unpack_density(task);
  const MixedSample& data = mixed_sample_of(sample);
  const Run how = unpack_run(run);
  const MixedRPoints points(grid, data, how.parallel);
  const MixedGrid at{points.given()};
  const LeaveOneOut found =
      of.conditional ? conditional_distribution_error(data, at, of.kernel, of.given, gradient, how)
                     : distribution_error(data, at, of.kernel, gradient, how);
  return criterion_list(found);
}

/// Distribution functions at points, or at the data if there are none (see MixedDensities).
// [[Rcpp::export]]
Rcpp::List mixed_distribution_cpp(SEXP sample, Rcpp::List task, SEXP points, bool gradients,
                                  Rcpp::List run) {
  MixedDensityTask of = unpack_density(task);
  of.kernel.form = MixedForm::distribution;
  const MixedSample& data = mixed_sample_of(sample);
  const Run how = unpack_run(run);
  const MixedRPoints at(points, data, how.parallel);
  return density_list(distribution_values(data, at.all(), of.kernel, of.given, gradients, how),
                      data.columns());
}

/// Quantiles of the one column that is not given, at points or at the data, and the densities
/// there.
// [[Rcpp::export]]
Rcpp::List mixed_quantile_cpp(SEXP sample, Rcpp::List task, SEXP points, double tau,
                              Rcpp::List run) {
  const MixedDensityTask of = unpack_density(task);
  const MixedSample& data = mixed_sample_of(sample);
  const Run how = unpack_run(run);
  const MixedRPoints at(points, data, how.parallel);
  const MixedQuantiles found = mixed_quantiles(data, at.all(), of.kernel, of.given, tau, how);
  return Rcpp::List::create(Rcpp::Named("quantile") = to_r(found.quantile, false),
                            Rcpp::Named("density") = to_r(found.density, false));
}
