// R to core: kernel regression of sketches.
#include <utility>

#include "core/sketch/sketch_regression.hpp"
#include "rcpp_run.hpp"
#include "rcpp_sketch.hpp"
#include "rcpp_util.hpp"

using namespace kestrel;

namespace {

/// The regressions of a sketch, which it keeps.
struct HeldRegressionSketch {
  HeldRegressionSketch(LineSketch of, const Run& run) : sketch(std::move(of)), made(sketch, run) {}

  const LineSketch sketch;
  const SketchRegression made;
};

}  // namespace

/// The regressions of a sketch that has full cells.
// [[Rcpp::export(rng = false)]]
SEXP sketch_regression_cpp(Rcpp::RawVector bytes, Rcpp::List run) {
  return Rcpp::XPtr<HeldRegressionSketch>(
      new HeldRegressionSketch(read_line(bytes), unpack_silent_run(run)));
}

// [[Rcpp::export(rng = false)]]
double sketch_regression_least_cpp(SEXP regression) {
  return Rcpp::XPtr<HeldRegressionSketch>(regression)->made.least_bandwidth();
}

/// As regression_cv_cpp(), NaN where the cells do not serve a bandwidth.
// [[Rcpp::export(rng = false)]]
Rcpp::List sketch_regression_cv_cpp(SEXP regression, Rcpp::NumericVector h, bool local_linear,
                                    Rcpp::List run) {
  const CrossValidation curve =
      Rcpp::XPtr<HeldRegressionSketch>(regression)
          ->made.cross_validate(view(h), {Kernel::gaussian, 1, local_linear}, unpack_run(run));
  return Rcpp::List::create(Rcpp::Named("squares") = curve.squares,
                            Rcpp::Named("insample") = curve.in_sample,
                            Rcpp::Named("trace") = curve.trace);
}

/// The fit at points, NaN where there is none.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector sketch_regression_fit_cpp(SEXP regression, double h, bool local_linear,
                                              Rcpp::NumericVector points, Rcpp::List run) {
  return Rcpp::wrap(
      Rcpp::XPtr<HeldRegressionSketch>(regression)
          ->made.fits(view(points), {Kernel::gaussian, h, local_linear}, unpack_run(run)));
}
