// R to core: densities with a bandwidth for each observation.
#include "core/direct/variable.hpp"
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
