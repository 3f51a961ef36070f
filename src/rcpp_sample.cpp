// R to core: properties of a sample: moments, ties, order, quantiles, and rows drawn from it.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/parallel_sort.hpp"
#include "core/base/whole.hpp"
#include "core/data/finite.hpp"
#include "core/data/order.hpp"
#include "core/data/quantiles.hpp"
#include "core/data/row_draws.hpp"
#include "core/data/sample_moments.hpp"
#include "core/data/ties.hpp"
#include "core/data/weights.hpp"
#include "rcpp_run.hpp"
#include "rcpp_util.hpp"
#include "rcpp_weights.hpp"

using namespace kestrel;

namespace {

ParallelOptions polled() { return {0, r_poll(R_NilValue)}; }

}  // namespace

// [[Rcpp::export]]
Rcpp::List weight_sums_cpp(SEXP w) {
  const WeightSums sums = weight_sums(weights_of(w), polled());
  return Rcpp::List::create(Rcpp::Named("sum") = sums.sum, Rcpp::Named("squares") = sums.squares,
                            Rcpp::Named("max") = sums.max,
                            Rcpp::Named("positive") = static_cast<double>(sums.positive));
}

/// Minimum and maximum of each column, a column of the result. An array that is not a matrix counts
/// as one column.
// [[Rcpp::export]]
Rcpp::NumericMatrix ranges_cpp(Rcpp::NumericVector x) {
  const MatrixView columns = columns_of(x);
  const std::vector<double> ranges = column_ranges(columns, polled());
  return Rcpp::NumericMatrix(2, static_cast<int>(columns.cols), ranges.begin());
}

/// Each column of x divided by its unit, a matrix.
// [[Rcpp::export]]
Rcpp::NumericMatrix divided_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector unit) {
  Rcpp::NumericMatrix out = Rcpp::no_init(x.nrow(), x.ncol());
  divide_columns(view(x), view(unit), {out.begin(), static_cast<std::size_t>(out.size())},
                 polled());
  return out;
}

/// x %*% t(a).
// [[Rcpp::export]]
Rcpp::NumericMatrix transformed_cpp(Rcpp::NumericMatrix x, Rcpp::NumericMatrix a) {
  Rcpp::NumericMatrix out = Rcpp::no_init(x.nrow(), x.ncol());
  transform_rows(view(x), {a.begin(), static_cast<std::size_t>(a.size())},
                 {out.begin(), static_cast<std::size_t>(out.size())}, polled());
  return out;
}

// [[Rcpp::export]]
Rcpp::List sample_covariance_cpp(Rcpp::NumericMatrix x, SEXP w) {
  Rcpp::NumericMatrix centred = Rcpp::no_init(x.nrow(), x.ncol());
  const std::vector<double> sums = sample_covariance(
      view(x), weights_of(w), {centred.begin(), static_cast<std::size_t>(x.size())}, polled());
  return Rcpp::List::create(
      Rcpp::Named("centred") = centred,
      Rcpp::Named("cov") = Rcpp::NumericMatrix(x.ncol(), x.ncol(), sums.begin()));
}

// [[Rcpp::export]]
Rcpp::List count_ties_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector p) {
  const Ties ties = count_ties(view(x), view(p), polled());
  return Rcpp::List::create(Rcpp::Named("pairs") = ties.pairs, Rcpp::Named("weight") = ties.weight);
}

// [[Rcpp::export]]
bool all_finite_cpp(Rcpp::NumericVector x) { return all_finite(view(x), polled()); }

/// Memory that is not initialised: a vector of zeros would touch all of its memory at once, without
/// a poll.
// [[Rcpp::export]]
Rcpp::NumericVector uninitialised_cpp(double size) {
  return Rcpp::no_init(whole_number<R_xlen_t>(size));
}

/// Values in ascending order, none NaN.
// [[Rcpp::export]]
Rcpp::NumericVector sorted_cpp(Rcpp::NumericVector x) {
  std::vector<double> values(x.begin(), x.end());
  parallel_sort(&values, polled());
  return Rcpp::NumericVector(values.begin(), values.end());
}

/// order(x, then) without NaN; `then` may be empty.
// [[Rcpp::export]]
Rcpp::IntegerVector order_cpp(Rcpp::NumericVector x, Rcpp::NumericVector then) {
  const std::vector<std::uint32_t> order = order_of(view(x), view(then), polled());
  Rcpp::IntegerVector places = Rcpp::no_init(x.size());
  std::transform(order.begin(), order.end(), places.begin(),
                 [](std::uint32_t place) { return static_cast<int>(place) + 1; });
  return places;
}

/// Of type 7; w: as many weights, or none if all are equal.
// [[Rcpp::export]]
Rcpp::NumericVector quantiles_cpp(Rcpp::NumericVector x, SEXP w, Rcpp::NumericVector prob,
                                  Rcpp::List run) {
  const std::vector<double> values =
      quantiles(view(x), weights_of(w), view(prob), unpack_silent_run(run).parallel);
  return Rcpp::NumericVector(values.begin(), values.end());
}

// [[Rcpp::export]]
SEXP row_draws_cpp(SEXP w) { return Rcpp::XPtr<RowDraws>(new RowDraws(weights_of(w), polled())); }

/// Draws that many rows, with R's random numbers and by the method of sample.int().
// [[Rcpp::export]]
Rcpp::IntegerVector drawn_rows_cpp(SEXP draws, int count) {
  const RowDraws& from = *Rcpp::XPtr<RowDraws>(draws);
  Rcpp::IntegerVector rows = Rcpp::no_init(count);
  const double cells = static_cast<double>(from.size());
  std::generate(rows.begin(), rows.end(), [&] {
    const std::size_t cell = whole_number<std::size_t>(R_unif_index(cells));
    return static_cast<int>(from.row(cell, unif_rand())) + 1;
  });
  return rows;
}
