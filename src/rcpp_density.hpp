// Densities between R and C++, for any backend: the task, and slabs of a grid.
#ifndef KESTREL_RCPP_DENSITY_HPP
#define KESTREL_RCPP_DENSITY_HPP

#include <vector>

#include "core/base/error.hpp"
#include "core/base/large_pages.hpp"
#include "core/base/whole.hpp"
#include "core/data/evaluation_points.hpp"
#include "core/data/passes.hpp"
#include "core/scanline/axis.hpp"
#include "rcpp_fields.hpp"
#include "rcpp_run.hpp"
#include "rcpp_sample.hpp"
#include "rcpp_util.hpp"

namespace kestrel {

/// The axes of a grid.
struct KeptAxes {
  std::vector<Rcpp::NumericVector> kept;  // keeps converted vectors alive
  std::vector<Span<const double>> views;

  explicit KeptAxes(const Rcpp::List& given) {
    for (R_xlen_t k = 0; k < given.size(); ++k) {
      kept.emplace_back(Rcpp::as<Rcpp::NumericVector>(given[k]));
      views.push_back(view(kept.back()));
    }
  }
};

/// A kernel sum at the rows of a matrix, or on a grid if there are axes.
struct DensitySums {
  Rcpp::NumericMatrix points, factor;
  KeptAxes axes;
  EvaluationPoints at;
  Span<const double> root;  // of the bandwidth matrix
  KernelChoice kernel;
  double n;  // by which sums are divided
};

/// Takes a result of task_at_points() or task_on_axes() of R/density.R.
inline DensitySums unpack_density(const Rcpp::List& list) {
  const Fields fields(
      list, "a task of a density",
      {"sample", "points", "axes", "root", "kernel", "kernel_type", "n", "m", "complete"});
  DensitySums task{
      fields.get<Rcpp::NumericMatrix>("points"),
      fields.get<Rcpp::NumericMatrix>("root"),
      KeptAxes(fields.get<Rcpp::List>("axes")),
      {},
      {},
      choice(fields.get<std::string>("kernel"), fields.get<std::string>("kernel_type")),
      fields.get<double>("n")};
  task.at.axes = task.axes.views;
  if (task.at.axes.empty()) task.at.matrix = view(task.points);
  task.root = entries(task.factor);
  return task;
}

/// The axes of a grid for the engine "scanline".
inline std::vector<RegularAxis> regular_axes(const EvaluationPoints& points) {
  std::vector<RegularAxis> axes = find_regular_axes(points.axes);
  if (axes.empty()) throw error(ErrorKind::input, "engine \"scanline\" takes regular grids");
  return axes;
}

/// For an engine that writes all of it: filling it with zeros would be another pass over a large
/// grid.
inline Rcpp::NumericVector uninitialised(std::size_t size) {
  Rcpp::NumericVector values = Rcpp::no_init(static_cast<R_xlen_t>(size));
  prefer_large_pages(values.begin(), 8 * size);
  return values;
}

/// An engine "scanline", ScanlineDensity or GpuScanline, with its samples sorted, held by R.
template <class Scanline>
SEXP kept_runs(const Sample& sample, const DensitySums& task, const RunOptions& how) {
  const std::vector<RegularAxis> regular = regular_axes(task.at);
  return Rcpp::XPtr<Scanline>(new Scanline(sample.x(), sample.w(), {regular.data(), regular.size()},
                                           task.kernel, task.root, {}, how));
}

/// The density of n samples at indices first, ..., first + count - 1 of the last axis, counted from
/// one, by such an engine.
template <class Scanline>
Rcpp::NumericVector slab_values(const Scanline& runs, double first, double count, double n,
                                const RunOptions& how) {
  const std::size_t slices = whole_number<std::size_t>(count), size = slices * runs.points();
  Rcpp::NumericVector out = uninitialised(size);
  runs.slab(whole_number<std::size_t>(first) - 1, slices, how, {out.begin(), size});
  divide({out.begin(), size}, n, how.parallel);
  return out;
}

}  // namespace kestrel

#endif
