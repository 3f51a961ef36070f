// R to core: densities of mixed data.
#include "core/mixed/mixed_density.hpp"
#include "rcpp_mixed.hpp"

using namespace kestrel;

namespace {

struct MixedDensityTask {
  MixedKernel kernel;
  MixedGiven given;
  bool conditional, likelihood;
};

MixedDensityTask unpack_density(const Rcpp::List& list) {
  const Fields fields(
      list, "a task of densities",
      {"h", "lambda", "ckertype", "ckerorder", "ukertype", "okertype", "given", "method"});
  MixedDensityTask task{
      unpack_kernel(fields), {}, false, fields.get<std::string>("method") == "cv.ml"};
  for (const int one : fields.get<std::vector<int>>("given")) {
    task.given.push_back(one != 0);
    task.conditional = task.conditional || one != 0;
  }
  if (task.given.size() != task.kernel.h.size() + task.kernel.lambda.size()) {
    throw error(ErrorKind::internal, "a density needs `given` for each column");
  }
  return task;
}

}  // namespace

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
  return Rcpp::List::create(Rcpp::Named("value") = found.value,
                            Rcpp::Named("gradient") = found.gradient,
                            Rcpp::Named("unsupported") = static_cast<double>(found.unsupported));
}

/// Densities at points, or at the data if there are none (see MixedDensities).
// [[Rcpp::export]]
Rcpp::List mixed_density_cpp(SEXP sample, Rcpp::List task, SEXP points, bool gradients,
                             Rcpp::List run) {
  const MixedDensityTask of = unpack_density(task);
  const MixedSample& data = mixed_sample_of(sample);
  const Run how = unpack_run(run);
  const std::unique_ptr<MixedSample> other = unpack_points(points, data, how.parallel);
  const MixedDensities found =
      mixed_densities(data, other == nullptr ? data : *other, of.kernel, of.given, gradients, how);
  return Rcpp::List::create(
      Rcpp::Named("density") = to_r(found.density, false),
      Rcpp::Named("se") = to_r(found.variance, true),
      Rcpp::Named("grad") = by_point(found.gradient, data.columns(), false),
      Rcpp::Named("gerr") = by_point(found.gradient_variance, data.columns(), true));
}
