// Sums over pairs, from whatever engine or backend, to R.
#ifndef KESTREL_RCPP_PAIRS_HPP
#define KESTREL_RCPP_PAIRS_HPP

#include <algorithm>
#include <string>
#include <vector>

#include "core/data/pair_curve.hpp"
#include "core/direct/lscv.hpp"
#include "core/direct/pairs.hpp"
#include "rcpp_util.hpp"

namespace kestrel {

/// NULL where moments were not asked for.
inline SEXP moment_matrix(const GaussianPairSums& sums, int d) {
  if (sums.moments.empty()) return R_NilValue;
  return Rcpp::NumericMatrix(d, d, sums.moments.begin());
}

inline Rcpp::List lscv_list(const LscvPairSums& sums, int d) {
  return Rcpp::List::create(Rcpp::Named("convolution") = sums.convolution.sum,
                            Rcpp::Named("kernel") = sums.kernel.sum,
                            Rcpp::Named("convolution_moments") = moment_matrix(sums.convolution, d),
                            Rcpp::Named("kernel_moments") = moment_matrix(sums.kernel, d));
}

/// A row for each bandwidth: the sums of K*K and of K.
inline Rcpp::NumericMatrix curve_matrix(const PairCurve& curve) {
  Rcpp::NumericMatrix out(static_cast<int>(curve.kernel.size()), 2);
  std::copy(curve.convolution.begin(), curve.convolution.end(), out.column(0).begin());
  std::copy(curve.kernel.begin(), curve.kernel.end(), out.column(1).begin());
  return out;
}

/// Sums in the order of even_multi_indices(d, order), named by their exponents.
inline Rcpp::NumericVector named_moments(const std::vector<double>& sums, int d, int order) {
  const auto indices = even_multi_indices(static_cast<std::size_t>(d), order);
  Rcpp::NumericVector out(sums.begin(), sums.end());
  Rcpp::CharacterVector names(out.size());
  for (std::size_t t = 0; t < indices.size(); ++t) {
    std::string name;
    for (std::size_t k = 0; k < indices[t].size(); ++k) {
      name += (k > 0 ? "," : "") + std::to_string(indices[t][k]);
    }
    names[static_cast<R_xlen_t>(t)] = name;
  }
  out.names() = names;
  return out;
}

}  // namespace kestrel

#endif
