// R to core: sums of beta kernels on the unit cube.
#include "core/beta/beta_sums.hpp"
#include "rcpp_run.hpp"
#include "rcpp_util.hpp"
#include "rcpp_weights.hpp"

using namespace kestrel;

/// The number of cells of each variable that have samples.
// [[Rcpp::export]]
Rcpp::NumericVector beta_cells_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector b) {
  const std::vector<std::size_t> counts = count_beta_cells(view(x), view(b), polled());
  return Rcpp::NumericVector(counts.begin(), counts.end());
}

/// The distances of the nodes of the cells of one variable from the nearer end.
// [[Rcpp::export]]
Rcpp::NumericVector beta_nodes_cpp(Rcpp::NumericVector x, double b) {
  return Rcpp::wrap(BetaCells(view(x), b, polled()).nodes());
}

/// At each x a function that is smooth on these cells, from its values at their nodes.
// [[Rcpp::export]]
Rcpp::NumericVector beta_interpolated_cpp(Rcpp::NumericVector x, double b,
                                          Rcpp::NumericVector values) {
  const BetaCells cells(view(x), b, polled());
  Rcpp::NumericVector out = uninitialised(static_cast<std::size_t>(x.size()));
  serial_for(static_cast<std::size_t>(x.size()), polled(), [&](std::size_t i) {
    const R_xlen_t at = static_cast<R_xlen_t>(i);
    out[at] = cells.interpolated(x[at], view(values));
  });
  return out;
}

/// The weights of the nodes of panels that stand for samples x with weights w.
// [[Rcpp::export]]
Rcpp::NumericVector moved_to_panels_cpp(Rcpp::NumericVector breaks, Rcpp::NumericVector x,
                                        Rcpp::NumericVector w) {
  Rcpp::NumericVector out = uninitialised(kBetaNodes * static_cast<std::size_t>(breaks.size() - 1));
  move_to_panels(view(breaks), view(x), view(w), polled(),
                 {out.begin(), static_cast<std::size_t>(out.size())});
  return out;
}

/// The sums at the rows of `points`, or if `axes` has any, on a grid, as a vector.
// [[Rcpp::export]]
Rcpp::NumericVector beta_sums_cpp(Rcpp::NumericMatrix x, SEXP w, Rcpp::NumericVector b,
                                  Rcpp::NumericMatrix points, Rcpp::List axes, Rcpp::List run) {
  const Run how = unpack_run(run);
  const BetaSums sums(view(x), weights_of(w), view(b), part_of(how.parallel, 0, 0.5));
  const ParallelOptions rest = part_of(how.parallel, 0.5, 1);
  if (axes.size() == 0) {
    Rcpp::NumericVector out = uninitialised(static_cast<std::size_t>(points.nrow()));
    sums.at_points(view(points), rest, {out.begin(), static_cast<std::size_t>(out.size())});
    return out;
  }
  const KeptAxes at(axes);
  std::size_t size = 1;
  for (const Span<const double>& axis : at.views) size *= axis.size;
  Rcpp::NumericVector out = uninitialised(size);
  sums.on_grid(at.views, rest, {out.begin(), size});
  return out;
}
