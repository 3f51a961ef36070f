#include "core/plan/derivatives.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/data/pair_seconds.hpp"
#include "core/direct/derivatives.hpp"
#include "core/fgt/density.hpp"
#include "core/fgt/engine.hpp"
#include "core/fgt/line_sample.hpp"
#include "core/fourier/derivatives.hpp"
#include "core/fourier/engine.hpp"
#include "core/kernel/derivative.hpp"

namespace kestrel {

namespace {

/// A pair of direct_derivatives() takes as long as this many pairs of direct_density(), and more
/// for each monomial (d = 1, n = m = 20000, orders 0 to 4, AVX-512: 2.1, 2.2, 3.4, 3.0, 3.3).
constexpr double kMomentsOfPair = 2, kMomentsOfMonomial = 0.4;

/// Seconds on one thread.
double direct_derivative_seconds(const DensityTask& task, int order) {
  const std::size_t d = task.sample.d();
  const double monomials = static_cast<double>(Monomials(d, order).size());
  return task.samples() * task.points() * pair_seconds(task.kernel, d, task.lanes()) *
         (kMomentsOfPair + kMomentsOfMonomial * (monomials - 1));
}

/// If direct sums are faster than this, nothing else is looked at.
constexpr double kBriefSeconds = 1e-3;

DerivativePlan line_plan(const DensityTask& task, int order) {
  const std::vector<double>& range = task.sample.ranges(task.how.parallel);
  const double spread = (range[1] - range[0]) / task.root[0];
  const double cells = fgt_density_seconds(task.samples(), task.points(), spread);
  const double direct = direct_derivative_seconds(task, order);
  return {direct < cells ? "direct" : "fgt", nullptr, std::min(direct, cells)};
}

/// `asked`: whatever it costs.
DerivativePlan fourier_plan(const DensityTask& task, int order, bool asked) {
  const double direct = direct_derivative_seconds(task, order);
  if (!asked && direct < kBriefSeconds) return {"direct", nullptr, direct};
  const std::shared_ptr<const DataRange> extent = extent_of(task);
  const DensityLayout layout = lay_derivatives(*extent, kEngineError, order);
  const bool suits =
      layout.bytes <= kFourierBytes && layout.rounding <= kEngineError && layout.seconds < direct;
  if (asked || suits) return {"fourier", extent, layout.seconds};
  return {"direct", extent, direct};
}

}  // namespace

DerivativePlan plan_derivatives(const DensityTask& task, int order, const std::string& asked) {
  check_derivative(order);
  const std::size_t d = task.sample.d();
  if (asked == "fgt" && d == 1) return {asked, nullptr, line_plan(task, order).seconds};
  if (asked == "direct") return {asked, nullptr, direct_derivative_seconds(task, order)};
  const bool transforms = d == 2 || d == 3;
  if (asked == "fourier" && transforms) return fourier_plan(task, order, true);
  if (asked != "auto") {
    throw error(ErrorKind::input,
                "derivatives take the engine \"direct\", in one dimension \"fgt\", and in two and "
                "three \"fourier\", not \"" +
                    asked + "\"");
  }
  if (d == 1) return line_plan(task, order);
  if (transforms) return fourier_plan(task, order, false);
  return {"direct", nullptr, direct_derivative_seconds(task, order)};
}

void density_derivatives(const DensityTask& task, int order, const DerivativePlan& plan,
                         const RunOptions& how, Span<double> out) {
  const Sample& sample = task.sample;
  if (plan.engine == "fgt") {
    fgt_density(line_sample(sample, how), task.at.line(), task.root[0], how, out, order);
  } else if (plan.engine == "fourier") {
    fourier_derivatives(sample.x(), sample.w(), task.at, task.root, *plan.extent, order,
                        kEngineError, kFourierBytes, how, out);
  } else {
    direct_derivatives(sample.x(), sample.w(), task.at, task.root, order, how, out);
  }
}

}  // namespace kestrel
