// A sample between R and C++: R holds one pointer to it for the length of a call.
#ifndef KESTREL_RCPP_SAMPLE_HPP
#define KESTREL_RCPP_SAMPLE_HPP

#include <Rcpp.h>

#include "core/data/sample.hpp"
#include "core/data/sample_moments.hpp"
#include "rcpp_util.hpp"
#include "rcpp_weights.hpp"

namespace kestrel {

/// A sample that R holds a pointer to.
class HeldSample {
 public:
  virtual ~HeldSample() = default;
  virtual const Sample& sample() const = 0;
};

/// One that keeps R's vectors alive, which have its memory.
class HeldVectors : public HeldSample {
 public:
  /// x: a matrix, or a vector, which is one column.
  HeldVectors(SEXP x, SEXP w) : x_(x), w_(w), sample_(x_.columns(), weights_of(w)) {}

  const Sample& sample() const override { return sample_; }

 private:
  const HeldDoubles x_;
  const Rcpp::RObject w_;
  const Sample sample_;
};

/// The sample of a pointer that sample_cpp() or sketch_sample_cpp() made.
inline const Sample& sample_of(SEXP pointer) { return Rcpp::XPtr<HeldSample>(pointer)->sample(); }

/// A mean is a matrix of two rows, the parts, and a column for each variable.
inline SampleMean unpack_mean(const Rcpp::NumericMatrix& parts) {
  SampleMean mean;
  for (int k = 0; k < parts.ncol(); ++k) {
    mean.first.push_back(parts(0, k));
    mean.second.push_back(parts(1, k));
  }
  return mean;
}

}  // namespace kestrel

#endif
