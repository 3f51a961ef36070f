// R to core: densities at points and on grids.
#include "core/cells_density.hpp"
#include "core/direct.hpp"
#include "core/plan.hpp"
#include "core/sweep_density.hpp"
#include "rcpp_util.hpp"

using namespace kestrel;

namespace {

/// The points as one run of numbers: a column of a matrix or the only axis of a grid.
Span<const double> on_line(const EvaluationPoints& points) {
  return points.axes.empty() ? points.matrix.column(0) : points.axes[0];
}

Rcpp::NumericVector density(const Rcpp::NumericMatrix& x, const Rcpp::NumericVector& w,
                            const EvaluationPoints& points, const Rcpp::NumericMatrix& root,
                            const KernelChoice& kernel, const std::string& engine, int threads,
                            const std::string& isa,
                            const Rcpp::Nullable<Rcpp::Function>& progress) {
  Rcpp::NumericVector out(static_cast<R_xlen_t>(points.size()));
  const Span<double> result{out.begin(), points.size()};
  const RunOptions how = options(threads, isa, progress);
  if (engine == "sweep") {
    sweep_density(view(x).column(0), view(w), on_line(points), kernel.kernel, root[0], how, result);
  } else if (engine == "cells") {
    cells_density(view(x).column(0), view(w), on_line(points), root[0], how, result);
  } else {
    direct_density(view(x), view(w), points, kernel, entries(root), how, result);
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

// [[Rcpp::export]]
Rcpp::NumericVector density_grid_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, Rcpp::List axes,
                                     Rcpp::NumericMatrix root, std::string kernel, bool product,
                                     std::string engine, int threads, std::string isa,
                                     Rcpp::Nullable<Rcpp::Function> progress) {
  std::vector<Rcpp::NumericVector> kept;  // keeps coerced axes alive
  EvaluationPoints at;
  for (R_xlen_t k = 0; k < axes.size(); ++k) {
    kept.emplace_back(Rcpp::as<Rcpp::NumericVector>(axes[k]));
    at.axes.push_back(view(kept.back()));
  }
  return density(x, w, at, root, choice(kernel, product), engine, threads, isa, progress);
}

// [[Rcpp::export]]
Rcpp::List plan_cpp(double n, double m, int d, double spread, std::string kernel, bool product,
                    std::string engine, double tol, int threads, std::string isa) {
  DensityTask task;
  task.n = n;
  task.m = m;
  task.d = static_cast<std::size_t>(d);
  task.spread = spread;
  task.kernel = choice(kernel, product);
  task.tolerance = tol;
  task.threads = threads;
  task.lanes = table_of(isa).lanes;
  const Plan plan = plan_density(task, engine);
  return Rcpp::List::create(Rcpp::Named("engine") = plan.engine,
                            Rcpp::Named("tol") = plan.tolerance, Rcpp::Named("bytes") = plan.bytes,
                            Rcpp::Named("seconds") = plan.seconds,
                            Rcpp::Named("reason") = plan.reason);
}
