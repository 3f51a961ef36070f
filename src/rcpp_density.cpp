// R to core: densities at points and on grids.
#include "core/direct/direct.hpp"
#include "core/fgt/density.hpp"
#include "core/fourier/density.hpp"
#include "core/kernel/root.hpp"
#include "core/plan/plan.hpp"
#include "core/scanline/scanline.hpp"
#include "core/sweep/density.hpp"
#include "rcpp_points.hpp"

using namespace kestrel;

namespace {

/// The points as one run of numbers: a column of a matrix or the only axis of a grid.
Span<const double> on_line(const EvaluationPoints& points) {
  return points.axes.empty() ? points.matrix.column(0) : points.axes[0];
}

Rcpp::NumericVector density(const Rcpp::NumericMatrix& x, const Rcpp::NumericVector& w,
                            const EvaluationPoints& points, const Rcpp::NumericMatrix& root,
                            const KernelChoice& kernel, const std::string& engine, int threads,
                            const std::string& isa, const Rcpp::Nullable<Rcpp::Function>& progress,
                            int limbs = 0) {
  Rcpp::NumericVector out = uninitialised(points.size());
  const Span<double> result{out.begin(), points.size()};
  const RunOptions how = options(threads, isa, progress);
  if (engine == "sweep") {
    sweep_density(view(x).column(0), view(w), on_line(points), kernel.kernel, root[0], how, result);
  } else if (engine == "fgt") {
    fgt_density(view(x).column(0), view(w), on_line(points), root[0], how, result);
  } else if (engine == "scanline") {
    const std::vector<RegularAxis> axes = regular_axes(points);
    scanline_density(view(x), view(w), {axes.data(), axes.size()}, kernel, entries(root), {limbs},
                     how, result);
  } else if (engine == "direct") {
    direct_density(view(x), view(w), points, kernel, entries(root), how, result);
  } else {
    throw error(ErrorKind::internal, "no engine has the name " + engine);
  }
  return out;
}

}  // namespace

// [[Rcpp::export]]
Rcpp::NumericVector density_points_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w,
                                       Rcpp::NumericMatrix points, Rcpp::NumericMatrix root,
                                       std::string kernel, bool product, std::string engine,
                                       int threads, std::string isa,
                                       Rcpp::Nullable<Rcpp::Function> progress) {
  EvaluationPoints at;
  at.matrix = view(points);
  return density(x, w, at, root, choice(kernel, product), engine, threads, isa, progress);
}

/// limbs: of the engine "scanline", 0 for as many as the data ask for; one is for comparisons.
// [[Rcpp::export]]
Rcpp::NumericVector density_grid_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, Rcpp::List axes,
                                     Rcpp::NumericMatrix root, std::string kernel, bool product,
                                     std::string engine, int threads, std::string isa,
                                     Rcpp::Nullable<Rcpp::Function> progress, int limbs = 0) {
  const KeptPoints kept(axes);
  return density(x, w, kept.at, root, choice(kernel, product), engine, threads, isa, progress,
                 limbs);
}

/// What the engine "fourier" and its plan need to know of the data.
// [[Rcpp::export]]
SEXP density_extent_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, Rcpp::NumericMatrix points,
                        Rcpp::List axes, Rcpp::NumericMatrix root, int threads, std::string isa) {
  const KeptPoints kept(points, axes);
  return Rcpp::XPtr<DataRange>(new DataRange(measure_density(
      view(x), view(w), kept.at, entries(root), options(threads, isa, R_NilValue))));
}

// [[Rcpp::export]]
Rcpp::NumericVector density_fourier_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w,
                                        Rcpp::NumericMatrix points, Rcpp::List axes,
                                        Rcpp::NumericMatrix root, SEXP extent, double tol,
                                        int threads, std::string isa,
                                        Rcpp::Nullable<Rcpp::Function> progress) {
  const KeptPoints kept(points, axes);
  Rcpp::NumericVector out(static_cast<R_xlen_t>(kept.at.size()));
  translate_memory_error([&] {
    fourier_density(view(x), view(w), kept.at, entries(root), *Rcpp::XPtr<DataRange>(extent), tol,
                    kFourierBytes, options(threads, isa, progress), {out.begin(), kept.at.size()});
  });
  return out;
}

/// A grid for the engine "scanline" and its plan, or NULL where that does not take it; root: of the
/// bandwidth matrix.
// [[Rcpp::export]]
SEXP regular_grid_cpp(Rcpp::List axes, Rcpp::NumericMatrix root, bool product) {
  const KeptPoints kept(axes);
  try {
    const std::vector<RegularAxis> found = regular_axes(kept.at);
    return Rcpp::XPtr<ScanlineGeometry>(
        new ScanlineGeometry(Span<const RegularAxis>{found.data(), found.size()}, entries(root),
                             product ? KernelType::product : KernelType::radial));
  } catch (const error& problem) {
    if (problem.kind != ErrorKind::input) throw;
    return R_NilValue;
  }
}

/// L of H = L L', or NULL where H is not positive definite.
// [[Rcpp::export]]
SEXP lower_root_cpp(Rcpp::NumericMatrix H) {
  const std::vector<double> root = lower_root(entries(H), static_cast<std::size_t>(H.ncol()));
  if (root.empty()) return R_NilValue;
  return Rcpp::NumericMatrix(H.nrow(), H.ncol(), root.begin());
}

/// What rounding may do to an estimate with this L.
// [[Rcpp::export]]
double root_rounding_cpp(Rcpp::NumericMatrix root) {
  return root_rounding(entries(root), static_cast<std::size_t>(root.ncol()));
}

/// The plan, and `rows`, of a regular grid those that a sample's kernel crosses.
// [[Rcpp::export]]
Rcpp::List plan_cpp(double n, double m, int d, double spread, SEXP extent, SEXP grid,
                    std::string kernel, bool product, std::string engine, double tol, int threads,
                    std::string isa) {
  DensityTask task;
  task.n = n;
  task.m = m;
  task.d = static_cast<std::size_t>(d);
  task.spread = spread;
  if (!Rf_isNull(extent)) task.extent = Rcpp::XPtr<DataRange>(extent).get();
  if (!Rf_isNull(grid)) task.grid = Rcpp::XPtr<ScanlineGeometry>(grid).get();
  task.kernel = choice(kernel, product);
  task.tolerance = tol;
  task.threads = threads;
  task.lanes = table_of(isa).lanes;
  const Plan plan = translate_memory_error([&] { return plan_density(task, engine); });
  const double rows = task.grid == nullptr ? 0 : task.grid->rows_crossed();
  return Rcpp::List::create(
      Rcpp::Named("engine") = plan.engine, Rcpp::Named("tol") = plan.tolerance,
      Rcpp::Named("rounding") = plan.rounding, Rcpp::Named("bytes") = plan.bytes,
      Rcpp::Named("seconds") = plan.seconds, Rcpp::Named("reason") = plan.reason,
      Rcpp::Named("rows") = rows);
}

/// The engine "scanline" with its samples sorted, for one slab of a grid after another.
// [[Rcpp::export]]
SEXP density_scanline_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, Rcpp::List axes,
                          Rcpp::NumericMatrix root, std::string kernel, bool product, int threads,
                          std::string isa) {
  return kept_runs<ScanlineDensity>(x, w, axes, root, choice(kernel, product),
                                    options(threads, isa, R_NilValue));
}

/// Indices first, ..., first + count - 1 of the last axis, counted from one.
// [[Rcpp::export]]
Rcpp::NumericVector density_slab_cpp(SEXP runs, double first, double count, int threads,
                                     std::string isa) {
  return slab_values(*Rcpp::XPtr<ScanlineDensity>(runs), first, count,
                     options(threads, isa, R_NilValue));
}
