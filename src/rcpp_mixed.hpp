// R to core: samples, kernels and results of mixed data.
#ifndef KESTREL_RCPP_MIXED_HPP
#define KESTREL_RCPP_MIXED_HPP

#include <Rcpp.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/mixed/mixed_sample.hpp"
#include "gpu/mixed_call.hpp"
#include "rcpp_fields.hpp"
#include "rcpp_run.hpp"
#include "rcpp_util.hpp"

namespace kestrel {

/// R's memory of the rows of a sample, or of points.
struct MixedRRows {
  Rcpp::NumericMatrix x, ordered;
  Rcpp::IntegerMatrix factor;
  MixedRows views;
};

inline MatrixView mixed_matrix(const Rcpp::NumericMatrix& m) {
  return {m.begin(), static_cast<std::size_t>(m.nrow()), static_cast<std::size_t>(m.ncol())};
}

inline MixedRRows unpack_rows(const Fields& fields) {
  MixedRRows rows{fields.get<Rcpp::NumericMatrix>("x"),
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

inline MixedKernel unpack_kernel(const Fields& fields) {
  MixedKernel kernel;
  kernel.h = fields.get<std::vector<double>>("h");
  kernel.lambda = fields.get<std::vector<double>>("lambda");
  kernel.continuous = kernel_of_name(fields.get<std::string>("ckertype"));
  kernel.order = fields.get<int>("ckerorder");
  if (fields.get<std::string>("ukertype") == "liracine") kernel.factor = FactorKernel::li_racine;
  const std::string ordered = fields.get<std::string>("okertype");
  if (ordered == "wangvanryzin") kernel.ordered = OrderedKernel::wang_van_ryzin;
  if (ordered == "racineliyan") kernel.ordered = OrderedKernel::racine_li_yan;
  return kernel;
}

/// The kernel of a regression, and its criterion.
inline MixedKernel unpack_regression(const Rcpp::List& list, MixedMethod* method = nullptr) {
  const Fields fields(list, "a task of mixed data",
                      {"h", "lambda", "ckertype", "ckerorder", "ukertype", "okertype", "regtype",
                       "method", "bwtype"});
  MixedKernel kernel = unpack_kernel(fields);
  const std::string type = fields.get<std::string>("bwtype");
  if (type == "generalized_nn") kernel.type = BandwidthType::generalized_nn;
  if (type == "adaptive_nn") kernel.type = BandwidthType::adaptive_nn;
  kernel.local_linear = fields.get<std::string>("regtype") == "ll";
  const bool aic = fields.get<std::string>("method") == "cv.aic";
  if (method != nullptr) *method = aic ? MixedMethod::aic : MixedMethod::least_squares;
  return kernel;
}

/// Points of R, or the data for NULL.
class MixedRPoints {
 public:
  MixedRPoints(SEXP points, const MixedSample& data, const ParallelOptions& options) : data_(data) {
    if (Rf_isNull(points)) return;
    const Fields fields(points, "points of mixed data", {"x", "unordered", "ordered"});
    points_ = std::make_unique<MixedSample>(unpack_rows(fields).views,
                                            std::vector<int>(data.factors() + data.ordered(), 1),
                                            Span<const double>(), Weights(), options);
  }
  bool are_data() const { return points_ == nullptr; }
  /// Null for the data.
  const MixedSample* given() const { return points_.get(); }
  const MixedSample& all() const { return are_data() ? data_ : *points_; }

 private:
  const MixedSample& data_;
  std::unique_ptr<MixedSample> points_;
};

inline Rcpp::List criterion_list(const MixedCriterion& found) {
  return Rcpp::List::create(Rcpp::Named("value") = found.value,
                            Rcpp::Named("gradient") = found.gradient,
                            Rcpp::Named("unsupported") = static_cast<double>(found.unsupported),
                            Rcpp::Named("ridged") = static_cast<double>(found.ridged));
}

inline MixedCall& mixed_call_of(SEXP pointer) { return *Rcpp::XPtr<MixedCall>(pointer); }

inline const MixedSample& mixed_sample_of(SEXP pointer) { return mixed_call_of(pointer).sample(); }

inline Rcpp::NumericVector to_r(const std::vector<double>& from, bool root) {
  Rcpp::NumericVector to(static_cast<R_xlen_t>(from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[static_cast<R_xlen_t>(i)] = std::isnan(from[i]) ? NA_REAL
                                   : root              ? std::sqrt(from[i])
                                                       : from[i];
  }
  return to;
}

/// Values point by point as a matrix with a row for each point.
inline Rcpp::NumericMatrix by_point(const std::vector<double>& from, std::size_t columns,
                                    bool root) {
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

}  // namespace kestrel

#endif
