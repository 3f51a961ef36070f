// The sequential program of Rohlfs & Zahran (2017) for R.
// [[Rcpp::plugins(cpp17)]]
#include "rohlfs-zahran.hpp"

#include <Rcpp.h>

namespace {

template <class Real>
std::vector<Real> copy_of(const Rcpp::NumericVector& x) {
  return std::vector<Real>(x.begin(), x.end());
}

template <class Real>
Rcpp::List list_of(const rohlfs_zahran::CrossValidation<Real>& result) {
  return Rcpp::List::create(
      Rcpp::Named("squares") = Rcpp::NumericVector(result.squares.begin(), result.squares.end()),
      Rcpp::Named("unsupported") = Rcpp::wrap(result.unsupported));
}

}  // namespace

// The sums over `observations` (numbered from 1; with all of them it is n CV) of the squared
// leave-one-out residuals, for ascending bandwidths, and how many of these observations have no
// neighbour. In double, without matrices.
// [[Rcpp::export]]
Rcpp::List rohlfs_zahran_cv(Rcpp::NumericVector x, Rcpp::NumericVector y,
                            Rcpp::NumericVector bandwidths, Rcpp::IntegerVector observations) {
  std::vector<std::size_t> from_zero;
  for (const int observation : observations) from_zero.push_back(observation - 1);
  return list_of(rohlfs_zahran::lean(copy_of<double>(x), copy_of<double>(y),
                                     copy_of<double>(bandwidths), from_zero));
}

// The same over the first `rows` observations, in single precision and with the matrices of the
// paper: 8 rows n bytes.
// [[Rcpp::export]]
Rcpp::List rohlfs_zahran_sequential(Rcpp::NumericVector x, Rcpp::NumericVector y,
                                    Rcpp::NumericVector bandwidths, int rows) {
  if (rows < 1 || rows > x.size()) Rcpp::stop("more rows than observations");
  return list_of(rohlfs_zahran::sequential(copy_of<float>(x), copy_of<float>(y),
                                           copy_of<float>(bandwidths), rows));
}
