// The programs of Andrzejewski, Gramacki & Gramacki (2013), sequential (andrzejewski.hpp) and with
// vectors (andrzejewski-simd.hpp), for R.
// [[Rcpp::plugins(cpp17, openmp)]]
#include "andrzejewski.hpp"

#include <Rcpp.h>

#include "andrzejewski-simd.hpp"

namespace {

template <class Real>
std::vector<Real> copy_of(const Rcpp::NumericVector& x) {
  return std::vector<Real>(x.begin(), x.end());
}

template <class Real>
andrzejewski::Sample<Real> sample_of(const Rcpp::NumericMatrix& x,
                                     const Rcpp::NumericMatrix& inverse, double determinant) {
  return {copy_of<Real>(x), static_cast<std::size_t>(x.nrow()), copy_of<Real>(inverse),
          determinant};
}

andrzejewski::simd::Rows rows_of(const Rcpp::NumericMatrix& x, const Rcpp::NumericMatrix& inverse,
                                 double determinant) {
  return {copy_of<float>(x), static_cast<std::size_t>(x.ncol()), copy_of<float>(inverse),
          determinant};
}

template <class Real>
Rcpp::NumericVector vector_of(const andrzejewski::Plugin<Real>& plugin) {
  return Rcpp::NumericVector::create(Rcpp::Named("psi6") = plugin.psi6,
                                     Rcpp::Named("psi4") = plugin.psi4,
                                     Rcpp::Named("h") = plugin.h);
}

}  // namespace

// psi_6, psi_4 (eq. 16, 18) and h (eq. 19).
// [[Rcpp::export]]
Rcpp::NumericVector andrzejewski_plugin(Rcpp::NumericVector x, bool single) {
  return single ? vector_of(andrzejewski::plugin(copy_of<float>(x)))
                : vector_of(andrzejewski::plugin(copy_of<double>(x)));
}

// The same with vectors of four floats.
// [[Rcpp::export]]
Rcpp::NumericVector andrzejewski_simd_plugin(Rcpp::NumericVector x, int threads) {
  return vector_of(andrzejewski::simd::plugin(copy_of<float>(x), threads));
}

// g(h) for every h; x: d * n; inverse and determinant of the covariance matrix.
// [[Rcpp::export]]
Rcpp::NumericVector andrzejewski_lscv_h(Rcpp::NumericMatrix x, Rcpp::NumericMatrix inverse,
                                        double determinant, Rcpp::NumericVector h, bool single) {
  const std::vector<double> bandwidths = copy_of<double>(h);
  return Rcpp::wrap(
      single ? andrzejewski::lscv_h(sample_of<float>(x, inverse, determinant), bandwidths)
             : andrzejewski::lscv_h(sample_of<double>(x, inverse, determinant), bandwidths));
}

// The same with vectors of four floats; x: n * d.
// [[Rcpp::export]]
Rcpp::NumericVector andrzejewski_simd_lscv_h(Rcpp::NumericMatrix x, Rcpp::NumericMatrix inverse,
                                             double determinant, Rcpp::NumericVector h,
                                             int threads) {
  return Rcpp::wrap(
      andrzejewski::simd::lscv_h(rows_of(x, inverse, determinant), copy_of<double>(h), threads));
}

// The sum of T_H(X_i - X_j) (eq. 33) over the pairs i < j with i among `observations`, numbered
// from 1 (with all of them it is that of eq. 32); x: d * n; inverse and determinant of H.
// [[Rcpp::export]]
double andrzejewski_lscv_H(Rcpp::NumericMatrix x, Rcpp::NumericMatrix inverse, double determinant,
                           Rcpp::IntegerVector observations, bool single) {
  std::vector<std::size_t> from_zero;
  for (const int observation : observations) from_zero.push_back(observation - 1);
  return single ? andrzejewski::lscv_H(sample_of<float>(x, inverse, determinant), from_zero)
                : andrzejewski::lscv_H(sample_of<double>(x, inverse, determinant), from_zero);
}

// The sum over all pairs with vectors of four floats; x: n * d.
// [[Rcpp::export]]
double andrzejewski_simd_lscv_H(Rcpp::NumericMatrix x, Rcpp::NumericMatrix inverse,
                                double determinant, int threads) {
  return andrzejewski::simd::lscv_H(rows_of(x, inverse, determinant), threads);
}
