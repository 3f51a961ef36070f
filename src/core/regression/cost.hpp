// What curves of cross-validation cost, for the choice of a device.
#ifndef KESTREL_CORE_REGRESSION_COST_HPP
#define KESTREL_CORE_REGRESSION_COST_HPP

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/regression/local_sums.hpp"

namespace kestrel {

/// The work of a curve.
struct RegressionWork {
  Kernel kernel;
  bool local_linear;
  /// Leave-one-out fits, one for each observation and bandwidth.
  double fits;
  /// gaussian_pairs(), where they decide.
  double pairs = 0;
};

/// Of n observations at these bandwidths. O(1).
RegressionWork regression_work(std::size_t n, Span<const double> bandwidth,
                               const LocalKernel& kernel);

/// Pairs that a GPU sums with the Gaussian kernel. O(n), for quartiles of x.
double gaussian_pairs(Span<const double> x, Span<const double> bandwidth,
                      const ParallelOptions& options);

/// Expected seconds on one thread, within a factor of two, which is enough to choose a device.
double regression_seconds(const RegressionWork& work);

}  // namespace kestrel

#endif
