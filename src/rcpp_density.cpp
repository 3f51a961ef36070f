// R to core: densities at points and on grids.
#include "rcpp_density.hpp"

#include "core/criteria/fourier_criteria.hpp"
#include "core/direct/direct.hpp"
#include "core/fgt/density.hpp"
#include "core/fourier/density.hpp"
#include "core/kdtree/kdtree.hpp"
#include "core/kdtree/reach.hpp"
#include "core/kernel/root.hpp"
#include "core/plan/plan.hpp"
#include "core/scanline/scanline.hpp"
#include "core/sweep/density.hpp"

using namespace kestrel;

namespace {

/// The points as one array of numbers: a column of a matrix or the only axis of a grid.
Span<const double> on_line(const EvaluationPoints& points) {
  return points.axes.empty() ? points.matrix.column(0) : points.axes[0];
}

/// How a density is computed, from the list that plan_run() of R/density-run.R makes.
struct ChosenPlan {
  std::string engine;
  double tolerance;
  SEXP extent;  // for the engine "fourier"
};

ChosenPlan unpack_plan(const Rcpp::List& list) {
  const Fields fields(list, "a plan",
                      {"engine", "tol", "rounding", "bytes", "seconds", "reason", "rows", "backend",
                       "device", "extent"});
  const std::string engine = fields.get<std::string>("engine");
  return {engine, fields.get<double>("tol"), engine == "fourier" ? fields["extent"] : R_NilValue};
}

void fourier_sums(const Sample& data, const DensitySums& task, const ChosenPlan& plan,
                  const RunOptions& how, Span<double> out) {
  translate_memory_error([&] {
    fourier_density(data.x(), data.w(), task.at, task.root, *Rcpp::XPtr<DataRange>(plan.extent),
                    plan.tolerance, kFourierBytes, how, out);
  });
}

void engine_sums(const Sample& data, const DensitySums& task, const ChosenPlan& plan,
                 const Run& how, Span<double> out) {
  const std::string& engine = plan.engine;
  if (engine == "sweep") {
    sweep_density(data.x().column(0), data.w(), on_line(task.at), task.kernel.kernel, task.root[0],
                  how, out);
  } else if (engine == "fgt") {
    fgt_density(line_sample(data, how), on_line(task.at), task.root[0], how, out);
  } else if (engine == "scanline") {
    const std::vector<RegularAxis> axes = regular_axes(task.at);
    scanline_density(data.x(), data.w(), {axes.data(), axes.size()}, task.kernel, task.root, {},
                     how, out);
  } else if (engine == "fourier") {
    fourier_sums(data, task, plan, how, out);
  } else if (engine == "kdtree") {
    kdtree_density(data.x(), data.w(), task.at, task.kernel, task.root, how, out);
  } else if (engine == "direct") {
    direct_density(data.x(), data.w(), task.at, task.kernel, task.root, how, out);
  } else {
    throw error(ErrorKind::internal, "no engine has the name " + engine);
  }
}

}  // namespace

// [[Rcpp::export]]
Rcpp::NumericVector density_cpp(SEXP sample, Rcpp::List task, Rcpp::List plan, Rcpp::List run) {
  const DensitySums sums = unpack_density(task);
  Rcpp::NumericVector out = uninitialised(sums.at.size());
  const Span<double> values{out.begin(), sums.at.size()};
  engine_sums(sample_of(sample), sums, unpack_plan(plan), unpack_run(run), values);
  divide(values, sums.n, unpack_silent_run(run).parallel);
  return out;
}

/// What the engine "fourier" and its plan need to know about the data.
// [[Rcpp::export]]
SEXP density_extent_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  const Sample& data = sample_of(sample);
  const DensitySums sums = unpack_density(task);
  // A selector of this call may have left its modes.
  const FourierCriteria* criteria = data.found<FourierCriteria>();
  return Rcpp::XPtr<DataRange>(
      new DataRange(measure_density(data.x(), data.w(), sums.at, sums.root, unpack_silent_run(run),
                                    criteria == nullptr ? nullptr : criteria->kept_modes())));
}

/// The share of all pairs that the engine "kdtree" would sum, for its plan.
// [[Rcpp::export]]
double tree_pairs_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  const Sample& data = sample_of(sample);
  const DensitySums sums = unpack_density(task);
  return share_of_pairs(data.x(), sums.at, sums.kernel, sums.root, unpack_silent_run(run));
}

/// The grid of a task for the engine "scanline" and its plan, or NULL if the engine does not take
/// it.
// [[Rcpp::export]]
SEXP regular_grid_cpp(Rcpp::List task) {
  const DensitySums sums = unpack_density(task);
  try {
    const std::vector<RegularAxis> found = regular_axes(sums.at);
    return Rcpp::XPtr<ScanlineGeometry>(new ScanlineGeometry(
        Span<const RegularAxis>{found.data(), found.size()}, sums.root, sums.kernel.type));
  } catch (const error& problem) {
    if (problem.kind != ErrorKind::input) throw;
    return R_NilValue;
  }
}

/// L of H = L L', or NULL if H is not positive definite.
// [[Rcpp::export]]
SEXP lower_root_cpp(Rcpp::NumericMatrix H) {
  const std::vector<double> root = lower_root(entries(H), static_cast<std::size_t>(H.ncol()));
  if (root.empty()) return R_NilValue;
  return Rcpp::NumericMatrix(H.nrow(), H.ncol(), root.begin());
}

/// A bound on the rounding error of an estimate with this L.
// [[Rcpp::export]]
double root_rounding_cpp(Rcpp::NumericMatrix root) {
  return root_rounding(entries(root), static_cast<std::size_t>(root.ncol()));
}

/// The plan and, for a regular grid, `rows`: how many rows a sample's kernel crosses.
// [[Rcpp::export]]
Rcpp::List plan_cpp(Rcpp::List task, Rcpp::List run) {
  const Fields fields(task, "a task to plan",
                      {"n", "m", "d", "spread", "extent", "grid", "tree_pairs", "kernel",
                       "kernel_type", "engine", "tol"});
  const Run how = unpack_run(run);
  DensityTask asked;
  asked.n = fields.get<double>("n");
  asked.m = fields.get<double>("m");
  asked.d = static_cast<std::size_t>(fields.get<int>("d"));
  asked.spread = fields.get<double>("spread");
  const SEXP tree_pairs = fields.optional("tree_pairs");
  if (!Rf_isNull(tree_pairs)) asked.tree_pairs = Rcpp::as<double>(tree_pairs);
  const SEXP extent = fields.optional("extent"), grid = fields.optional("grid");
  if (!Rf_isNull(extent)) asked.extent = Rcpp::XPtr<DataRange>(extent).get();
  if (!Rf_isNull(grid)) asked.grid = Rcpp::XPtr<ScanlineGeometry>(grid).get();
  asked.kernel = choice(fields.get<std::string>("kernel"), fields.get<std::string>("kernel_type"));
  asked.tolerance = fields.get<double>("tol");
  asked.threads = how.parallel.threads;
  asked.lanes = how.table->lanes;
  const std::string engine = fields.get<std::string>("engine");
  const Plan plan = translate_memory_error([&] { return plan_density(asked, engine); });
  const double rows = asked.grid == nullptr ? 0 : asked.grid->rows_crossed();
  return Rcpp::List::create(
      Rcpp::Named("engine") = plan.engine, Rcpp::Named("tol") = plan.tolerance,
      Rcpp::Named("rounding") = plan.rounding, Rcpp::Named("bytes") = plan.bytes,
      Rcpp::Named("seconds") = plan.seconds, Rcpp::Named("reason") = plan.reason,
      Rcpp::Named("rows") = rows);
}

/// The engine "scanline" with its samples sorted, to be used for one slab of a grid after another.
// [[Rcpp::export]]
SEXP density_scanline_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  return kept_runs<ScanlineDensity>(sample_of(sample), unpack_density(task),
                                    unpack_silent_run(run));
}

/// The density of n samples at indices first, ..., first + count - 1 of the last axis, counted from
/// one.
// [[Rcpp::export]]
Rcpp::NumericVector density_slab_cpp(SEXP runs, double first, double count, double n,
                                     Rcpp::List run) {
  return slab_values(*Rcpp::XPtr<ScanlineDensity>(runs), first, count, n, unpack_silent_run(run));
}
