#include "core/local_sums.hpp"

#include <algorithm>
#include <cmath>

#include "simd/sweep.hpp"

namespace kestrel {

namespace {

/// Points of one work item of the direct sums.
constexpr std::size_t kItem = 64;

/// Terms below 1e-20 of the nearest one are left out, whatever their weights: those with u^2 above
/// u_nearest^2 + 2 log(1e20 most / least weight).
double negligible(const double* w, std::size_t n) {
  const auto range = std::minmax_element(w, w + n);
  const double ratio = *range.second / *range.first;
  return 92.2 + 2 * std::log(std::isfinite(ratio) ? ratio : 1e308);
}

struct Window {
  std::size_t first, end;
};

/// Samples with fl(|point - x|) < reach.
Window window_of(const double* x, std::size_t n, double point, double reach) {
  const double* first =
      std::partition_point(x, x + n, [&](double v) { return v < point && point - v >= reach; });
  const double* end =
      std::partition_point(first, x + n, [&](double v) { return v <= point || v - point < reach; });
  return {static_cast<std::size_t>(first - x), static_cast<std::size_t>(end - x)};
}

double nearest_distance(const double* x, Window window, double point, std::size_t own) {
  const double* begin = x + window.first;
  const double* end = x + window.end;
  if (own < window.end) {
    const double left = own > window.first ? point - x[own - 1] : HUGE_VAL;
    return std::min(left, own + 1 < window.end ? x[own + 1] - point : HUGE_VAL);
  }
  const double* right = std::lower_bound(begin, end, point);
  const double left = right > begin ? point - right[-1] : HUGE_VAL;
  return std::min(left, right < end ? *right - point : HUGE_VAL);
}

}  // namespace

void LocalSums::compute(const SortedSample& sample, const SortedSample& points,
                        const LocalKernel& kernel, int power, Anchors anchors,
                        const RunOptions& options) {
  if (kernel.kernel == Kernel::gaussian) {
    gaussian(sample, points, kernel, power, options);
    return;
  }
  const SweepKernel window = kernel.local_linear
                                 ? window_moments(kernel.kernel, kernel.h, power)
                                 : window_sum(kernel.kernel, kernel.h, power, anchors);
  // No leaf takes two columns of the highest degree; only sums of K^2 have it, and those need no y.
  const int columns = window.degree() == simd::kSweepHighestDegree ? 1 : 2;
  sweep_sums(sample, points, window, columns, SweepSide::both, options, sums_);
  scale_.clear();
}

void LocalSums::gaussian(const SortedSample& sample, const SortedSample& points,
                         const LocalKernel& kernel, int power, const RunOptions& options) {
  const std::size_t n = sample.size(), m = points.size();
  const bool leave_one_out = &sample == &points;
  const SortedSample::Side x = sample.ascending(), e = points.ascending();
  sums_.points = m;
  sums_.columns = 2;
  sums_.sum.assign(6 * m, 0.0);
  sums_.first.resize(m);
  sums_.end.resize(m);
  scale_.resize(m);
  const double cut = negligible(x.w, n);
  parallel_for((m + kItem - 1) / kItem, options.parallel, [&](std::size_t item, int) {
    for (std::size_t i = item * kItem; i < std::min(m, (item + 1) * kItem); ++i) {
      const std::size_t own = leave_one_out ? i : n;
      const Window seen = window_of(x.x, n, e.x[i], kGaussianReach * kernel.h);
      sums_.first[i] = static_cast<std::uint32_t>(seen.first);
      sums_.end[i] = static_cast<std::uint32_t>(seen.end);
      const double nearest = nearest_distance(x.x, seen, e.x[i], own) / kernel.h;
      scale_[i] = std::exp(-0.5 * power * nearest * nearest);
      if (!(nearest < kGaussianReach)) continue;
      const double reach = kernel.h * std::sqrt(nearest * nearest + cut);
      const Window used = window_of(x.x, n, e.x[i], std::min(reach, kGaussianReach * kernel.h));
      simd::GaussianWindow window{x.x, x.w, x.y, e.x[i], e.y[i], 1 / kernel.h, nearest, power, {}};
      const std::size_t end_of_left = leave_one_out ? i : used.end;
      options.table->sweep->gaussian_window(window, used.first, end_of_left);
      if (leave_one_out) options.table->sweep->gaussian_window(window, i + 1, used.end);
      for (std::size_t k = 0; k < 5; ++k) sums_.sum[k * m + i] = window.sum[k];
    }
  });
}

}  // namespace kestrel
