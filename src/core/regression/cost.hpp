// What curves of cross-validation cost, for the choice of a device.
#ifndef KESTREL_CORE_REGRESSION_COST_HPP
#define KESTREL_CORE_REGRESSION_COST_HPP

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

/// The work of a curve.
struct RegressionWork {
  Kernel kernel;
  bool local_linear;
  /// Leave-one-out fits, one for each observation and bandwidth; with the Gaussian kernel, pairs
  /// that are summed.
  double fits;
};

/// Of n observations x at these bandwidths. O(n) for the Gaussian kernel, else O(1).
RegressionWork regression_work(Span<const double> x, Span<const double> bandwidth, Kernel kernel,
                               bool local_linear, const ParallelOptions& options);

/// Expected seconds on one thread, within a factor of two, which is enough to choose a device.
double regression_seconds(const RegressionWork& work);

}  // namespace kestrel

#endif
