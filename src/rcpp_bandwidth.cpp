// R to core: sums over pairs of samples, for the bandwidth selectors.
#include "core/direct/pairs.hpp"
#include "core/fgt/pairs.hpp"
#include "core/plan/plan.hpp"
#include "core/sweep/density.hpp"
#include "rcpp_pairs.hpp"
#include "rcpp_util.hpp"

using namespace kestrel;

namespace {

/// A vector as the only column of a matrix.
MatrixView column(const Rcpp::NumericVector& x) {
  return {x.begin(), static_cast<std::size_t>(x.size()), 1};
}

PairCurve direct_curve(const Rcpp::NumericVector& x, const Rcpp::NumericVector& w,
                       const Rcpp::NumericVector& h, const RunOptions& how) {
  PairCurve curve;
  for (const double bandwidth : h) {
    const double wide = std::sqrt(2.0) * bandwidth;
    curve.convolution.push_back(direct_pair_sum(column(x), view(w), {}, {&wide, 1}, how));
    curve.kernel.push_back(direct_pair_sum(column(x), view(w), {}, {&bandwidth, 1}, how));
  }
  return curve;
}

}  // namespace

// [[Rcpp::export]]
Rcpp::NumericMatrix pair_curve_cpp(Rcpp::NumericVector x, Rcpp::NumericVector w,
                                   Rcpp::NumericVector h, std::string kernel, std::string engine,
                                   int threads, std::string isa,
                                   Rcpp::Nullable<Rcpp::Function> progress) {
  const Kernel which = kernel_of_name(kernel);
  if (engine != "sweep" && which != Kernel::gaussian) {
    throw error(ErrorKind::input, "engine \"" + engine + "\" takes the Gaussian kernel");
  }
  const RunOptions how = options(threads, isa, progress);
  PairCurve curve;
  if (engine == "sweep") {
    curve = sweep_pair_curve(view(x), view(w), view(h), which, how);
  } else if (engine == "fgt") {
    curve = fgt_pair_curve(view(x), view(w), view(h), how);
  } else {
    curve = direct_curve(x, w, h, how);
  }
  return curve_matrix(curve);
}

// [[Rcpp::export]]
Rcpp::NumericVector pair_psi_cpp(Rcpp::NumericVector x, Rcpp::NumericVector w,
                                 Rcpp::NumericVector g, int r, std::string engine, int threads,
                                 std::string isa, Rcpp::Nullable<Rcpp::Function> progress) {
  const RunOptions how = options(threads, isa, progress);
  if (engine == "fgt") return Rcpp::wrap(fgt_pair_psi(view(x), view(w), view(g), r, how));
  Rcpp::NumericVector out(g.size());
  for (R_xlen_t k = 0; k < g.size(); ++k) {
    out[k] = direct_pair_laplacian(column(x), view(w), g[k], r, how);
  }
  return out;
}

// [[Rcpp::export]]
std::string plan_pairs_cpp(double n, double spread, std::string isa) {
  return plan_pairs(n, spread, table_of(isa).lanes);
}

/// For tests of the direct engine: selectors sum no kernel alone.
// [[Rcpp::export]]
double pair_sum_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, Rcpp::NumericMatrix root,
                    std::string kernel, bool product, int threads, std::string isa,
                    Rcpp::Nullable<Rcpp::Function> progress) {
  return direct_pair_sum(view(x), view(w), choice(kernel, product), entries(root),
                         options(threads, isa, progress));
}

// [[Rcpp::export]]
double pair_laplacian_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, double g, int order,
                          int threads, std::string isa, Rcpp::Nullable<Rcpp::Function> progress) {
  return direct_pair_laplacian(view(x), view(w), g, order, options(threads, isa, progress));
}

// [[Rcpp::export]]
Rcpp::NumericVector pair_moments_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, double g,
                                     int order, int threads, std::string isa,
                                     Rcpp::Nullable<Rcpp::Function> progress) {
  return named_moments(
      direct_pair_moments(view(x), view(w), g, order, options(threads, isa, progress)), x.ncol(),
      order);
}
