#include "core/regression/local_sums.hpp"

#include <algorithm>
#include <cmath>

#include "shared/local_fit.hpp"
#include "simd/sweep/sweep.hpp"

namespace kestrel {

namespace {

/// Points of one work item of the direct sums.
constexpr std::size_t kItem = 64;

/// For this many samples all pairs take one thread 7 ms with AVX-512, and tens of milliseconds with
/// scalars.
constexpr std::size_t kBriefGaussian = 2000;

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
  if (own < window.end) return nearest_neighbour(x, window.first, window.end, own);
  const double* right = std::lower_bound(begin, end, point);
  const double left = right > begin ? point - right[-1] : HUGE_VAL;
  return std::min(left, right < end ? *right - point : HUGE_VAL);
}

/// The sums of one block of points with the Gaussian kernel.
class GaussianBlock {
 public:
  void sum(const SortedSample& sample, const SortedSample& points, const LocalKernel& kernel,
           int power, double cut, const simd::SweepTable& table, std::size_t item) {
    const std::size_t n = sample.size(), begin = item * kItem;
    const bool leave_one_out = &sample == &points;
    block_ = {begin, std::min(points.size() - begin, kItem), item, sum_, 2, kItem, first_, end_};
    for (std::size_t i = 0; i < block_.count; ++i) {
      poll_if_due({});  // a window may hold all of the sample
      const std::size_t own = leave_one_out ? begin + i : n;
      const double e = points.x()[begin + i];
      const Window seen = window_of(sample.x(), n, e, kGaussianReach * kernel.h);
      first_[i] = static_cast<std::uint32_t>(seen.first);
      end_[i] = static_cast<std::uint32_t>(seen.end);
      const double nearest = nearest_distance(sample.x(), seen, e, own) / kernel.h;
      scale_[i] = std::exp(-0.5 * power * nearest * nearest);
      simd::GaussianWindow window{sample.x(),
                                  sample.w(),
                                  sample.y(),
                                  e,
                                  points.y()[begin + i],
                                  1 / kernel.h,
                                  nearest,
                                  kernel.slope * kernel.h,
                                  power,
                                  {}};
      if (std::isfinite(nearest)) {  // fl(38 h) may be more than 38 h
        const Window used =
            window_of(sample.x(), n, e, gaussian_reach(nearest, cut, kGaussianReach, kernel.h));
        table.gaussian_window(window, used.first, leave_one_out ? own : used.end);
        if (leave_one_out) table.gaussian_window(window, own + 1, used.end);
      }
      for (std::size_t k = 0; k < 5; ++k) sum_[k * kItem + i] = window.sum[k];
    }
  }

  LocalSums sums() const { return {block_, scale_}; }

 private:
  SweepBlock block_;
  double sum_[6 * kItem] = {}, scale_[kItem];
  std::uint32_t first_[kItem], end_[kItem];
};

void gaussian_sums(const SortedSample& sample, const SortedSample& points,
                   const LocalKernel& kernel, int power, const RunOptions& options,
                   const LocalTake& take) {
  const double cut = gaussian_cut(sample.w(), sample.size());
  const std::size_t items = (points.size() + kItem - 1) / kItem;
  parallel_for(items, options.parallel, [&](std::size_t item, int worker) {
    GaussianBlock block;
    block.sum(sample, points, kernel, power, cut, *options.table->sweep, item);
    take(block.sums(), worker);
  });
}

}  // namespace

double gaussian_cut(const double* w, std::size_t n) {
  const auto range = std::minmax_element(w, w + n);
  const double ratio = *range.second / *range.first;
  return 92.2 + 2 * std::log(std::isfinite(ratio) ? ratio : 1e308);
}

void local_sums(const SortedSample& sample, const SortedSample& points, const LocalKernel& kernel,
                int power, Anchors anchors, const RunOptions& options, const LocalTake& take) {
  if (kernel.kernel == Kernel::gaussian) {
    gaussian_sums(sample, points, kernel, power, options, take);
    return;
  }
  const SweepKernel window = kernel.local_linear
                                 ? window_moments(kernel.kernel, kernel.h, power)
                                 : window_sum(kernel.kernel, kernel.h, power, anchors);
  sweep_sums(sample, points, window, {power == 1 ? 2 : 1, kernel.slope}, SweepSide::both, options,
             [&](const SweepBlock& block, int worker) {
               take({block, nullptr}, worker);
             });
}

bool local_sums_are_brief(Kernel kernel, std::size_t n) {
  return n <= (kernel == Kernel::gaussian ? kBriefGaussian : kBriefSweep);
}

std::size_t local_slots(const SortedSample& sample, const SortedSample& points) {
  return std::max(sweep_slots(sample, points), points.size() / kItem + 1);
}

}  // namespace kestrel
