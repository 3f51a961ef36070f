#include "gpu/device_pairs.hpp"

#include <utility>

#include "gpu/pairs.hpp"

namespace kestrel {

DevicePairs::DevicePairs(const Sample& sample, Span<const double> axes, const SampleMean& mean,
                         GpuUse use, bool single, const ExpectedWork& expected,
                         const RunOptions& options)
    : DirectPairs(sample, axes, mean, options),
      use_(std::move(use)),
      single_(single),
      expected_(expected) {}

void DevicePairs::settle(const PairWork& work) {
  if (settled_) return;
  settled_ = true;
  const double cpu = work.cpu * expected_.density_seconds;
  use_.choose(expected_.evaluations * cpu, [&](const kestrel_gpu_device& device) {
    return expected_.evaluations *
           pair_seconds_on(device, work, static_cast<double>(x().rows), single_);
  });
}

LscvPairSums DevicePairs::lscv_sums(Span<const double> root, bool moments,
                                    const RunOptions& options) {
  settle(gradient_work(d()));
  return use_.sums([&] { return gpu_lscv(x(), w(), root, moments, options); },
                   [&] { return DirectPairs::lscv_sums(root, moments, options); });
}

/// A device computes the sums of K * K along with these.
GaussianPairSums DevicePairs::gaussian_sums(Span<const double> root, bool moments,
                                            const RunOptions& options) {
  settle(gradient_work(d()));
  return use_.sums([&] { return gpu_lscv(x(), w(), root, moments, options).kernel; },
                   [&] { return DirectPairs::gaussian_sums(root, moments, options); });
}

PairCurve DevicePairs::curve_sums(Span<const double> root, Span<const double> h,
                                  const RunOptions& options) {
  settle(curve_work(d(), h.size));
  return use_.sums([&] { return gpu_lscv_curve(x(), w(), root, h, single_, options); },
                   [&] { return DirectPairs::curve_sums(root, h, options); });
}

std::vector<double> DevicePairs::moment_sums(double g, int order, const RunOptions& options) {
  settle(monomial_work(d(), order));
  return use_.sums([&] { return gpu_pair_moments(x(), w(), g, order, options); },
                   [&] { return DirectPairs::moment_sums(g, order, options); });
}

std::vector<double> DevicePairs::laplacian_sums(Span<const double> g, int order,
                                                const RunOptions& options) {
  settle(laplacian_work(d()));
  const auto on_device = [&] {
    // On a line one pass over all pairs serves 16 bandwidths of the kernel itself.
    const double one = 1;
    if (order == 0 && d() == 1 && g.size > 1) {
      return gpu_lscv_curve(x(), w(), {&one, 1}, g, single_, options).kernel;
    }
    std::vector<double> out;
    for (const double each : g) {
      out.push_back(gpu_pair_laplacian(x(), w(), each, order, single_, options));
    }
    return out;
  };
  return use_.sums(on_device, [&] { return DirectPairs::laplacian_sums(g, order, options); });
}

}  // namespace kestrel
