// Kernel densities of mixed data on the device.
#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/parallel.hpp"
#include "core/mixed/density_parts.hpp"
#include "core/mixed/mixed_points.hpp"
#include "gpu/mixed_device.hpp"

namespace kestrel {

namespace {

/// The sums of shares at all points: the sum of the weights at point i and, if they were asked for,
/// its derivatives by each parameter.
class MixedShares {
 public:
  MixedShares(std::size_t points, std::size_t parameters, bool gradient)
      : points_(points), sum_(room_for((gradient ? 1 + parameters : 2) * points)) {}
  double* to() { return sum_.get(); }
  double sum(std::size_t i) const { return sum_[i]; }
  double by(std::size_t i, std::size_t k) const { return sum_[(1 + k) * points_ + i]; }
  double log(std::size_t i) const { return sum(i) > 0 ? std::log(sum(i)) : -HUGE_VAL; }

 private:
  std::size_t points_;
  std::unique_ptr<double[]> sum_;
};

/// Without derivatives the moments have the sum, too.
int shares_task(bool gradient) {
  return gradient ? KESTREL_GPU_mixed_shares : KESTREL_GPU_mixed_moments;
}

/// Adds body(i, sums) of all observations, in an order that does not depend on the threads.
template <class Body>
MixedCriterion sum_over(const MixedSample& sample, std::size_t parameters,
                        const RunOptions& options, const Body& body) {
  const std::vector<MixedItem> items = mixed_items(sample);
  std::vector<MixedSums> parts(items.size());
  parallel_for(items.size(), options.parallel, [&](std::size_t k, int) {
    parts[k].by.resize(parameters);
    for (std::size_t i = items[k].begin; i < items[k].end; ++i) body(i, parts[k]);
  });
  return mean_of(parts, parameters, 1.0);
}

}  // namespace

MixedCriterion GpuMixed::log_likelihood(const MixedKernel& kernel, const MixedGiven& given,
                                        bool gradient, const RunOptions& options) {
  const DensityKernels kernels(sample_, kernel, given);
  if (!takes(kernel, options.parallel)) {
    return mixed_log_likelihood(sample_, kernel, given, gradient, options);
  }
  const std::size_t n = sample_.size(), parameters = given.size();
  const auto shares_of = [&](const MixedKernel& of) {
    MixedShares shares(n, parameters, gradient);
    sums(OnDevice(sample_, sample_, of, false, ++kernels_), shares_task(gradient), nullptr,
         shares.to(), options);
    return shares;
  };
  const MixedShares whole = shares_of(kernels.whole);
  const MixedShares below =
      kernels.conditional ? shares_of(kernels.below) : MixedShares(0, 0, false);
  // Other kernels do not underflow, and then the CPU would find the same.
  const bool gaussian = kernel.continuous == Kernel::gaussian;
  const auto good = [&](std::size_t i) {
    if (!gaussian) return true;
    return std::fabs(whole.sum(i)) >= kLeastMixedSum &&
           (!kernels.conditional || std::fabs(below.sum(i)) >= kLeastMixedSum);
  };
  const LikelihoodTerms terms(sample_, kernels, given);
  MixedCriterion found =
      sum_over(sample_, gradient ? parameters : 0, options, [&](std::size_t i, MixedSums& to) {
        if (!good(i)) return;
        terms.add(
            whole.log(i), kernels.conditional ? below.log(i) : 0.0,
            [&](std::size_t k) { return whole.by(i, k) / whole.sum(i); },
            [&](std::size_t k) { return below.by(i, k) / below.sum(i); }, to);
      });
  const std::vector<char> left = left_to_cpu(sample_, good);
  if (left.empty()) return found;
  const MixedCriterion rest =
      mixed_log_likelihood(sample_, kernel, given, gradient, options, {left.data(), left.size()});
  found.value += rest.value;
  found.unsupported += rest.unsupported;
  for (std::size_t k = 0; k < found.gradient.size(); ++k) found.gradient[k] += rest.gradient[k];
  return found;
}

MixedCriterion GpuMixed::squared_error(const MixedKernel& kernel, bool gradient,
                                       const RunOptions& options) {
  const SquaredErrorKernels kernels(sample_, kernel);
  if (!takes(kernel, options.parallel)) {
    return mixed_squared_error(sample_, kernel, gradient, options);
  }
  const std::size_t n = sample_.size(), parameters = kernel.h.size() + kernel.lambda.size();
  MixedShares twice(n, parameters, gradient), once(n, parameters, gradient);
  const int task = shares_task(gradient);
  sums(OnDevice(sample_, sample_, kernels.twice, true, ++kernels_), task, nullptr, twice.to(),
       options);
  sums(OnDevice(sample_, sample_, kernels.once, false, ++kernels_), task, nullptr, once.to(),
       options);
  return sum_over(sample_, gradient ? parameters : 0, options, [&](std::size_t i, MixedSums& to) {
    const auto add = [&](double factor, const MixedShares& of) {
      kernels.add(
          factor, of.sum(i), [&](std::size_t k) { return of.by(i, k); }, to);
    };
    add(kernels.with, twice);
    add(kernels.without, once);
  });
}

MixedDensities GpuMixed::densities(const MixedKernel& kernel, const RunOptions& options) {
  const MixedGiven none(kernel.h.size() + kernel.lambda.size(), false);
  const MixedSample& points = at();
  const DensityKernels kernels(sample_, kernel, none);
  if (!takes(kernel, options.parallel)) {
    return mixed_densities(sample_, points, kernel, none, false, options);
  }
  const std::size_t m = points.size();
  const double n = static_cast<double>(sample_.size());
  const OnDevice on_device(sample_, points, kernels.whole, true, ++kernels_);
  MixedShares sum(m, 0, false);
  sums(on_device, KESTREL_GPU_mixed_moments, nullptr, sum.to(), options);
  // The squares of the kernels minus their mean.
  std::vector<double> given(2 * m, 1.0), squares(m);
  for (std::size_t i = 0; i < m; ++i) given[i] = sum.sum(i) / n;
  sums(on_device, KESTREL_GPU_mixed_squares, given.data(), squares.data(), options);
  const auto good = [&](std::size_t i) {
    return !on_device.gaussian() || std::fabs(sum.sum(i)) >= kLeastMixedSum;
  };
  const std::vector<char> left = left_to_cpu(points, good);
  MixedDensities found;
  found.density.resize(m);
  found.variance.resize(m);
  if (!left.empty()) {
    found =
        mixed_densities(sample_, points, kernel, none, false, options, {left.data(), left.size()});
  }
  const double scale = std::exp(log_density_scale(kernels.whole, none));
  for (std::size_t i = 0; i < m; ++i) {
    if (!good(i)) continue;
    const std::size_t to = points.given(i);
    found.density[to] = scale * given[i];
    found.variance[to] = scale * scale / (n * (n - 1)) * squares[i];
  }
  return found;
}

}  // namespace kestrel
