#include "core/kdtree/engine.hpp"

#include <algorithm>
#include <cmath>

#include "core/data/pair_seconds.hpp"
#include "core/data/passes.hpp"
#include "core/kdtree/costs.hpp"
#include "core/kdtree/kdtree.hpp"
#include "core/kdtree/reach.hpp"

namespace kestrel {

namespace {

std::string takes_kdtree() { return "the compact kernels"; }

bool fits_kdtree(const KernelChoice& kernel, std::size_t, bool) {
  return is_compact(kernel.kernel);
}

/// Memory: the result, the order and blocks of the points, the samples in order with their weights
/// and, at most half as much, the boxes and moments of nodes.
std::optional<DensityPlan> plan_kdtree(const DensityTask& task, bool asked, bool linear_taken) {
  // No trees come near an engine whose time is proportional to samples and points.
  if (!asked && linear_taken) return {};
  const double n = task.samples(), m = task.points();
  const std::size_t d = task.sample.d();
  const double share =
      asked ? 1 : share_of_pairs(task.sample.x(), task.at, task.kernel, task.root, task.how);
  DensityPlan plan;
  plan.tolerance = std::min(task.tolerance, kEngineError);
  plan.bytes = 8 * m * (2 + static_cast<double>(d)) + 12 * (static_cast<double>(d) + 1) * n;
  plan.seconds = kdtree_seconds(task.kernel, d, n, m, share, task.lanes());
  return plan;
}

void run_kdtree(const DensityTask& task, const DensityPlan&, const RunOptions& how,
                Span<double> out) {
  kdtree_density(task.sample.x(), task.sample.w(), task.at, task.kernel, task.root, how, out);
  divide(out, task.divisor, task.how.parallel);
}

}  // namespace

double kdtree_seconds(const KernelChoice& kernel, std::size_t d, double n, double m, double share,
                      std::size_t lanes) {
  const auto order = [](double count, double leaf) {
    return 1e-9 * kTreeLevelNs * count * std::log2(2 + count / leaf);
  };
  return order(n, kTreeLeaf) + order(m, kTreeBlock) + 1e-9 * kTreeBlockNs * (m / kTreeBlock + 1) +
         kTreePairFactor * share * n * m * pair_seconds(kernel, d, lanes);
}

const DensityEngine kdtree_engine{
    "kdtree",     "sums the pairs in reach, of trees of samples and points",
    takes_kdtree, false,
    fits_kdtree,  plan_kdtree,
    run_kdtree};

}  // namespace kestrel
