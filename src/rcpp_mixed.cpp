// R to core: regressions over mixed data.
#include "rcpp_mixed.hpp"

#include "core/mixed/mixed_regression.hpp"
#include "rcpp_weights.hpp"

using namespace kestrel;

/// A sample of mixed data: x, unordered (codes from 1 on), ordered (positions), levels, y and, if
/// there are weights, w.
// [[Rcpp::export]]
SEXP mixed_cpp(Rcpp::List data, Rcpp::List run) {
  const Fields fields(data, "mixed data", {"x", "unordered", "ordered", "levels", "y", "w"});
  const MixedRRows rows = unpack_rows(fields);
  const auto y = fields.get<Rcpp::NumericVector>("y");
  const SEXP given = fields.optional("w");
  const Weights w = Rf_isNull(given) ? Weights() : weights_of(given);
  return Rcpp::XPtr<MixedCall>(
      new MixedCall(MixedSample(rows.views, fields.get<std::vector<int>>("levels"), view(y), w,
                                unpack_silent_run(run).parallel)));
}

/// Chooses the place, CPU or GPU, for this many evaluations of the task's criterion.
// [[Rcpp::export]]
void choose_mixed_place_cpp(SEXP sample, Rcpp::List task, double evaluations, Rcpp::List run) {
  MixedMethod method;
  const Run how = unpack_silent_run(run);
  mixed_call_of(sample).choose(how.place(), unpack_regression(task, &method), evaluations,
                               how.parallel);
}

/// That place: the backend and, if it is one, the device.
// [[Rcpp::export]]
Rcpp::List mixed_place_cpp(SEXP sample) { return place_list(mixed_call_of(sample).use()); }

/// The criterion of the task's method, and its gradient by log(h) and lambda if asked for.
// [[Rcpp::export]]
Rcpp::List mixed_objective_cpp(SEXP sample, Rcpp::List task, bool gradient, Rcpp::List run) {
  MixedMethod method;
  const MixedKernel kernel = unpack_regression(task, &method);
  const MixedCriterion found =
      mixed_call_of(sample).criterion(kernel, method, gradient, unpack_run(run));
  return criterion_list(found);
}

/// Fits at points, or at the data if there are none (see MixedFits), and there also leave-one-out
/// fits minus y, and leverages.
// [[Rcpp::export]]
Rcpp::List mixed_fit_cpp(SEXP sample, Rcpp::List task, SEXP points, Rcpp::NumericVector error2,
                         bool gradients, Rcpp::List run) {
  MixedMethod method;
  const MixedKernel kernel = unpack_regression(task, &method);
  MixedCall& call = mixed_call_of(sample);
  const MixedSample& data = call.sample();
  const Run how = unpack_run(run);
  const MixedRPoints at(points, data, how.parallel);
  const MixedFits fits = call.fits(at.all(), kernel, view(error2), gradients, how);
  MixedResiduals residuals;
  if (at.are_data() && data.responses()) residuals = call.residuals(kernel, how);
  return Rcpp::List::create(
      Rcpp::Named("mean") = to_r(fits.mean, false), Rcpp::Named("se") = to_r(fits.variance, true),
      Rcpp::Named("grad") = by_point(fits.gradient, data.columns(), false),
      Rcpp::Named("gerr") = by_point(fits.gradient_variance, data.columns(), true),
      Rcpp::Named("deviation") = to_r(residuals.deviation, false),
      Rcpp::Named("leverage") = to_r(residuals.leverage, false),
      Rcpp::Named("ridged") = static_cast<double>(fits.ridged));
}
