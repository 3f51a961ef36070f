#include "core/regression/local_sums.hpp"

#include <algorithm>

#include "core/regression/gaussian_sums.hpp"

namespace kestrel {

namespace {

/// For this many samples sums at one bandwidth take one thread some milliseconds, and tens of them
/// where each sample has a fit of its own.
constexpr std::size_t kBriefGaussian = 1000000;

}  // namespace

void local_sums(const LocalSource& source, const SortedSample& points, const LocalKernel& kernel,
                int power, Anchors anchors, const RunOptions& options, const LocalTake& take) {
  if (kernel.gaussian()) {
    gaussian_sums(source, points, kernel, power, options, take);
    return;
  }
  const SweepKernel window = kernel.local_linear
                                 ? window_moments(kernel.kernel, kernel.h, power)
                                 : window_sum(kernel.kernel, kernel.h, power, anchors);
  sweep_sums(source.sample(), points, window, {power == 1 ? 2 : 1, kernel.slope}, SweepSide::both,
             options, [&](const SweepBlock& block, int worker) {
               take({block, nullptr}, worker);
             });
}

bool local_sums_are_brief(Kernel kernel, std::size_t n) {
  return n <= (kernel == Kernel::gaussian ? kBriefGaussian : kBriefSweep);
}

std::size_t local_slots(const SortedSample& sample, const SortedSample& points) {
  return std::max(sweep_slots(sample, points), points.size() / kLeastBlock + 1);
}

}  // namespace kestrel
