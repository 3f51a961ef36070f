#include "core/plan/derivatives.hpp"

#include "core/base/error.hpp"
#include "core/data/pair_seconds.hpp"
#include "core/direct/derivatives.hpp"
#include "core/fgt/density.hpp"
#include "core/fgt/engine.hpp"
#include "core/fgt/line_sample.hpp"
#include "core/kernel/derivative.hpp"

namespace kestrel {

namespace {

/// A pair of direct_derivatives() on the line takes as long as this many pairs of direct_density(),
/// and more for each order (n = m = 20000, orders 0 to 4, AVX-512: 2.1, 2.2, 3.4, 3.0, 3.3).
constexpr double kMomentsOfPair = 2, kMomentsOfOrder = 0.4;

}  // namespace

std::string derivative_engine(const DensityTask& task, int order, const std::string& asked) {
  check_derivative(order);
  if (asked == "direct") return asked;
  const bool line = task.sample.d() == 1;
  if (asked == "fgt" && line) return asked;
  if (asked != "auto") {
    throw error(ErrorKind::input,
                "derivatives take the engine \"direct\" and, in one dimension, \"fgt\", not \"" +
                    asked + "\"");
  }
  if (!line) return "direct";
  const double n = task.samples(), m = task.points();
  const double pair =
      (kMomentsOfPair + kMomentsOfOrder * order) * pair_seconds(task.kernel, 1, task.lanes());
  const std::vector<double>& range = task.sample.ranges(task.how.parallel);
  const double spread = (range[1] - range[0]) / task.root[0];
  return n * m * pair < fgt_density_seconds(n, m, spread) ? "direct" : "fgt";
}

void density_derivatives(const DensityTask& task, int order, const std::string& engine,
                         const RunOptions& how, Span<double> out) {
  if (engine == "fgt") {
    fgt_density(line_sample(task.sample, how), task.at.line(), task.root[0], how, out, order);
  } else {
    direct_derivatives(task.sample.x(), task.sample.w(), task.at, task.root, order, how, out);
  }
}

}  // namespace kestrel
