// The points of a loop over mixed data, those with the same levels one after another.
#ifndef KESTREL_CORE_MIXED_MIXED_POINTS_HPP
#define KESTREL_CORE_MIXED_MIXED_POINTS_HPP

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/mixed/mixed_sample.hpp"

namespace kestrel {

/// Points of a work item, which have the same levels.
struct MixedItem {
  std::size_t cell, begin, end;
};

inline std::vector<MixedItem> mixed_items(const MixedSample& points) {
  constexpr std::size_t kPoints = 32;
  std::vector<MixedItem> items;
  for (std::size_t cell = 0; cell < points.cells(); ++cell) {
    const std::size_t end = points.first(cell + 1);
    for (std::size_t begin = points.first(cell); begin < end; begin += kPoints) {
      items.push_back({cell, begin, std::min(end, begin + kPoints)});
    }
  }
  return items;
}

/// The number of points of the largest item.
inline std::size_t most_points(const std::vector<MixedItem>& items) {
  std::size_t most = 0;
  for (const MixedItem& item : items) most = std::max(most, item.end - item.begin);
  return most;
}

/// Calls body(item, i, point, row) for every point, in order within an item, or for those with a
/// mark in `only` (see mixed_log_likelihood()). make() returns a pointer to what a worker needs,
/// which has start(codes, positions).
template <class Make, class Body>
void each_mixed_point(const MixedSample& points, const Make& make, const RunOptions& options,
                      const Body& body, Span<const char> only = {}) {
  const auto wanted = [&](std::size_t i) { return only.size == 0 || only[points.given(i)] != 0; };
  const std::vector<MixedItem> items = mixed_items(points);
  std::vector<decltype(make())> rows(parallel_workers(items.size(), options.parallel));
  parallel_for(items.size(), options.parallel, [&](std::size_t k, int worker) {
    auto& row = rows[static_cast<std::size_t>(worker)];
    if (row == nullptr) row = make();
    const MixedItem& item = items[k];
    std::size_t i = item.begin;
    while (i < item.end && !wanted(i)) ++i;
    if (i == item.end) return;
    row->start(points.codes(item.cell), points.positions(item.cell));
    std::vector<double> point(points.columns());
    for (; i < item.end; ++i) {
      poll_if_due({});
      if (!wanted(i)) continue;
      points.copy_row(i, point.data());
      body(k, i, point.data(), *row);
    }
  });
}

}  // namespace kestrel

#endif
