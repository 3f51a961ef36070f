#include "core/leave_one_out/squared_error.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/error.hpp"
#include "core/criteria/criteria.hpp"

namespace kestrel {

namespace {

/// Seconds on one thread (AVX-512, n = 1000 to 20000, d = 2): a pair within reach, a pair that is
/// left out with its leaf, and a cell of a new grid of `fourier`. The grid is as fine as the least
/// of the bandwidths needs, in units of the columns, or one of usual size, which it serves, too,
/// and as wide as the largest. It serves several evaluations.
constexpr double kPair = 2.2e-9, kPairOutOfReach = 1.2e-10, kCell = 3e-7;
constexpr double kCells = 1.5, kMargin = 18, kEvaluations = 10;
/// Bandwidths within reach, on both sides.
constexpr double kReach = 84;

bool grid_pays(const Sample& sample, Span<const double> h, Span<const double> unit,
               const RunOptions& options) {
  const std::vector<double>& range = sample.ranges(options.parallel);
  const double n = static_cast<double>(sample.n());
  double least = 0.25 * std::pow(n, -1.0 / static_cast<double>(4 + h.size)), largest = 0;
  for (std::size_t k = 0; k < h.size; ++k) {
    least = std::min(least, h[k] / unit[k]);
    largest = std::max(largest, h[k] / unit[k]);
  }
  double cells = 1, share = 1;
  for (std::size_t k = 0; k < h.size; ++k) {
    const double across = range[2 * k + 1] - range[2 * k];
    cells *= kCells * (across / unit[k] + kMargin * largest) / least;
    share *= std::min(1.0, kReach * h[k] / across);
  }
  return kCell * cells < kEvaluations * n * n * (kPair * share + kPairOutOfReach);
}

}  // namespace

LeaveOneOut squared_error(PairSums& pairs, const Sample& sample, const MixedSample& mixed,
                          Span<const double> h, Span<const double> unit, bool gradient,
                          const RunOptions& options) {
  const std::size_t d = h.size;
  const auto direct = [&]() -> LeaveOneOut {
    MixedKernel kernel;
    kernel.h.assign(h.data, h.data + d);
    return {mixed_squared_error(mixed, kernel, gradient, options), "direct"};
  };
  if (d > 1 && !grid_pays(sample, h, unit, options)) return direct();
  std::vector<double> H(d * d, 0.0);
  double volume = 1;
  for (std::size_t k = 0; k < d; ++k) {
    H[k * d + k] = h[k] / unit[k] * (h[k] / unit[k]);
    volume *= unit[k];
  }
  try {
    const SumWithGradient sum =
        lscv(pairs, {H.data(), H.size()}, LscvForm::unbiased, gradient, options);
    MixedCriterion found;
    found.value = sum.value / volume;
    for (std::size_t k = 0; k < d && gradient; ++k) {
      found.gradient.push_back(2 * H[k * d + k] * sum.gradient[k * d + k] / volume);
    }
    return {found, pairs.engine()};
  } catch (const error& problem) {
    if (problem.kind != ErrorKind::memory) throw;
    return direct();
  }
}

}  // namespace kestrel
