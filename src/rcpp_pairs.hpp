// Sums over pairs between R and C++, for any engine or backend.
#ifndef KESTREL_RCPP_PAIRS_HPP
#define KESTREL_RCPP_PAIRS_HPP

#include <algorithm>
#include <string>
#include <vector>

#include "core/data/pair_curve.hpp"
#include "core/direct/lscv.hpp"
#include "core/direct/pairs.hpp"
#include "rcpp_fields.hpp"
#include "rcpp_run.hpp"
#include "rcpp_sample.hpp"
#include "rcpp_util.hpp"

namespace kestrel {

/// Sums of kernels with the bandwidth matrix of that root, and of K * K.
struct MatrixSums {
  Rcpp::NumericMatrix root;
  bool moments;  // for a gradient
};

inline MatrixSums unpack_matrix_sums(const Rcpp::List& list) {
  const Fields fields(list, "a task of a bandwidth matrix", {"root", "moments"});
  return {fields.get<Rcpp::NumericMatrix>("root"), fields.get<bool>("moments")};
}

/// The same at multiples h of a root.
struct CurveSums {
  Rcpp::NumericMatrix root;
  Rcpp::NumericVector h;
};

inline CurveSums unpack_curve_sums(const Rcpp::List& list) {
  const Fields fields(list, "a task of a curve", {"root", "h"});
  return {fields.get<Rcpp::NumericMatrix>("root"), fields.get<Rcpp::NumericVector>("h")};
}

/// Derivatives of the Gaussian kernel of one order, with the bandwidths g.
struct DerivativeSums {
  Rcpp::NumericVector g;
  int order;
  std::string engine;

  /// The bandwidth of sums that have a single one.
  double bandwidth() const { return Rcpp::as<double>(g); }
};

inline DerivativeSums unpack_derivative_sums(const Rcpp::List& list) {
  const Fields fields(list, "a task of derivatives", {"g", "order", "engine"});
  return {fields.get<Rcpp::NumericVector>("g"), fields.get<int>("order"),
          fields.get<std::string>("engine")};
}

/// NULL if moments were not asked for.
inline SEXP moment_matrix(const GaussianPairSums& sums, std::size_t cols) {
  const int d = static_cast<int>(cols);
  if (sums.moments.empty()) return R_NilValue;
  return Rcpp::NumericMatrix(d, d, sums.moments.begin());
}

inline Rcpp::List lscv_list(const LscvPairSums& sums, std::size_t d) {
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
inline Rcpp::NumericVector named_moments(const std::vector<double>& sums, std::size_t d,
                                         int order) {
  const auto indices = even_multi_indices(d, order);
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
