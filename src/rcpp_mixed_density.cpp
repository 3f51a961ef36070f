// R to core: densities of mixed data.
#include "rcpp_mixed_density.hpp"

#include "core/leave_one_out/likelihood.hpp"
#include "core/leave_one_out/squared_error.hpp"
#include "rcpp_pairs.hpp"
#include "rcpp_sample.hpp"

using namespace kestrel;

namespace {

MixedCriterion minus(MixedCriterion criterion) {
  criterion.value = -criterion.value;
  for (double& by : criterion.gradient) by = -by;
  return criterion;
}

}  // namespace

/// Chooses the place, CPU or GPU, for this many evaluations of the task's criterion.
// [[Rcpp::export]]
void choose_density_place_cpp(SEXP sample, Rcpp::List task, double evaluations, Rcpp::List run) {
  const Run how = unpack_silent_run(run);
  mixed_call_of(sample).choose(how.place(), unpack_density(task).kernel, evaluations, how.parallel);
}

/// The criterion of the task's method, which is to be minimised, and its gradient by log(h) and
/// lambda if asked for.
// [[Rcpp::export]]
Rcpp::List mixed_density_objective_cpp(SEXP sample, Rcpp::List task, bool gradient,
                                       Rcpp::List run) {
  const MixedDensityTask of = unpack_density(task);
  MixedCall& call = mixed_call_of(sample);
  const Run how = unpack_run(run);
  const MixedCriterion found =
      of.likelihood    ? call.log_likelihood(of.kernel, of.given, gradient, how)
      : of.conditional ? mixed_conditional_error(call.sample(), of.kernel, of.given, gradient, how)
                       : call.squared_error(of.kernel, gradient, how);
  return criterion_list(of.likelihood ? minus(found) : found);
}

/// The same for columns of numbers, by engines: `data` is a list of `sample`, that of these
/// columns, and for "cv.ls" of `pairs`, their sums in the units `unit`.
// [[Rcpp::export]]
Rcpp::List leave_one_out_cpp(Rcpp::List data, SEXP sample, Rcpp::List task, bool gradient,
                             Rcpp::List run) {
  const MixedDensityTask of = unpack_density(task);
  const Fields fields(data, "numbers", {"sample", "pairs", "unit"});
  const Sample& numbers = sample_of(fields["sample"]);
  const MixedSample& mixed = mixed_sample_of(sample);
  const Span<const double> h{of.kernel.h.data(), of.kernel.h.size()};
  const Run how = unpack_run(run);
  if (of.likelihood) {
    const LeaveOneOut found = log_likelihood(numbers, mixed, h, gradient, how);
    return criterion_list(LeaveOneOut{minus(found.criterion), found.engine});
  }
  const Rcpp::NumericVector unit = fields.get<Rcpp::NumericVector>("unit");
  PairSums& pairs = *pairs_of(fields["pairs"]).sums;
  const LeaveOneOut found = squared_error(pairs, numbers, mixed, h, view(unit), gradient, how);
  return criterion_list(found);
}

/// Densities at points, or at the data if there are none (see MixedDensities).
// [[Rcpp::export]]
Rcpp::List mixed_density_cpp(SEXP sample, Rcpp::List task, SEXP points, bool gradients,
                             Rcpp::List run) {
  const MixedDensityTask of = unpack_density(task);
  MixedCall& call = mixed_call_of(sample);
  const Run how = unpack_run(run);
  const MixedRPoints at(points, call.sample(), how.parallel);
  const MixedDensities found = call.densities(at.all(), of.kernel, of.given, gradients, how);
  return density_list(found, call.sample().columns());
}
