// R to core: densities at points and on grids.
#include <optional>

#include "core/base/whole.hpp"
#include "core/cluster/mean_shift.hpp"
#include "core/direct/derivatives.hpp"
#include "core/direct/engine.hpp"
#include "core/kernel/derivative.hpp"
#include "core/kernel/root.hpp"
#include "core/plan/engines.hpp"
#include "core/scanline/engine.hpp"
#include "gpu/density_call.hpp"
#include "gpu/derivatives_call.hpp"
#include "rcpp_fields.hpp"
#include "rcpp_run.hpp"
#include "rcpp_sample.hpp"
#include "rcpp_util.hpp"

using namespace kestrel;

namespace {

/// A task of R, with all that the core's task refers to. Cannot be copied.
class HeldTask {
 public:
  /// Takes a result of task_at_points() or task_on_axes() of R/density-task.R.
  HeldTask(const Rcpp::List& list, const Rcpp::List& run)
      : fields_(list, "a task of a density",
                {"sample", "points", "axes", "root", "kernel", "kernel_type", "m", "complete",
                 "within"}),
        sample_(fields_["sample"]),
        points_(fields_["points"]),
        root_(fields_.get<Rcpp::NumericMatrix>("root")),
        axes_(fields_.get<Rcpp::List>("axes")),
        within_(fields_["within"]),
        at_{axes_.views.empty() ? points_.columns() : MatrixView{}, axes_.views},
        how_(unpack_run(run)),
        silent_(unpack_silent_run(run)),
        task_{sample_of(sample_),
              at_,
              choice(fields_.get<std::string>("kernel"), fields_.get<std::string>("kernel_type")),
              entries(root_),
              how_.tolerance,
              silent_,
              view(within_),
              static_cast<double>(sample_of(sample_).n())} {}
  HeldTask(const HeldTask&) = delete;
  HeldTask& operator=(const HeldTask&) = delete;

  const DensityTask& task() const { return task_; }
  /// The numbers of points on the axes, if there are any.
  std::vector<int> counts() const {
    std::vector<int> counts;
    for (const Span<const double> axis : axes_.views) counts.push_back(static_cast<int>(axis.size));
    return counts;
  }
  const RunOptions& how() const { return how_; }
  DensityRequest request() const { return {how_.engine, how_.single, how_.slabs}; }
  GpuUse place() const { return how_.place(); }

 private:
  const Fields fields_;
  const Rcpp::RObject sample_;
  const HeldDoubles points_;  // may share the memory of a vector
  const Rcpp::NumericMatrix root_;
  const KeptAxes axes_;
  const Rcpp::NumericVector within_;
  const EvaluationPoints at_;
  const Run how_, silent_;
  const DensityTask task_;
};

/// NULL for "".
SEXP or_null(const std::string& text) { return text.empty() ? R_NilValue : Rcpp::wrap(text); }

Rcpp::List choice_list(const DensityTask& task, const DensityChoice& chosen) {
  return Rcpp::List::create(
      Rcpp::Named("n") = task.samples(), Rcpp::Named("engine") = chosen.engine,
      Rcpp::Named("backend") = chosen.on_device() ? "cuda" : "cpu",
      Rcpp::Named("device") = or_null(chosen.device), Rcpp::Named("reason") = chosen.reason,
      Rcpp::Named("seconds") = chosen.seconds, Rcpp::Named("bytes") = chosen.plan.bytes,
      Rcpp::Named("rounding") = chosen.plan.rounding);
}

/// For each point a matrix with its positions, the first one included.
Rcpp::List paths_of(const MeanShift& found, const MatrixView& points) {
  const std::size_t m = points.rows, d = points.cols;
  Rcpp::List paths(static_cast<R_xlen_t>(m));
  std::vector<double*> next(m);  // where the next position of each point goes
  std::vector<std::size_t> rows(m);
  for (std::size_t i = 0; i < m; ++i) {
    rows[i] = static_cast<std::size_t>(found.steps[i]) + 1;
    Rcpp::NumericMatrix path(static_cast<int>(rows[i]), static_cast<int>(d));
    for (std::size_t k = 0; k < d; ++k) path[static_cast<R_xlen_t>(k * rows[i])] = points(i, k);
    next[i] = path.begin() + 1;
    paths[static_cast<R_xlen_t>(i)] = path;
  }
  for (const MeanShiftStep& step : found.path) {
    for (std::size_t i = 0; i < step.point.size(); ++i) {
      const std::size_t point = step.point[i];
      for (std::size_t k = 0; k < d; ++k) next[point][k * rows[point]] = step.at[i * d + k];
      ++next[point];
    }
  }
  return paths;
}

}  // namespace

/// The values of a task, an array if it has several axes, its plan and the precision of the sums.
/// Before each computation said(plan) is called, which may throw.
// [[Rcpp::export]]
Rcpp::List density_cpp(Rcpp::List task, Rcpp::List run, Rcpp::Function said) {
  const HeldTask held(task, run);
  GpuUse use = held.place();
  Rcpp::NumericVector out;
  Rcpp::List plan;
  const bool single = translate_errors([&] {
    return compute_density(held.task(), held.request(), use, held.how(),
                           [&](const DensityChoice& chosen) {
                             plan = choice_list(held.task(), chosen);
                             said(plan);
                             const std::size_t size = held.task().at.size();
                             out = uninitialised(size);
                             return Span<double>{out.begin(), size};
                           });
  });
  // In R this would copy the values.
  const std::vector<int> counts = held.counts();
  if (counts.size() > 1) out.attr("dim") = Rcpp::wrap(counts);
  return Rcpp::List::create(Rcpp::Named("values") = out, Rcpp::Named("plan") = plan,
                            Rcpp::Named("precision") = single ? "single" : "double");
}

/// The partial derivatives of one order, a column for each, their engine and their place.
// [[Rcpp::export]]
Rcpp::List derivatives_cpp(Rcpp::List task, int order, Rcpp::List run) {
  const HeldTask held(task, run);
  const std::size_t m = held.task().at.size();
  const std::size_t count = derivative_count(held.task().sample.d(), order);
  GpuUse use = held.place();
  Rcpp::NumericVector out = uninitialised(m * count);
  const std::string engine = translate_errors([&] {
    return compute_derivatives(held.task(), order, held.request().engine, use, held.how(),
                               {out.begin(), m * count});
  });
  out.attr("dim") = Rcpp::Dimension(m, count);
  return Rcpp::List::create(Rcpp::Named("values") = out, Rcpp::Named("engine") = engine,
                            Rcpp::Named("place") = place_list(use));
}

/// For each point a row of sums over the sample, see direct_moments(), a column for each monomial.
// [[Rcpp::export]]
Rcpp::NumericMatrix moments_cpp(Rcpp::List task, int degree, Rcpp::List run) {
  const HeldTask held(task, run);
  const DensityTask& of = held.task();
  const std::size_t count = Monomials(of.sample.d(), degree).size();
  Rcpp::NumericMatrix out(Rcpp::no_init(static_cast<int>(of.at.size()), static_cast<int>(count)));
  direct_moments(of.sample.x(), of.sample.w(), of.at, of.root, degree, held.how(),
                 {out.begin(), of.at.size() * count});
  return out;
}

/// The points of a task after mean shift: where each ends, its number of steps, and, if `paths`,
/// its positions; how many still move, and how many are out of reach.
// [[Rcpp::export]]
Rcpp::List mean_shift_cpp(Rcpp::List task, double tolerance, int most, bool paths, Rcpp::List run) {
  const HeldTask held(task, run);
  const DensityTask& of = held.task();
  const MatrixView points = of.at.matrix;
  const MeanShift found = translate_errors([&] {
    return mean_shift(of.sample.x(), of.sample.w(), points, of.root, {tolerance, most, paths},
                      held.how());
  });
  const Rcpp::NumericMatrix end(static_cast<int>(points.rows), static_cast<int>(points.cols),
                                found.end.begin());
  return Rcpp::List::create(Rcpp::Named("end") = end, Rcpp::Named("steps") = found.steps,
                            Rcpp::Named("path") = paths ? paths_of(found, points) : Rcpp::List(),
                            Rcpp::Named("moving") = static_cast<double>(found.moving),
                            Rcpp::Named("out_of_reach") = static_cast<double>(found.out_of_reach));
}

/// The plan of a task, of which work `larger` times as large is expected.
// [[Rcpp::export]]
Rcpp::List plan_cpp(Rcpp::List task, double larger, Rcpp::List run) {
  const HeldTask held(task, run);
  GpuUse use = held.place();
  return translate_errors([&] {
    return choice_list(held.task(), choose_density(held.task(), held.request(), use, larger));
  });
}

/// Whether the engine "scanline" takes the grid of a task.
// [[Rcpp::export]]
bool takes_scanline_cpp(Rcpp::List task, Rcpp::List run) {
  const HeldTask held(task, run);
  std::optional<ScanlineGeometry> geometry;
  return !scanline_axes(held.task(), &geometry).empty();
}

/// The engines, and of those the ones for a kernel in d variables, on a grid or at any points.
// [[Rcpp::export]]
Rcpp::CharacterVector engines_cpp(std::string kernel, int d, bool gridded) {
  Rcpp::CharacterVector names;
  for (const DensityEngine* engine : density_engines()) {
    const bool fits =
        d == 0 || engine->fits(choice(kernel, "radial"), static_cast<std::size_t>(d), gridded);
    if (fits) names.push_back(engine->name);
  }
  return names;
}

/// The tasks that an engine takes, in words.
// [[Rcpp::export]]
std::string engine_takes_cpp(std::string engine) { return density_engine(engine).takes(); }

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

namespace {

/// Slabs of a grid with the task that they are of.
struct HeldSlabs {
  HeldTask held;
  DensitySlabs slabs;

  HeldSlabs(const Rcpp::List& task, const Rcpp::List& run)
      : held(task, run), slabs(held.task(), held.place(), held.how()) {}
};

}  // namespace

/// The engine "scanline" with its samples sorted, for one slab of a grid after another.
// [[Rcpp::export]]
SEXP slabs_cpp(Rcpp::List task, Rcpp::List run) {
  return Rcpp::XPtr<HeldSlabs>(new HeldSlabs(task, run));
}

/// The density at indices first, ..., first + count - 1 of the last axis, counted from one.
// [[Rcpp::export]]
Rcpp::NumericVector slab_cpp(SEXP slabs, double first, double count, Rcpp::List run) {
  DensitySlabs& from = Rcpp::XPtr<HeldSlabs>(slabs)->slabs;
  const std::size_t slices = whole_number<std::size_t>(count), size = slices * from.points();
  Rcpp::NumericVector out = uninitialised(size);
  from.slab(whole_number<std::size_t>(first) - 1, slices, unpack_silent_run(run),
            {out.begin(), size});
  return out;
}

/// The place of slabs: the backend and, if it is one, the device.
// [[Rcpp::export]]
Rcpp::List slabs_place_cpp(SEXP slabs) {
  return place_list(Rcpp::XPtr<HeldSlabs>(slabs)->slabs.use());
}

/// Frees the memory of slabs: R's garbage collector does not know about that of a device and may
/// come late. No slab can be computed afterwards.
// [[Rcpp::export]]
void close_slabs_cpp(SEXP slabs) { Rcpp::XPtr<HeldSlabs>(slabs).release(); }
