// R to core: properties of a sample: moments, ties, order and quantiles.
#include "rcpp_sample.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/parallel_sort.hpp"
#include "core/base/whole.hpp"
#include "core/data/cell_scan.hpp"
#include "core/data/finite.hpp"
#include "core/data/order.hpp"
#include "core/data/quantiles.hpp"
#include "core/data/reflection.hpp"
#include "core/data/sample_moments.hpp"
#include "core/data/ties.hpp"
#include "core/data/weights.hpp"
#include "rcpp_fields.hpp"
#include "rcpp_run.hpp"
#include "rcpp_util.hpp"
#include "rcpp_weights.hpp"

using namespace kestrel;

namespace {

Rcpp::NumericMatrix mean_matrix(const SampleMean& mean) {
  Rcpp::NumericMatrix parts(2, static_cast<int>(mean.first.size()));
  for (int k = 0; k < parts.ncol(); ++k) {
    parts(0, k) = mean.first[static_cast<std::size_t>(k)];
    parts(1, k) = mean.second[static_cast<std::size_t>(k)];
  }
  return parts;
}

/// Columns of R: the bounds of a variable, the reach, and whether it is periodic.
std::vector<ReflectingAxis> unpack_axes(const Rcpp::NumericMatrix& axes) {
  std::vector<ReflectingAxis> out;
  for (int k = 0; k < axes.ncol(); ++k) {
    out.push_back({axes(0, k), axes(1, k), axes(2, k), axes(3, k) > 0});
  }
  return out;
}

}  // namespace

// [[Rcpp::export]]
Rcpp::List weight_sums_cpp(SEXP w) {
  const WeightSums sums = weight_sums(weights_of(w), polled());
  return Rcpp::List::create(Rcpp::Named("sum") = sums.sum, Rcpp::Named("squares") = sums.squares,
                            Rcpp::Named("max") = sums.max,
                            Rcpp::Named("min_positive") = sums.min_positive,
                            Rcpp::Named("positive") = static_cast<double>(sums.positive));
}

/// Minimum and maximum of each column, a column of the result. An array that is not a matrix counts
/// as one column.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix ranges_cpp(SEXP x) {
  const HeldDoubles held(x);
  const MatrixView columns = held.columns();
  const std::vector<double> ranges = column_ranges(columns, polled());
  return Rcpp::NumericMatrix(2, static_cast<int>(columns.cols), ranges.begin());
}

/// The sample that the steps of a call share, as a pointer. It keeps x, a matrix or a vector, and
/// the weights.
// [[Rcpp::export]]
SEXP sample_cpp(SEXP x, SEXP w) { return Rcpp::XPtr<HeldSample>(new HeldVectors(x, w)); }

/// The rows that reflected_cpp() makes.
// [[Rcpp::export]]
double count_reflected_cpp(SEXP x, Rcpp::NumericMatrix axes) {
  const HeldDoubles held(x);
  return count_reflected(held.columns(), unpack_axes(axes), polled());
}

/// x with the images of its rows, a matrix, and their weights, none if x has none. axes: see
/// unpack_axes(), a column for each variable; rows: their number, of count_reflected_cpp().
// [[Rcpp::export]]
Rcpp::List reflected_cpp(SEXP x, SEXP w, Rcpp::NumericMatrix axes, double rows) {
  const HeldDoubles held(x);
  const MatrixView columns = held.columns();
  const Weights weights = weights_of(w);
  const std::size_t size = whole_number<std::size_t>(rows);
  Rcpp::NumericVector out = uninitialised(size * columns.cols);
  Rcpp::NumericVector w_out = uninitialised(weights.absent() ? 0 : size);
  reflect_rows(columns, weights, unpack_axes(axes), polled(), {out.begin(), size * columns.cols},
               {w_out.begin(), weights.absent() ? 0 : size});
  out.attr("dim") = Rcpp::Dimension(size, columns.cols);
  return Rcpp::List::create(Rcpp::Named("x") = out, Rcpp::Named("w") = w_out);
}

/// Each column of x relative to its mean and divided by its unit, a matrix.
// [[Rcpp::export]]
Rcpp::NumericMatrix divided_cpp(SEXP x, Rcpp::NumericMatrix mean, Rcpp::NumericVector unit) {
  const HeldDoubles held(x);
  const MatrixView columns = held.columns();
  Rcpp::NumericMatrix out =
      Rcpp::no_init(static_cast<int>(columns.rows), static_cast<int>(columns.cols));
  divide_columns(columns, unpack_mean(mean), view(unit),
                 {out.begin(), static_cast<std::size_t>(out.size())}, polled());
  return out;
}

// [[Rcpp::export]]
Rcpp::List sample_covariance_cpp(SEXP sample) {
  const Sample& data = sample_of(sample);
  const int d = static_cast<int>(data.d());
  // A sketch has them already.
  const SampleCovariance* const known = data.found<SampleCovariance>();
  const SampleCovariance found =
      known != nullptr ? *known : sample_covariance(data.x(), data.w(), polled());
  return Rcpp::List::create(
      Rcpp::Named("mean") = mean_matrix(found.mean),
      Rcpp::Named("cov") = Rcpp::NumericMatrix(d, d, found.covariance.begin()));
}

/// The ordered pairs of equal observations, their share of all pairs by weight, and the share of
/// the pairs of each observation with itself.
// [[Rcpp::export]]
Rcpp::List count_ties_cpp(SEXP sample) {
  const Sample& data = sample_of(sample);
  const WeightSums* const of_sketch = data.found<WeightSums>();
  const WeightSums weights = of_sketch != nullptr ? *of_sketch : weight_sums(data.w(), polled());
  const double all = weights.sum * weights.sum;
  const Ties* const known = data.found<Ties>();
  const Ties ties = known != nullptr ? *known : count_ties(data.x(), data.w(), polled());
  return Rcpp::List::create(Rcpp::Named("pairs") = ties.pairs,
                            Rcpp::Named("weight") = ties.weight / all,
                            Rcpp::Named("diagonal") = weights.squares / all);
}

/// The samples in cells of ever smaller sides: `side` and `neighbours`, an element for each level,
/// and `covariance`, a column for each, in units of the root.
// [[Rcpp::export]]
Rcpp::List scan_cells_cpp(SEXP sample, Rcpp::List task) {
  const Fields fields(task, "a task of cells", {"root", "widest", "few", "thin"});
  const Rcpp::NumericMatrix root = fields.get<Rcpp::NumericMatrix>("root");
  const Sample& data = sample_of(sample);
  const std::vector<CellLevel> levels =
      scan_cells(data.x(), data.w(), entries(root), fields.get<double>("widest"),
                 fields.get<double>("few"), fields.get<bool>("thin"), polled());
  const int count = static_cast<int>(levels.size());
  Rcpp::NumericVector side(count), neighbours(count);
  Rcpp::NumericMatrix covariance(static_cast<int>(data.d() * data.d()), count);
  for (int k = 0; k < count; ++k) {
    const CellLevel& level = levels[static_cast<std::size_t>(k)];
    side[k] = level.side;
    neighbours[k] = level.neighbours;
    std::copy(level.covariance.begin(), level.covariance.end(), covariance.column(k).begin());
  }
  return Rcpp::List::create(Rcpp::Named("side") = side, Rcpp::Named("neighbours") = neighbours,
                            Rcpp::Named("covariance") = covariance);
}

// [[Rcpp::export(rng = false)]]
bool all_finite_cpp(SEXP x) { return all_finite(HeldDoubles(x).values(), polled()); }

/// Values in ascending order, none NaN.
// [[Rcpp::export]]
Rcpp::NumericVector sorted_cpp(SEXP x) {
  const HeldDoubles held(x);
  Rcpp::NumericVector sorted = uninitialised(held.values().size);
  parallel_sort(held.values().data, held.values().size, sorted.begin(), polled());
  return sorted;
}

/// order(x, then) without NaN; `then` may be empty.
// [[Rcpp::export]]
Rcpp::IntegerVector order_cpp(SEXP x, Rcpp::NumericVector then) {
  const HeldDoubles held(x);
  const std::vector<std::uint32_t> order = order_of(held.values(), view(then), polled());
  Rcpp::IntegerVector places = Rcpp::no_init(static_cast<R_xlen_t>(order.size()));
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
