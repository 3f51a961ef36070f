// Derivatives of Gaussian kernel sums: the engine is chosen, and computes them.
#ifndef KESTREL_CORE_PLAN_DERIVATIVES_HPP
#define KESTREL_CORE_PLAN_DERIVATIVES_HPP

#include <string>

#include "core/engine/density.hpp"

namespace kestrel {

/// The engine for the derivatives of a task by the Gaussian kernel: `asked`, or with "auto" the one
/// that is expected to take less time on one thread, so that results do not depend on the number
/// of threads. "direct" takes every task, and "fgt" those in one dimension. Throws error(input) for
/// another engine, and for an order that is not 0 to kHighestDerivative. O(1), and the range of the
/// data.
std::string derivative_engine(const DensityTask& task, int order, const std::string& asked);

/// out: as for direct_derivatives() and fgt_density(). The task has no kernel but the Gaussian one.
void density_derivatives(const DensityTask& task, int order, const std::string& engine,
                         const RunOptions& how, Span<double> out);

}  // namespace kestrel

#endif
