// R to core: sums over pairs of samples, for the bandwidth selectors.
#include "core/direct/pairs.hpp"
#include "core/fgt/pairs.hpp"
#include "core/plan/plan.hpp"
#include "core/sweep/density.hpp"
#include "rcpp_pairs.hpp"

using namespace kestrel;

namespace {

/// Sums of a kernel on the line, and of K * K, at bandwidths h.
struct LineCurve {
  Rcpp::NumericVector h;
  Kernel kernel;
  std::string engine;
};

LineCurve unpack_line_curve(const Rcpp::List& list) {
  const Fields fields(list, "a task of a curve on the line", {"h", "kernel", "engine"});
  return {fields.get<Rcpp::NumericVector>("h"), kernel_of_name(fields.get<std::string>("kernel")),
          fields.get<std::string>("engine")};
}

PairCurve direct_curve(const Sample& sample, Span<const double> h, const RunOptions& how) {
  PairCurve curve;
  for (const double bandwidth : h) {
    const double wide = std::sqrt(2.0) * bandwidth;
    curve.convolution.push_back(direct_pair_sum(sample.x(), sample.w(), {}, {&wide, 1}, how));
    curve.kernel.push_back(direct_pair_sum(sample.x(), sample.w(), {}, {&bandwidth, 1}, how));
  }
  return curve;
}

PairCurve pair_curve(const Sample& sample, const LineCurve& task, const RunOptions& how) {
  const Span<const double> x = sample.x().column(0), h = view(task.h);
  if (task.engine == "sweep") return sweep_pair_curve(x, sample.w(), h, task.kernel, how);
  if (task.kernel != Kernel::gaussian) {
    throw error(ErrorKind::input, "engine \"" + task.engine + "\" takes the Gaussian kernel");
  }
  if (task.engine == "fgt") return fgt_pair_curve(line_sample(sample, how), h, how);
  return direct_curve(sample, h, how);
}

}  // namespace

// [[Rcpp::export]]
Rcpp::NumericMatrix pair_curve_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  return curve_matrix(pair_curve(sample_of(sample), unpack_line_curve(task), unpack_run(run)));
}

/// By the engine "fgt" on the line, by "direct" in any dimension.
// [[Rcpp::export]]
Rcpp::NumericVector pair_laplacian_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  const Sample& data = sample_of(sample);
  const DerivativeSums sums = unpack_derivative_sums(task);
  const Run how = unpack_run(run);
  if (sums.engine == "fgt") {
    return Rcpp::wrap(fgt_pair_psi(line_sample(data, how), view(sums.g), sums.order, how));
  }
  Rcpp::NumericVector out(sums.g.size());
  for (R_xlen_t k = 0; k < sums.g.size(); ++k) {
    out[k] = direct_pair_laplacian(data.x(), data.w(), sums.g[k], sums.order, how);
  }
  return out;
}

// [[Rcpp::export]]
std::string plan_pairs_cpp(SEXP sample, double g, Rcpp::List run) {
  const Sample& data = sample_of(sample);
  const std::vector<double>& range = data.ranges(unpack_silent_run(run).parallel);
  return plan_pairs(static_cast<double>(data.n()), (range[1] - range[0]) / g,
                    unpack_run(run).table->lanes);
}

// [[Rcpp::export]]
Rcpp::NumericVector pair_moments_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  const Sample& data = sample_of(sample);
  const DerivativeSums sums = unpack_derivative_sums(task);
  return named_moments(
      direct_pair_moments(data.x(), data.w(), sums.bandwidth(), sums.order, unpack_run(run)),
      data.d(), sums.order);
}
