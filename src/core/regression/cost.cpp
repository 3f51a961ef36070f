#include "core/regression/cost.hpp"

#include <algorithm>
#include <vector>

#include "core/data/quantiles.hpp"
#include "core/regression/costs.hpp"

namespace kestrel {

namespace {

/// Bandwidths beyond which terms of the Gaussian kernel are left out: exp(-9.6^2 / 2) is 1e-20.
constexpr double kGaussianTerms = 9.6;

/// Nanoseconds of a leave-one-out fit.
double nanoseconds(const RegressionWork& work) {
  if (!is_compact(work.kernel)) {
    return work.local_linear ? kGaussianLinearFitNs : kGaussianFitNs;
  }
  const double degree = kernel_degree(work.kernel);
  return work.local_linear ? kLinearFitNs + kLinearFitDegreeNs * degree
                           : kConstantFitNs + kConstantFitDegreeNs * degree;
}

}  // namespace

RegressionWork regression_work(std::size_t n, Span<const double> bandwidth,
                               const LocalKernel& kernel) {
  return {kernel.kernel, kernel.local_linear,
          static_cast<double>(n) * static_cast<double>(bandwidth.size)};
}

double gaussian_pairs(Span<const double> x, Span<const double> bandwidth,
                      const ParallelOptions& options) {
  const double n = static_cast<double>(x.size);
  const double quarters[] = {0.25, 0.75};
  const std::vector<double> at = quantiles(x, Weights(), {quarters, 2}, options);
  double share = 0;
  for (const double h : bandwidth) {
    share += std::min(1.0, 2 * kGaussianTerms * h / (at[1] - at[0]));
  }
  return n * n * share;
}

double regression_seconds(const RegressionWork& work) {
  return 1e-9 * work.fits * nanoseconds(work);
}

}  // namespace kestrel
