#include "skeleton/engine.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/parallel.hpp"
#include "skeleton/costs.hpp"

namespace kestrel {

namespace {

/// Points of one work item. Items are of a fixed size, so that the bits of a result do not depend
/// on the number of threads.
constexpr std::size_t kPoints = 64;

std::string takes_skeleton() { return "the Gaussian kernel"; }

bool fits_skeleton(const KernelChoice& kernel, std::size_t, bool) {
  return !is_compact(kernel.kernel);
}

std::optional<DensityPlan> plan_skeleton(const DensityTask& task, bool, bool) {
  DensityPlan plan;
  plan.tolerance = std::min(task.tolerance, kEngineError);
  plan.bytes = 8 * task.points();
  plan.seconds = 1e-9 * kSkeletonPairNs * task.samples() * task.points();
  return plan;
}

/// |L^-1 t|^2 by forward substitution; t is overwritten.
double squared_norm(Span<const double> root, std::size_t d, std::vector<double>& t) {
  double sum = 0;
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l < k; ++l) t[k] -= root[l * d + k] * t[l];
    t[k] /= root[k * d + k];
    sum += t[k] * t[k];
  }
  return sum;
}

void run_skeleton(const DensityTask& task, const DensityPlan&, const RunOptions& how,
                  Span<double> out) {
  const MatrixView& x = task.sample.x();
  const std::size_t d = x.cols, items = (out.size + kPoints - 1) / kPoints;
  double scale = 1;
  for (std::size_t k = 0; k < d; ++k) scale /= std::sqrt(2 * M_PI) * task.root[k * d + k];
  parallel_for(items, how.parallel, [&](std::size_t item, int) {
    std::vector<double> point(d), t(d);
    const std::size_t end = std::min(out.size, (item + 1) * kPoints);
    for (std::size_t i = item * kPoints; i < end; ++i) {
      task.at.copy(i, point.data());
      double sum = 0;
      for (std::size_t j = 0; j < x.rows; ++j) {
        for (std::size_t k = 0; k < d; ++k) t[k] = point[k] - x(j, k);
        sum += task.sample.w()[j] * std::exp(-0.5 * squared_norm(task.root, d, t));
      }
      out[i] = scale * sum;
    }
  });
}

}  // namespace

const DensityEngine skeleton_engine{"skeleton",     "sums every pair in two plain loops",
                                    takes_skeleton, false,
                                    fits_skeleton,  plan_skeleton,
                                    run_skeleton};

}  // namespace kestrel
