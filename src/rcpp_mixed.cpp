// R to core: sums over mixed data.
#include <cmath>
#include <memory>

#include "core/mixed/mixed_regression.hpp"
#include "rcpp_fields.hpp"
#include "rcpp_run.hpp"
#include "rcpp_util.hpp"

using namespace kestrel;

namespace {

/// R's memory of the rows of a sample, or of points.
struct Rows {
  Rcpp::NumericMatrix x, ordered;
  Rcpp::IntegerMatrix factor;
  MixedRows views;
};

MatrixView mixed_matrix(const Rcpp::NumericMatrix& m) {
  return {m.begin(), static_cast<std::size_t>(m.nrow()), static_cast<std::size_t>(m.ncol())};
}

Rows unpack_rows(const Fields& fields) {
  Rows rows{fields.get<Rcpp::NumericMatrix>("x"),
            fields.get<Rcpp::NumericMatrix>("ordered"),
            fields.get<Rcpp::IntegerMatrix>("unordered"),
            {}};
  const std::size_t n = static_cast<std::size_t>(rows.x.nrow());
  rows.views = {mixed_matrix(rows.x),
                {rows.factor.begin(), static_cast<std::size_t>(rows.factor.size())},
                mixed_matrix(rows.ordered),
                n,
                static_cast<std::size_t>(rows.factor.ncol())};
  return rows;
}

MixedKernel unpack_kernel(const Rcpp::List& list, MixedMethod* method) {
  const Fields fields(
      list, "a task of mixed data",
      {"h", "lambda", "ckertype", "ckerorder", "ukertype", "okertype", "regtype", "method"});
  MixedKernel kernel;
  kernel.h = fields.get<std::vector<double>>("h");
  kernel.lambda = fields.get<std::vector<double>>("lambda");
  kernel.continuous = kernel_of_name(fields.get<std::string>("ckertype"));
  kernel.order = fields.get<int>("ckerorder");
  if (fields.get<std::string>("ukertype") == "liracine") kernel.factor = FactorKernel::li_racine;
  const std::string ordered = fields.get<std::string>("okertype");
  if (ordered == "wangvanryzin") kernel.ordered = OrderedKernel::wang_van_ryzin;
  if (ordered == "racineliyan") kernel.ordered = OrderedKernel::racine_li_yan;
  kernel.local_linear = fields.get<std::string>("regtype") == "ll";
  const std::string name = fields.get<std::string>("method");
  *method = name == "cv.aic"  ? MixedMethod::aic
            : name == "cv.ml" ? MixedMethod::likelihood
                              : MixedMethod::least_squares;
  return kernel;
}

const MixedSample& mixed_sample_of(SEXP pointer) { return *Rcpp::XPtr<MixedSample>(pointer); }

Rcpp::NumericVector to_r(const std::vector<double>& from, bool root) {
  Rcpp::NumericVector to(static_cast<R_xlen_t>(from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[static_cast<R_xlen_t>(i)] = std::isnan(from[i]) ? NA_REAL
                                   : root              ? std::sqrt(from[i])
                                                       : from[i];
  }
  return to;
}

/// Values point by point as a matrix with a row for each point.
Rcpp::NumericMatrix by_point(const std::vector<double>& from, std::size_t columns, bool root) {
  const std::size_t rows = columns > 0 ? from.size() / columns : 0;
  Rcpp::NumericMatrix to(static_cast<int>(rows), static_cast<int>(columns));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t c = 0; c < columns; ++c) {
      const double value = from[i * columns + c];
      to(static_cast<int>(i), static_cast<int>(c)) = std::isnan(value) ? NA_REAL
                                                     : root            ? std::sqrt(value)
                                                                       : value;
    }
  }
  return to;
}

}  // namespace

/// A sample of mixed data: x, unordered (codes from 1 on), ordered (positions), levels and y.
// [[Rcpp::export]]
SEXP mixed_cpp(Rcpp::List data, Rcpp::List run) {
  const Fields fields(data, "mixed data", {"x", "unordered", "ordered", "levels", "y"});
  const Rows rows = unpack_rows(fields);
  const auto y = fields.get<Rcpp::NumericVector>("y");
  return Rcpp::XPtr<MixedSample>(new MixedSample(rows.views, fields.get<std::vector<int>>("levels"),
                                                 view(y), unpack_silent_run(run).parallel));
}

/// The criterion of the task's method, and its gradient by log(h) and lambda if asked for.
// [[Rcpp::export]]
Rcpp::List mixed_objective_cpp(SEXP sample, Rcpp::List task, bool gradient, Rcpp::List run) {
  MixedMethod method;
  const MixedKernel kernel = unpack_kernel(task, &method);
  const MixedCriterion found =
      mixed_criterion(mixed_sample_of(sample), kernel, method, gradient, unpack_run(run));
  return Rcpp::List::create(Rcpp::Named("value") = found.value,
                            Rcpp::Named("gradient") = found.gradient,
                            Rcpp::Named("unsupported") = static_cast<double>(found.unsupported),
                            Rcpp::Named("ridged") = static_cast<double>(found.ridged));
}

/// Fits at points, or at the data if there are none (see MixedFits), and there also leave-one-out
/// fits minus y, and leverages.
// [[Rcpp::export]]
Rcpp::List mixed_fit_cpp(SEXP sample, Rcpp::List task, SEXP points, Rcpp::NumericVector error2,
                         bool gradients, Rcpp::List run) {
  MixedMethod method;
  const MixedKernel kernel = unpack_kernel(task, &method);
  const MixedSample& data = mixed_sample_of(sample);
  const Run how = unpack_run(run);
  const bool at_data = Rf_isNull(points);
  std::unique_ptr<MixedSample> other;
  if (!at_data) {
    const Fields fields(points, "points of mixed data", {"x", "unordered", "ordered"});
    const Rows rows = unpack_rows(fields);
    other = std::make_unique<MixedSample>(rows.views,
                                          std::vector<int>(data.factors() + data.ordered(), 1),
                                          Span<const double>(), how.parallel);
  }
  const MixedFits fits =
      mixed_fits(data, at_data ? data : *other, kernel, view(error2), gradients, how);
  MixedResiduals residuals;
  if (at_data && data.responses()) residuals = mixed_residuals(data, kernel, how);
  return Rcpp::List::create(
      Rcpp::Named("mean") = to_r(fits.mean, false), Rcpp::Named("se") = to_r(fits.variance, true),
      Rcpp::Named("grad") = by_point(fits.gradient, data.columns(), false),
      Rcpp::Named("gerr") = by_point(fits.gradient_variance, data.columns(), true),
      Rcpp::Named("sum") = fits.sum, Rcpp::Named("deviation") = to_r(residuals.deviation, false),
      Rcpp::Named("leverage") = to_r(residuals.leverage, false),
      Rcpp::Named("ridged") = static_cast<double>(fits.ridged));
}
