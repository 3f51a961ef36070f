// Regression samples and cross-validation curves between R and C++, for any backend.
#ifndef KESTREL_RCPP_REGRESSION_HPP
#define KESTREL_RCPP_REGRESSION_HPP

#include <memory>

#include "core/regression/regression.hpp"
#include "rcpp_fields.hpp"
#include "rcpp_run.hpp"
#include "rcpp_util.hpp"
#include "rcpp_weights.hpp"

namespace kestrel {

/// Views of R's memory.
struct Observations {
  Rcpp::NumericVector x, y;
  Rcpp::RObject w;
  RegressionSample views;
};

inline Observations unpack_observations(const Rcpp::List& list) {
  const Fields fields(list, "a sample of a regression", {"x", "y", "w"});
  Observations sample{
      fields.get<Rcpp::NumericVector>("x"), fields.get<Rcpp::NumericVector>("y"), fields["w"], {}};
  sample.views = {view(sample.x), view(sample.y), weights_of(sample.w)};
  return sample;
}

/// A regression sample that keeps R's vectors alive and is sorted when it is first asked for: a GPU
/// sorts by itself.
class HeldRegression {
 public:
  HeldRegression(const Observations& data, const ParallelOptions& options)
      : data_(data), options_(options) {}

  const RegressionSample& sample() const { return data_.views; }
  const LocalRegression& sorted() {
    if (sorted_ == nullptr) sorted_ = std::make_unique<LocalRegression>(data_.views, options_);
    return *sorted_;
  }

 private:
  const Observations data_;
  const ParallelOptions options_;
  std::unique_ptr<const LocalRegression> sorted_;
};

/// The kind of fit, at one bandwidth or at several.
struct LocalFits {
  Rcpp::NumericVector h;
  Kernel kernel;
  bool local_linear;
};

inline LocalFits unpack_local_fits(const Rcpp::List& list) {
  const Fields fields(list, "a task of a regression", {"h", "kernel", "regtype"});
  return {fields.get<Rcpp::NumericVector>("h"), kernel_of_name(fields.get<std::string>("kernel")),
          fields.get<std::string>("regtype") == "ll"};
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
