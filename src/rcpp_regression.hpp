// Regression samples and cross-validation curves, of whatever backend, between R and C++.
#ifndef KESTREL_RCPP_REGRESSION_HPP
#define KESTREL_RCPP_REGRESSION_HPP

#include "core/regression/regression.hpp"
#include "rcpp_util.hpp"

namespace kestrel {

inline RegressionSample sample_of(const Rcpp::NumericVector& x, const Rcpp::NumericVector& y,
                                  const Rcpp::NumericVector& w) {
  return {view(x), view(y), view(w)};
}

inline Rcpp::List curve_list(const CrossValidation& curve) {
  return Rcpp::List::create(
      Rcpp::Named("squares") = curve.squares,
      Rcpp::Named("unsupported") =
          Rcpp::IntegerVector(curve.unsupported.begin(), curve.unsupported.end()),
      Rcpp::Named("insample") = curve.in_sample, Rcpp::Named("trace") = curve.trace);
}

}  // namespace kestrel

#endif
