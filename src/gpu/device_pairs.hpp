// Direct sums over all pairs on a device, or on the CPU where that is faster or the device fails.
#ifndef KESTREL_GPU_DEVICE_PAIRS_HPP
#define KESTREL_GPU_DEVICE_PAIRS_HPP

#include <vector>

#include "core/criteria/direct_pairs.hpp"
#include "gpu/gpu_use.hpp"
#include "gpu/pair_cost.hpp"

namespace kestrel {

/// What the choice of a device needs to know: how many evaluations are expected, and the seconds of
/// the density at all samples by the engine "direct" on the CPU.
struct ExpectedWork {
  double evaluations, density_seconds;
};

/// DirectPairs with a device, which is chosen once, for all sums of this object: by settle() or
/// else by the first sum. Errors and costs of a device: gpu/pairs.hpp.
class DevicePairs : public DirectPairs {
 public:
  /// single: whether a device may compute in single precision. The rest as of DirectPairs.
  DevicePairs(const Sample& sample, Span<const double> axes, const SampleMean& mean, GpuUse use,
              bool single, const ExpectedWork& expected, const RunOptions& options);

  /// Chooses for all evaluations, of this work each, if nothing was chosen before.
  void settle(const PairWork& work);
  const GpuUse& place() const { return use_; }

 protected:
  LscvPairSums lscv_sums(Span<const double> root, bool moments, const RunOptions& options) override;
  GaussianPairSums gaussian_sums(Span<const double> root, bool moments,
                                 const RunOptions& options) override;
  PairCurve curve_sums(Span<const double> root, Span<const double> h,
                       const RunOptions& options) override;
  std::vector<double> moment_sums(double g, int order, const RunOptions& options) override;
  std::vector<double> laplacian_sums(Span<const double> g, int order,
                                     const RunOptions& options) override;

 private:
  GpuUse use_;
  const bool single_;
  const ExpectedWork expected_;
  bool settled_ = false;
};

}  // namespace kestrel

#endif
