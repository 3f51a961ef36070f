// R to core: regressions whose coefficients are smooth functions of mixed data.
#include "core/mixed/mixed_coefficients.hpp"
#include "rcpp_mixed.hpp"

using namespace kestrel;

namespace {

struct RDesign {
  explicit RDesign(const Rcpp::List& list)
      : RDesign(Fields(list, "a design", {"x", "y", "at", "error2", "leave_out"})) {}
  explicit RDesign(const Fields& fields)
      : x(fields.get<Rcpp::NumericMatrix>("x")),
        at(fields.get<Rcpp::NumericMatrix>("at")),
        y(fields.get<Rcpp::NumericVector>("y")),
        error2(fields.get<Rcpp::NumericVector>("error2")),
        leave_out(fields.get<bool>("leave_out")) {}
  MixedDesign view_of() const { return {mixed_matrix(x), view(y)}; }
  Rcpp::NumericMatrix x, at;
  Rcpp::NumericVector y, error2;
  bool leave_out;
};

}  // namespace

/// The criterion of mixed_coefficient_criterion() for a design, a list of `x` and `y`.
// [[Rcpp::export]]
Rcpp::List mixed_coefficient_objective_cpp(SEXP sample, Rcpp::List task, Rcpp::List design,
                                           bool gradient, Rcpp::List run) {
  const RDesign of(design);
  const MixedCriterion found = mixed_coefficient_criterion(
      mixed_sample_of(sample), unpack_regression(task), of.view_of(), gradient, unpack_run(run));
  return criterion_list(found);
}

/// Fits and coefficients at points, or at the data if there are none; `at` of the design: x there.
// [[Rcpp::export]]
Rcpp::List mixed_coefficients_cpp(SEXP sample, Rcpp::List task, SEXP points, Rcpp::List design,
                                  Rcpp::List run) {
  const RDesign of(design);
  const MixedSample& data = mixed_sample_of(sample);
  const Run how = unpack_run(run);
  const MixedRPoints at(points, data, how.parallel);
  const MixedCoefficients found =
      mixed_coefficients(data, at.all(), unpack_regression(task), of.view_of(), mixed_matrix(of.at),
                         view(of.error2), of.leave_out, how);
  const std::size_t columns = static_cast<std::size_t>(of.x.ncol()) + 1;
  return Rcpp::List::create(Rcpp::Named("mean") = to_r(found.mean, false),
                            Rcpp::Named("se") = to_r(found.variance, true),
                            Rcpp::Named("beta") = by_point(found.beta, columns, false),
                            Rcpp::Named("beta_se") = by_point(found.beta_variance, columns, true),
                            Rcpp::Named("ridged") = static_cast<double>(found.ridged));
}
