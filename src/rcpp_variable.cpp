// R to core: densities with a bandwidth for each observation.
#include "core/direct/variable.hpp"
#include "core/direct/variable_points.hpp"
#include "rcpp_run.hpp"
#include "rcpp_sample.hpp"
#include "rcpp_util.hpp"

using namespace kestrel;

/// The sums of kernels on a grid, not divided by n.
// [[Rcpp::export]]
Rcpp::NumericVector variable_grid_cpp(SEXP sample, Rcpp::NumericVector h, Rcpp::List axes,
                                      Rcpp::List run) {
  const Sample& of = sample_of(sample);
  const KeptAxes at(axes);
  std::size_t size = 1;
  for (const Span<const double>& axis : at.views) size *= axis.size;
  Rcpp::NumericVector out = uninitialised(size);
  translate_errors([&] {
    variable_grid(of.x(), of.w(), view(h), at.views, unpack_run(run), {out.begin(), size});
    return 0;
  });
  return out;
}

/// The same of a compact kernel at the rows of `points`, with a bandwidth for each row or for each
/// observation.
// [[Rcpp::export]]
Rcpp::NumericVector variable_points_cpp(SEXP sample, Rcpp::NumericVector h, bool by_point,
                                        std::string kernel, Rcpp::NumericMatrix points,
                                        Rcpp::List run) {
  const Sample& of = sample_of(sample);
  Rcpp::NumericVector out = uninitialised(static_cast<std::size_t>(points.nrow()));
  translate_errors([&] {
    variable_points(of.x(), of.w(), view(h), by_point, choice(kernel, "radial").kernel,
                    view(points), unpack_run(run).parallel,
                    {out.begin(), static_cast<std::size_t>(out.size())});
    return 0;
  });
  return out;
}
