// R to core: densities of mixed data.
#include "rcpp_mixed_density.hpp"

using namespace kestrel;

/// The criterion of the task's method, which is to be minimised, and its gradient by log(h) and
/// lambda if asked for.
// [[Rcpp::export]]
Rcpp::List mixed_density_objective_cpp(SEXP sample, Rcpp::List task, bool gradient,
                                       Rcpp::List run) {
  const MixedDensityTask of = unpack_density(task);
  const MixedSample& data = mixed_sample_of(sample);
  const Run how = unpack_run(run);
  MixedCriterion found =
      of.likelihood    ? mixed_log_likelihood(data, of.kernel, of.given, gradient, how)
      : of.conditional ? mixed_conditional_error(data, of.kernel, of.given, gradient, how)
                       : mixed_squared_error(data, of.kernel, gradient, how);
  if (of.likelihood) {
    found.value = -found.value;
    for (double& by : found.gradient) by = -by;
  }
  return criterion_list(found);
}

/// Densities at points, or at the data if there are none (see MixedDensities).
// [[Rcpp::export]]
Rcpp::List mixed_density_cpp(SEXP sample, Rcpp::List task, SEXP points, bool gradients,
                             Rcpp::List run) {
  const MixedDensityTask of = unpack_density(task);
  const MixedSample& data = mixed_sample_of(sample);
  const Run how = unpack_run(run);
  const MixedRPoints at(points, data, how.parallel);
  const MixedDensities found = mixed_densities(data, at.all(), of.kernel, of.given, gradients, how);
  return density_list(found, data.columns());
}
