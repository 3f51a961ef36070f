#include "core/scanline/variable_samples.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/parallel_sort.hpp"

namespace kestrel {

namespace {

/// Weights in a range sum up to less than 2^kRangeRoom units. Coefficients of one sample are then
/// below 2^126, as WideInteger wants them.
constexpr int kRangeRoom = 122;
/// Slack for rounding, in steps.
constexpr double kNearMargin = 1e-6;

}  // namespace

VariableSamples::VariableSamples(const VariableGeometry& geometry, const MatrixView& x, Weights w,
                                 Span<const double> h, const ParallelOptions& options)
    : geometry_(geometry) {
  locate(x, w, h, options);
  make_ranges();
}

void VariableSamples::locate(const MatrixView& x, Weights w, Span<const double> h,
                             const ParallelOptions& options) {
  const ScanlineGeometry& grid = geometry_.grid;
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < x.rows; ++i) {
    if (i % kPolledItems == 0) poll_if_due(options);
    if (w[i] == 0) continue;
    bool near = true;
    double base = 0;
    for (std::size_t a = geometry_.first; a < grid.axes() && near; ++a) {
      const unfused::GridIndex at = unfused::grid_index_of(grid.leaf_axis(a), x(i, grid.user(a)));
      const double beyond = h[i] * geometry_.per_width[a] * (1 + 1e-9) + kNearMargin;
      near = at.index >= -beyond && at.index <= geometry_.count(a) - 1 + beyond;
      if (a == geometry_.first) base = at.base;
    }
    // Bases are below 2^28 in absolute value: the sum is exact.
    if (near) order.emplace_back(0x1p30 * bandwidth_range(h[i]) + base, i);
  }
  parallel_sort(&order, part_of(options, 0, 0.8));
  samples_.resize(order.size());
  const std::size_t items = (order.size() + kPolledItems - 1) / kPolledItems;
  parallel_for(items, part_of(options, 0.8, 1), [&](std::size_t item, int) {
    const std::size_t end = std::min(order.size(), (item + 1) * kPolledItems);
    for (std::size_t to = item * kPolledItems; to < end; ++to) {
      const std::size_t i = order[to].second;
      LocatedSample& sample = samples_[to];
      for (std::size_t a = geometry_.first; a < grid.axes(); ++a) {
        sample.x[a] = x(i, grid.user(a));
        const unfused::GridIndex at = unfused::grid_index_of(grid.leaf_axis(a), sample.x[a]);
        sample.base[a] = at.base;
        sample.part[a] = at.part;
      }
      sample.h = h[i];
      sample.weight = w[i];
    }
  });
}

void VariableSamples::make_ranges() {
  for (std::size_t begin = 0, end = 0; begin < samples_.size(); begin = end) {
    BandwidthRange range{};
    range.range = bandwidth_range(samples_[begin].h);
    while (end < samples_.size() && bandwidth_range(samples_[end].h) == range.range) ++end;
    range.begin = begin;
    range.end = end;
    range.widest = std::ldexp(1.0, range.range + 1);
    range.largest = 0;
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      range.largest = std::max(range.largest, samples_[i].weight);
    }
    for (std::size_t i = begin; i < end; ++i) sum += samples_[i].weight / range.largest;
    range.unit = kRangeRoom - 1 - std::ilogb(sum);
    ranges_.push_back(range);
  }
}

Span<const LocatedSample> VariableSamples::near(const BandwidthRange& range, std::size_t first,
                                                std::size_t last) const {
  const std::size_t axis = geometry_.first;
  const double beyond = range.widest * geometry_.per_width[axis] + 1;
  // Farther away than kScanlineFarthest all samples have one base.
  const double low = std::max(static_cast<double>(first) - beyond, -simd::kScanlineFarthest);
  const double high = std::min(static_cast<double>(last) + beyond, simd::kScanlineFarthest);
  const LocatedSample* begin =
      std::partition_point(samples_.data() + range.begin, samples_.data() + range.end,
                           [&](const LocatedSample& one) { return one.base[axis] < low; });
  const LocatedSample* end =
      std::partition_point(begin, samples_.data() + range.end,
                           [&](const LocatedSample& one) { return one.base[axis] <= high; });
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace kestrel
