// A sample as R passes it: a list of the data and their weights.
#ifndef KESTREL_RCPP_SAMPLE_HPP
#define KESTREL_RCPP_SAMPLE_HPP

#include <Rcpp.h>

#include <memory>

#include "rcpp_fields.hpp"
#include "rcpp_run.hpp"
#include "rcpp_util.hpp"
#include "rcpp_weights.hpp"

namespace kestrel {

/// Views of R's memory: n rows of d variables (a vector is one column), and n weights.
struct Sample {
  Rcpp::NumericVector values;
  Rcpp::RObject weights;
  MatrixView x;
  Weights w;
};

/// A list with `x` and `w`; it may have the other fields that selector_sample() of R/bandwidth.R
/// returns.
inline Sample unpack_sample(const Rcpp::List& list) {
  const Fields fields(list, "a sample", {"x", "w", "n", "cov", "names", "centred"});
  Sample sample;
  sample.values = fields.get<Rcpp::NumericVector>("x");
  sample.weights = fields["w"];
  sample.x = columns_of(sample.values);
  sample.w = weights_of(sample.weights);
  return sample;
}

/// The sample, one column, with the cells that the call shares, if these are of the same memory.
inline std::shared_ptr<const LineSample> line_sample(const Sample& sample, const Run& run) {
  const Span<const double> x = sample.x.column(0);
  if (run.line != nullptr && run.line->is_of(x, sample.w)) return {run.line, [](const void*) {}};
  return std::make_shared<const LineSample>(x, sample.w, run.parallel);
}

}  // namespace kestrel

#endif
