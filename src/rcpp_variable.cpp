// R to core: densities with a bandwidth for each observation.
#include "core/direct/variable.hpp"
#include "gpu/variable_call.hpp"
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

/// The same of a compact kernel, with a bandwidth for each point or for each observation, on a
/// grid, or at the rows of `points` if there are no axes.
// [[Rcpp::export]]
Rcpp::NumericVector variable_compact_cpp(SEXP sample, Rcpp::NumericVector h, bool by_point,
                                         std::string kernel, Rcpp::NumericMatrix points,
                                         Rcpp::List axes, Rcpp::List run) {
  const Sample& of = sample_of(sample);
  const KeptAxes kept(axes);
  const EvaluationPoints at{view(points), kept.views};
  Rcpp::NumericVector out = uninitialised(at.size());
  translate_errors([&] {
    const Run how = unpack_run(run);
    const VariableTask task{of.x(), of.w(), view(h), by_point, choice(kernel, "radial").kernel, at};
    GpuUse use = how.place();
    compute_variable(task, how.engine, how.single, use, how.parallel,
                     {out.begin(), static_cast<std::size_t>(out.size())});
    return 0;
  });
  return out;
}
