// R to core: kernel regression with one regressor.
#include <cmath>

#include "core/base/whole.hpp"
#include "core/data/passes.hpp"
#include "core/regression/fit_at_data.hpp"
#include "gpu/regression_call.hpp"
#include "rcpp_fields.hpp"
#include "rcpp_run.hpp"
#include "rcpp_util.hpp"
#include "rcpp_weights.hpp"

using namespace kestrel;

namespace {

/// Views of R's memory.
struct Observations {
  Rcpp::NumericVector x, y;
  Rcpp::RObject w;
  Rcpp::IntegerVector images;
  RegressionSample views;
};

Observations unpack_observations(const Rcpp::List& list) {
  const Fields fields(list, "a sample of a regression", {"x", "y", "w", "images"});
  const SEXP images_of = fields.optional("images");
  Observations sample{fields.get<Rcpp::NumericVector>("x"),
                      fields.get<Rcpp::NumericVector>("y"),
                      fields["w"],
                      Rf_isNull(images_of) ? Rcpp::IntegerVector() : Rcpp::IntegerVector(images_of),
                      {}};
  const auto images = static_cast<std::size_t>(sample.images.size());
  sample.views = {
      view(sample.x), view(sample.y), weights_of(sample.w), {sample.images.begin(), images}};
  return sample;
}

/// The regressions of a sample, which keep R's vectors alive.
class HeldRegression {
 public:
  HeldRegression(const Observations& data, const ParallelOptions& options)
      : data_(data), call(data_.views, options) {}

 private:
  const Observations data_;

 public:
  RegressionCall call;
};

/// The kind of fit, at one bandwidth or at several: `kernel` has the first.
struct LocalFits {
  Rcpp::NumericVector h;
  LocalKernel kernel;
};

LocalFits unpack_local_fits(const Rcpp::List& list) {
  const Fields fields(list, "a task of a regression",
                      {"h", "kernel", "regtype", "order", "bwtype", "unit"});
  const auto h = fields.get<Rcpp::NumericVector>("h");
  LocalKernel kernel{kernel_of_name(fields.get<std::string>("kernel")), h.size() > 0 ? h[0] : 1.0,
                     fields.get<std::string>("regtype") == "ll"};
  kernel.order = fields.get<int>("order");
  const auto type = fields.get<std::string>("bwtype");
  if (type != "fixed") {
    kernel.type =
        type == "adaptive_nn" ? BandwidthType::adaptive_nn : BandwidthType::generalized_nn;
    kernel.unit = fields.get<double>("unit");
  }
  return {h, kernel};
}

Rcpp::List curve_list(const CrossValidation& curve) {
  return Rcpp::List::create(
      Rcpp::Named("squares") = curve.squares,
      Rcpp::Named("unsupported") =
          Rcpp::IntegerVector(curve.unsupported.begin(), curve.unsupported.end()),
      Rcpp::Named("insample") = curve.in_sample, Rcpp::Named("trace") = curve.trace);
}

/// The kernel at the only bandwidth of the task.
LocalKernel local_kernel(const LocalFits& fits, bool gradients) {
  LocalKernel kernel = fits.kernel;
  kernel.h = Rcpp::as<double>(fits.h);
  kernel.gradient = gradients;
  return kernel;
}

RegressionCall& call_of(SEXP pointer) { return Rcpp::XPtr<HeldRegression>(pointer)->call; }

const LocalRegression& regression_of(SEXP pointer) { return call_of(pointer).sorted(); }

/// Room for R, not initialised.
Rcpp::NumericVector room_for(std::size_t n) { return Rcpp::no_init(static_cast<R_xlen_t>(n)); }

Span<double> span_of(Rcpp::NumericVector& v) { return {v.begin(), view(v).size}; }

}  // namespace

/// A sample with positive weights, for all that is asked of it: it is sorted once.
// [[Rcpp::export]]
SEXP regression_cpp(Rcpp::List sample, Rcpp::List run) {
  return Rcpp::XPtr<HeldRegression>(
      new HeldRegression(unpack_observations(sample), unpack_silent_run(run).parallel));
}

/// Chooses the place, CPU or GPU, for the curves of a search whose first is this.
// [[Rcpp::export]]
void choose_regression_place_cpp(SEXP regression, Rcpp::List task, Rcpp::List run) {
  const LocalFits fits = unpack_local_fits(task);
  const Run how = unpack_silent_run(run);
  call_of(regression).choose(how.place(), view(fits.h), fits.kernel, how);
}

/// That place: the backend and, if it is one, the device.
// [[Rcpp::export]]
Rcpp::List regression_place_cpp(SEXP regression) { return place_list(call_of(regression).use()); }

// [[Rcpp::export]]
Rcpp::List regression_cv_cpp(SEXP regression, Rcpp::List task, Rcpp::List run) {
  const LocalFits fits = unpack_local_fits(task);
  return curve_list(call_of(regression).cross_validate(view(fits.h), fits.kernel, unpack_run(run)));
}

/// The fit at the data (see FitAtData), NA where there is none, its measures, and the sums of
/// regression_cv_cpp. Standard errors are NA unless asked for; gradients (see Fits) and their
/// standard errors come if they are asked for, which takes standard errors.
// [[Rcpp::export]]
Rcpp::List regression_at_data_cpp(SEXP regression, Rcpp::List task, bool errors, bool gradients,
                                  Rcpp::List run) {
  const RegressionSample& sample = call_of(regression).sample();
  const std::size_t n = regression_of(regression).size();
  Rcpp::NumericVector mean = room_for(n), residual = room_for(n), left_out = room_for(n),
                      error2 = room_for(n), se = room_for(errors ? n : 0),
                      grad = room_for(gradients ? n : 0), gerr = room_for(gradients ? n : 0);
  const FitMeasures found = fit_at_data(
      sample, regression_of(regression), local_kernel(unpack_local_fits(task), gradients), NA_REAL,
      {span_of(mean), span_of(residual), span_of(left_out), span_of(error2), span_of(se),
       span_of(grad), span_of(gerr)},
      unpack_run(run));
  return Rcpp::List::create(
      Rcpp::Named("mean") = mean, Rcpp::Named("resid") = residual, Rcpp::Named("loo") = left_out,
      Rcpp::Named("error2") = error2,
      Rcpp::Named("se") = errors ? se : Rcpp::NumericVector(static_cast<R_xlen_t>(n), NA_REAL),
      Rcpp::Named("grad") = grad, Rcpp::Named("gerr") = gerr,
      Rcpp::Named("squares") = found.totals.squares,
      Rcpp::Named("insample") = found.totals.in_sample, Rcpp::Named("trace") = found.totals.trace,
      Rcpp::Named("unsupported") = found.totals.unsupported,
      Rcpp::Named("measures") = Rcpp::List::create(
          Rcpp::Named("R2") = found.r2, Rcpp::Named("MSE") = found.mse,
          Rcpp::Named("MAE") = found.mae, Rcpp::Named("MAPE") = found.mape,
          Rcpp::Named("CORR") = found.correlation, Rcpp::Named("SIGN") = found.sign));
}

/// Sum of w (y - y[1])^2.
// [[Rcpp::export]]
double squared_differences_cpp(Rcpp::NumericVector y, SEXP w) {
  return squared_differences(view(y), weights_of(w), polled());
}

/// mean -+ z * se.
// [[Rcpp::export]]
Rcpp::List confidence_bands_cpp(Rcpp::NumericVector mean, Rcpp::NumericVector se, double z,
                                Rcpp::List run) {
  Rcpp::NumericVector lower = room_for(view(mean).size), upper = room_for(view(mean).size);
  confidence_bands(view(mean), view(se), z, span_of(lower), span_of(upper),
                   unpack_silent_run(run).parallel);
  return Rcpp::List::create(Rcpp::Named("lower") = lower, Rcpp::Named("upper") = upper);
}

/// The fit at points and its standard error, NA without neighbour and if error2 is empty; and the
/// gradient with its standard error, which takes error2.
// [[Rcpp::export]]
Rcpp::List regression_fit_cpp(SEXP regression, Rcpp::List task, Rcpp::NumericVector points,
                              Rcpp::NumericVector error2, bool gradients, Rcpp::List run) {
  const Fits fits = regression_of(regression)
                        .fits(view(points), view(error2),
                              local_kernel(unpack_local_fits(task), gradients), unpack_run(run));
  Rcpp::NumericVector mean = room_for(fits.mean.size()), se = room_for(fits.mean.size());
  const Span<double> to_mean = span_of(mean), to_se = span_of(se);
  const bool errors = fits.variance.size() > 0;
  pass_over(to_mean.size, polled(), [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const bool there = !std::isnan(fits.mean[i]);
      to_mean[i] = there ? fits.mean[i] : NA_REAL;
      to_se[i] = there && errors ? std::sqrt(fits.variance[i]) : NA_REAL;
    }
  });
  const auto to_r = [](const std::vector<double>& from, bool root) {
    Rcpp::NumericVector to = room_for(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      to[static_cast<R_xlen_t>(i)] = std::isnan(from[i]) ? NA_REAL
                                     : root              ? std::sqrt(from[i])
                                                         : from[i];
    }
    return to;
  };
  return Rcpp::List::create(Rcpp::Named("mean") = mean, Rcpp::Named("se") = se,
                            Rcpp::Named("grad") = to_r(fits.gradient, false),
                            Rcpp::Named("gerr") = to_r(fits.gradient_variance, true));
}

// [[Rcpp::export]]
double regression_support_cpp(SEXP regression, std::string kernel) {
  return regression_of(regression).min_supporting_bandwidth(kernel_of_name(kernel));
}

/// The interquartile range of x, and the median of the distances to the median.
// [[Rcpp::export]]
Rcpp::NumericVector regression_spread_cpp(SEXP regression) {
  const Spread spread = regression_of(regression).spread(polled());
  return Rcpp::NumericVector::create(spread.deviation, spread.interquartile,
                                     spread.median_deviation);
}

/// The largest number of neighbours up to `limit` that every observation has.
// [[Rcpp::export]]
double regression_neighbours_cpp(SEXP regression, double limit, Rcpp::List run) {
  return static_cast<double>(
      regression_of(regression)
          .most_neighbours(whole_number<std::size_t>(limit), unpack_silent_run(run).parallel));
}

/// The number of the observation, from one on.
// [[Rcpp::export]]
double regression_isolated_cpp(SEXP regression) {
  return static_cast<double>(regression_of(regression).most_isolated()) + 1;
}

/// Distances of observations in (lower, upper], of all or of the nearest (see PairsOf); NULL if
/// they are too many.
// [[Rcpp::export]]
SEXP regression_distances_cpp(SEXP regression, double lower, double upper, bool nearest) {
  const auto found =
      regression_of(regression).distances(lower, upper, nearest ? PairsOf::nearest : PairsOf::all);
  return found ? Rcpp::wrap(*found) : R_NilValue;
}
