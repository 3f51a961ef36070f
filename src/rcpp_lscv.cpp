// R to core: cross-validation with a bandwidth matrix by the direct engine.
#include "core/direct_lscv.hpp"
#include "rcpp_util.hpp"

using namespace kestrel;

namespace {

/// NULL where moments were not asked for.
SEXP moment_matrix(const GaussianPairSums& sums, int d) {
  if (sums.moments.empty()) return R_NilValue;
  return Rcpp::NumericMatrix(d, d, sums.moments.begin());
}

}  // namespace

// [[Rcpp::export]]
Rcpp::List direct_lscv_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, Rcpp::NumericMatrix root,
                           bool moments, int threads, std::string isa,
                           Rcpp::Nullable<Rcpp::Function> progress) {
  const LscvPairSums sums =
      direct_lscv(view(x), view(w), entries(root), moments, options(threads, isa, progress));
  return Rcpp::List::create(
      Rcpp::Named("convolution") = sums.convolution.sum, Rcpp::Named("kernel") = sums.kernel.sum,
      Rcpp::Named("convolution_moments") = moment_matrix(sums.convolution, x.ncol()),
      Rcpp::Named("kernel_moments") = moment_matrix(sums.kernel, x.ncol()));
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
  Rcpp::NumericMatrix out(static_cast<int>(h.size()), 2);
  std::copy(curve.convolution.begin(), curve.convolution.end(), out.column(0).begin());
  std::copy(curve.kernel.begin(), curve.kernel.end(), out.column(1).begin());
  return out;
}
