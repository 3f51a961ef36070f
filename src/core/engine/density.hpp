// What every engine for densities says of itself. core/plan/engines.cpp lists them.
//
// Seconds are on one thread. They order the engines and do not promise times. If the costs.hpp of
// an engine does not say otherwise, they were measured in 2026-11 on a 2.5 GHz Xeon with AVX-512
// (two shared cores of a virtual machine), as thread CPU time, the minimum of at least three runs:
// n = 100 to 1e6 normal samples, m = 100 and 400 points of a grid and m = n random ones, a range of
// 4, 30, 300, 3000 and 1e5 bandwidths, AVX-512 and scalars (the sets between up to n = 6400),
// kernels Gaussian, Epanechnikov and triweight.
#ifndef KESTREL_CORE_ENGINE_DENSITY_HPP
#define KESTREL_CORE_ENGINE_DENSITY_HPP

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/evaluation_points.hpp"
#include "core/data/sample.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

struct DensityEngine;

/// The error of an engine that has no smaller one, relative to the largest value.
constexpr double kEngineError = 1e-12;

/// The sums out[i] = sum_j w_j K_H(e_i - x_j) / divisor at points e, H = L L'. A view: all that it
/// refers to must outlive it.
struct DensityTask {
  const Sample& sample;
  const EvaluationPoints& at;
  KernelChoice kernel;
  Span<const double> root;  // L, d*d column-major, in the units of x
  double tolerance;         // the error asked for, relative to the largest value
  const RunOptions& how;    // for looks at the data; no progress is reported
  /// The lower limits of all variables and then the upper ones: values at points beyond them are to
  /// be added to others, so that only their error relative to the largest value counts. Or empty.
  Span<const double> within{};
  double divisor = 1.0;

  double samples() const { return static_cast<double>(sample.n()); }
  /// A double, because a grid may have more points than integers hold.
  double points() const;
  std::size_t lanes() const { return how.table->lanes; }
};

/// How an engine would compute a task.
struct DensityPlan {
  const DensityEngine* engine = nullptr;
  std::string reason;    // one clause for people
  double tolerance = 0;  // the error that the engine keeps, at most the one asked for
  /// Additional error by the rounding of coordinates, relative to the largest value.
  double rounding = 0;
  double bytes = 0;    // the memory that it needs, the result included
  double seconds = 0;  // expected on one thread of the machine that the constants were measured on
  std::shared_ptr<const void> made;  // what the engine has found about the data, for run()
};

struct DensityEngine {
  const char* name;
  const char* reason;      // how it sums, one clause for people
  std::string (*takes)();  // the tasks that it takes, for people
  bool linear;             // whether its time is proportional to samples and points
  /// Whether it takes a kernel in d variables, at any points or on a grid.
  bool (*fits)(const KernelChoice& kernel, std::size_t d, bool gridded);
  /// A plan for a task that fits, or nothing: if the engine does not take its grid, and, unless it
  /// is `asked` for by name, if it would break the tolerance, need too much memory or take longer
  /// than a linear engine, if one takes the task. May look at the data, and keep what it finds in
  /// the plan or the sample. Throws error(memory) if it is asked for and needs too much memory.
  std::optional<DensityPlan> (*plan)(const DensityTask& task, bool asked, bool linear_taken);
  /// Computes the task, whose plan this is.
  void (*run)(const DensityTask& task, const DensityPlan& plan, const RunOptions& how,
              Span<double> out);
};

}  // namespace kestrel

#endif
