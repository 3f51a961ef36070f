// Shared by the glue files of densities: evaluation points as R gives them.
#ifndef KESTREL_RCPP_POINTS_HPP
#define KESTREL_RCPP_POINTS_HPP

#include <vector>

#include "core/base/error.hpp"
#include "core/base/whole.hpp"
#include "core/data/evaluation_points.hpp"
#include "core/scanline/axis.hpp"
#include "rcpp_util.hpp"

namespace kestrel {

/// The rows of a matrix, or a grid where there are axes.
struct KeptPoints {
  std::vector<Rcpp::NumericVector> axes;  // keeps coerced ones alive
  EvaluationPoints at;

  explicit KeptPoints(const Rcpp::List& given) {
    for (R_xlen_t k = 0; k < given.size(); ++k) {
      axes.emplace_back(Rcpp::as<Rcpp::NumericVector>(given[k]));
      at.axes.push_back(view(axes.back()));
    }
  }
  KeptPoints(const Rcpp::NumericMatrix& points, const Rcpp::List& given) : KeptPoints(given) {
    if (axes.empty()) at.matrix = view(points);
  }
};

/// The axes of a grid for the engine "scanline".
inline std::vector<RegularAxis> regular_axes(const EvaluationPoints& points) {
  std::vector<RegularAxis> axes = find_regular_axes(points.axes);
  if (axes.empty()) throw error(ErrorKind::input, "engine \"scanline\" takes regular grids");
  return axes;
}

/// For an engine, which writes all of it: zeros first would be another pass over a large grid.
inline Rcpp::NumericVector uninitialised(std::size_t size) {
  return Rcpp::no_init(static_cast<R_xlen_t>(size));
}

/// An engine "scanline", ScanlineDensity or GpuScanline, with its samples sorted, for R to keep.
template <class Scanline>
SEXP kept_runs(const Rcpp::NumericMatrix& x, const Rcpp::NumericVector& w, const Rcpp::List& axes,
               const Rcpp::NumericMatrix& root, const KernelChoice& kernel, const RunOptions& how) {
  const KeptPoints kept(axes);
  const std::vector<RegularAxis> regular = regular_axes(kept.at);
  return Rcpp::XPtr<Scanline>(new Scanline(view(x), view(w), {regular.data(), regular.size()},
                                           kernel, entries(root), {}, how));
}

/// Indices first, ..., first + count - 1 of the last axis, counted from one, by such an engine.
template <class Scanline>
Rcpp::NumericVector slab_values(const Scanline& runs, double first, double count,
                                const RunOptions& how) {
  const std::size_t slices = whole_number<std::size_t>(count), size = slices * runs.points();
  Rcpp::NumericVector out = uninitialised(size);
  runs.slab(whole_number<std::size_t>(first) - 1, slices, how, {out.begin(), size});
  return out;
}

}  // namespace kestrel

#endif
