// R to core: draws from an estimate and from the rows of a sample, with R's random numbers. R's
// generator works on one thread; what is made of its numbers is made on all.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/whole.hpp"
#include "core/data/row_draws.hpp"
#include "core/distribution/kernel_draws.hpp"
#include "rcpp_run.hpp"
#include "rcpp_util.hpp"
#include "rcpp_weights.hpp"

using namespace kestrel;

namespace {

/// n numbers that draw() returns.
template <class Draw>
void fill(double* numbers, std::size_t n, const Draw& draw) {
  serial_for(n, polled(), [&](std::size_t i) { numbers[i] = draw(); });
}

/// n radii in d dimensions of the cosine kernel: cos(pi r / 2) lies below (pi / 2) (1 - r), so by
/// rejection from the triangular kernel.
std::vector<double> cosine_radii(std::size_t n, double d) {
  std::vector<double> radius, tried(2 * n);
  radius.reserve(n);
  while (radius.size() < n) {
    fill(tried.data(), tried.size(), [d] { return R::rbeta(d, 2); });
    serial_for(tried.size(), polled(), [&](std::size_t i) {
      const double r = tried[i], bound = unif_rand() * (kPi / 2) * (1 - r);
      if (bound < std::cos(kPi * r / 2) && radius.size() < n) radius.push_back(r);
    });
  }
  return radius;
}

/// n radii in d dimensions.
std::vector<double> radii(Kernel kernel, std::size_t n, double d) {
  const KernelRow& row = row_of(kernel);
  if (row.form == KernelForm::cosine) return cosine_radii(n, d);
  std::vector<double> radius(n);
  fill(radius.data(), n, [&] { return R::rbeta(d / row.inner, row.outer + 1); });
  radii_from_betas(row, {radius.data(), n}, polled());
  return radius;
}

}  // namespace

/// Rows of a sample with weights w, by the method of sample.int().
// [[Rcpp::export]]
Rcpp::IntegerVector drawn_rows_cpp(SEXP w, int count) {
  Rcpp::IntegerVector rows = Rcpp::no_init(count);
  const RowDraws draws(weights_of(w), polled());
  const double cells = static_cast<double>(draws.size());
  serial_for(static_cast<std::size_t>(count), polled(), [&](std::size_t i) {
    const std::size_t cell = whole_number<std::size_t>(R_unif_index(cells));
    rows[static_cast<R_xlen_t>(i)] = static_cast<int>(draws.row(cell, unif_rand())) + 1;
  });
  return rows;
}

/// Rows of x, a draw from the kernel added to each: a matrix, column by column. H = root root'. The
/// numbers of a normal kernel are drawn row by row, as mvtnorm::rmvnorm() does for ks.
// [[Rcpp::export]]
Rcpp::NumericVector kernel_draws_cpp(SEXP x, SEXP rows, std::string kernel, std::string kernel_type,
                                     Rcpp::NumericMatrix root) {
  const HeldDoubles held(x);
  const MatrixView data = held.columns();
  const std::size_t n = static_cast<std::size_t>(Rf_xlength(rows)), d = data.cols;
  Rcpp::NumericVector draws = Rcpp::no_init(static_cast<R_xlen_t>(n * d));
  const Span<double> out{draws.begin(), n * d};
  const KernelChoice chosen = choice(kernel, kernel_type);
  if (!is_compact(chosen.kernel)) {
    serial_for(out.size, polled(), [&](std::size_t i) { out[i % d * n + i / d] = norm_rand(); });
  } else {
    fill(out.data, out.size, [] { return norm_rand(); });
    const bool each = chosen.type == KernelType::product;
    const std::vector<double> radius =
        radii(chosen.kernel, each ? n * d : n, each ? 1.0 : static_cast<double>(d));
    scale_to_radii(out, {radius.data(), radius.size()}, d, polled());
  }
  place_draws(data, {INTEGER(rows), n}, entries(root), out, polled());
  return draws;
}
