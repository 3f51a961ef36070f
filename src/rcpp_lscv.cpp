// R to core: cross-validation with a bandwidth matrix by the direct engine.
#include "core/direct/lscv.hpp"
#include "rcpp_pairs.hpp"
#include "rcpp_util.hpp"

using namespace kestrel;

// [[Rcpp::export]]
Rcpp::List direct_lscv_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, Rcpp::NumericMatrix root,
                           bool moments, int threads, std::string isa,
                           Rcpp::Nullable<Rcpp::Function> progress) {
  const LscvPairSums sums =
      direct_lscv(view(x), view(w), entries(root), moments, options(threads, isa, progress));
  return lscv_list(sums, x.ncol());
}

// [[Rcpp::export]]
Rcpp::List direct_gaussian_moments_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w,
                                       Rcpp::NumericMatrix root, int threads, std::string isa,
                                       Rcpp::Nullable<Rcpp::Function> progress) {
  const GaussianPairSums sums =
      direct_gaussian_moments(view(x), view(w), entries(root), options(threads, isa, progress));
  return Rcpp::List::create(Rcpp::Named("sum") = sums.sum,
                            Rcpp::Named("moments") = moment_matrix(sums, x.ncol()));
}

// [[Rcpp::export]]
Rcpp::NumericMatrix direct_lscv_curve_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w,
                                          Rcpp::NumericMatrix root, Rcpp::NumericVector h,
                                          int threads, std::string isa,
                                          Rcpp::Nullable<Rcpp::Function> progress) {
  const PairCurve curve =
      direct_lscv_curve(view(x), view(w), entries(root), view(h), options(threads, isa, progress));
  return curve_matrix(curve);
}
