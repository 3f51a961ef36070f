#include "gpu/regression_call.hpp"

#include <algorithm>

#include "core/regression/cost.hpp"
#include "gpu/cost.hpp"
#include "gpu/regression.hpp"

namespace kestrel {

const LocalRegression& RegressionCall::sorted() {
  if (sorted_ == nullptr) sorted_ = std::make_unique<const LocalRegression>(sample_, options_);
  return *sorted_;
}

void RegressionCall::choose(GpuUse use, Span<const double> bandwidth, const LocalKernel& kernel,
                            const RunOptions& options) {
  use_ = std::move(use);
  if (use_.asked() == Backend::cpu) return;
  if (kernel.nearest() && use_.asked() == Backend::automatic) {
    use_ = GpuUse(Backend::cpu, {});
    return;
  }
  RegressionWork work = regression_work(sample_.x.size, bandwidth, kernel);
  use_.choose(regression_seconds(work) / std::max(1, options.parallel.threads),
              [&](const kestrel_gpu_device& device) {
                if (kernel.gaussian()) {
                  work.pairs = gaussian_pairs(sample_.x, bandwidth, options.parallel);
                }
                return gpu_regression_seconds(work, static_cast<double>(sample_.x.size), device);
              });
}

CrossValidation RegressionCall::cross_validate(Span<const double> bandwidth,
                                               const LocalKernel& kernel,
                                               const RunOptions& options) {
  return use_.sums(
      [&] {
        if (kernel.nearest()) {
          throw gpu_error(GpuProblem::unsuited, "the bandwidth must be fixed");
        }
        if (kernel.order > 2) {
          throw gpu_error(GpuProblem::unsuited, "the kernel must be of order 2");
        }
        return gpu_cross_validate(sample_, bandwidth, kernel.kernel, kernel.local_linear, options);
      },
      [&] { return sorted().cross_validate(bandwidth, kernel, options); });
}

}  // namespace kestrel
