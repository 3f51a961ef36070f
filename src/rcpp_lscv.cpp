// R to core: cross-validation with a bandwidth matrix by the direct engine.
#include "core/direct/lscv.hpp"
#include "rcpp_pairs.hpp"

using namespace kestrel;

// [[Rcpp::export]]
Rcpp::List direct_lscv_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  const Sample& data = sample_of(sample);
  const MatrixSums sums = unpack_matrix_sums(task);
  return lscv_list(
      direct_lscv(data.x(), data.w(), entries(sums.root), sums.moments, unpack_run(run)), data.d());
}

/// Always with the moments.
// [[Rcpp::export]]
Rcpp::List direct_gaussian_moments_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  const Sample& data = sample_of(sample);
  const GaussianPairSums sums = direct_gaussian_moments(
      data.x(), data.w(), entries(unpack_matrix_sums(task).root), unpack_run(run));
  return Rcpp::List::create(Rcpp::Named("sum") = sums.sum,
                            Rcpp::Named("moments") = moment_matrix(sums, data.d()));
}

// [[Rcpp::export]]
Rcpp::NumericMatrix direct_lscv_curve_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  const Sample& data = sample_of(sample);
  const CurveSums sums = unpack_curve_sums(task);
  return curve_matrix(
      direct_lscv_curve(data.x(), data.w(), entries(sums.root), view(sums.h), unpack_run(run)));
}
