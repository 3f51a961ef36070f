// Derivatives of Gaussian kernel sums: the engine is chosen, and computes them.
#ifndef KESTREL_CORE_PLAN_DERIVATIVES_HPP
#define KESTREL_CORE_PLAN_DERIVATIVES_HPP

#include <memory>
#include <string>

#include "core/engine/density.hpp"
#include "core/fourier/layout.hpp"

namespace kestrel {

struct DerivativePlan {
  std::string engine;
  std::shared_ptr<const DataRange> extent;  // for "fourier"
  double seconds = 0;                       // expected on one thread
};

/// The engine for the derivatives of a task by the Gaussian kernel: `asked`, or with "auto" the one
/// that is expected to take less time on one thread, so that results do not depend on the number
/// of threads. "direct" takes every task, "fgt" those in one dimension, and "fourier" those in two
/// and three. Throws error(input) for another engine, and for an order that is not 0 to
/// kHighestDerivative. O(n + m).
DerivativePlan plan_derivatives(const DensityTask& task, int order, const std::string& asked);

/// out: as for direct_derivatives(), fgt_density() and fourier_derivatives(). The task has no
/// kernel but the Gaussian one.
void density_derivatives(const DensityTask& task, int order, const DerivativePlan& plan,
                         const RunOptions& how, Span<double> out);

}  // namespace kestrel

#endif
