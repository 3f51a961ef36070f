// R to core: what selectors need to know of a sample.
#include "core/data/sample_moments.hpp"
#include "core/data/ties.hpp"
#include "rcpp_util.hpp"

using namespace kestrel;

// [[Rcpp::export]]
Rcpp::List sample_covariance_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector p) {
  Rcpp::NumericMatrix centred = Rcpp::no_init(x.nrow(), x.ncol());
  const std::vector<double> sums =
      sample_covariance(view(x), view(p), {centred.begin(), static_cast<std::size_t>(x.size())});
  return Rcpp::List::create(
      Rcpp::Named("centred") = centred,
      Rcpp::Named("cov") = Rcpp::NumericMatrix(x.ncol(), x.ncol(), sums.begin()));
}

// [[Rcpp::export]]
Rcpp::List count_ties_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector p) {
  const Ties ties = count_ties(view(x), view(p));
  return Rcpp::List::create(Rcpp::Named("pairs") = ties.pairs, Rcpp::Named("weight") = ties.weight);
}
