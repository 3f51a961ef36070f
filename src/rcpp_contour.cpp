// R to core: the density at the data, for contour levels.
#include <vector>

#include "core/base/whole.hpp"
#include "core/contour/interpolation.hpp"
#include "rcpp_run.hpp"
#include "rcpp_util.hpp"

using namespace kestrel;

/// The values of a grid at points (rows, or numbers on the line), NaN outside of it, and the rows
/// of the points there.
// [[Rcpp::export]]
Rcpp::List interpolate_cpp(Rcpp::List axes, Rcpp::NumericVector values, SEXP points,
                           Rcpp::List run) {
  std::vector<Rcpp::NumericVector> kept;
  std::vector<Span<const double>> spans;
  for (const SEXP axis : axes) {
    kept.emplace_back(axis);
    spans.push_back(view(kept.back()));
  }
  const HeldDoubles held(points);
  const MatrixView at = held.columns();
  Rcpp::NumericVector value = Rcpp::no_init(whole_number<R_xlen_t>(at.rows));
  std::vector<int> beyond;
  for (const std::size_t row : interpolate(spans, view(values), at, {value.begin(), at.rows},
                                           unpack_silent_run(run).parallel)) {
    beyond.push_back(static_cast<int>(row) + 1);
  }
  return Rcpp::List::create(Rcpp::Named("value") = value, Rcpp::Named("beyond") = beyond);
}
