#include "core/query/tree.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.hpp"
#include "core/data/kd_order.hpp"
#include "core/data/quantiles.hpp"
#include "simd/query/query.hpp"

namespace kestrel {

namespace {

/// The numbers of the rows with a weight.
std::vector<std::size_t> weighted_rows(const MatrixView& x, Weights w,
                                       const ParallelOptions& options) {
  std::vector<std::size_t> rows;
  serial_for(x.rows, options, [&](std::size_t i) {
    if (!(w[i] >= 0) || !std::isfinite(w[i])) {
      throw error(ErrorKind::input, "weights must be finite and not negative");
    }
    for (std::size_t k = 0; k < x.cols; ++k) {
      if (!std::isfinite(x(i, k))) throw error(ErrorKind::input, "samples must be finite");
    }
    if (w[i] > 0) rows.push_back(i);
  });
  if (rows.empty()) throw error(ErrorKind::input, "at least one weight must be positive");
  return rows;
}

/// Rows in blocks on all threads.
template <class Body>
void each_row(std::size_t rows, const ParallelOptions& options, const Body& body) {
  const std::size_t items = (rows + kPolledItems - 1) / kPolledItems;
  parallel_for(items, part_of(options, 0, 0), [&](std::size_t item, int) {
    const std::size_t end = std::min(rows, (item + 1) * kPolledItems);
    for (std::size_t i = item * kPolledItems; i < end; ++i) body(i);
  });
}

/// The order of the rows in a tree of their coordinates in bandwidths.
std::vector<std::size_t> ordered_rows(const MatrixView& x, Weights w, Span<const double> h,
                                      const ParallelOptions& options) {
  KdOrder points;
  points.order = weighted_rows(x, w, options);
  points.n = points.order.size();
  points.d = x.cols;
  points.leaf = kQueryLeaf;
  points.z = RawArray<double>(points.n * points.d);
  each_row(points.n, options, [&](std::size_t i) {
    for (std::size_t k = 0; k < x.cols; ++k) {
      points.z[k * points.n + i] = x(points.order[i], k) / h[k];
    }
  });
  sort_points(&points, options);
  return std::move(points.order);
}

}  // namespace

QueryTree::QueryTree(const MatrixView& x, Weights w, Span<const double> h, std::ptrdiff_t of,
                     const ParallelOptions& options)
    : d(x.cols) {
  const std::vector<std::size_t> order = ordered_rows(x, w, h, options);
  const std::size_t n = order.size();
  stride = n + simd::kQueryGroup;
  coordinate.assign(stride * d, 0.0);
  weight.assign(stride, 0.0);
  each_row(n, options, [&](std::size_t i) {
    weight[i] = w[order[i]];
    for (std::size_t k = 0; k < d; ++k) coordinate[k * stride + i] = x(order[i], k);
  });
  if (of >= 0) {
    const double* column = coordinate.data() + static_cast<std::size_t>(of) * stride;
    centre = median_of_every((n + 127) / 128, {column, n});
  }
  std::size_t span = kQueryLeaf;
  while (span < n) span *= 2;
  add_node(0, span, of, options);
}

void QueryTree::add_node(std::size_t begin, std::size_t span, std::ptrdiff_t of,
                         const ParallelOptions& options) {
  const std::size_t n = stride - simd::kQueryGroup;
  // Instead of a node with a single child, the child.
  while (span > kQueryLeaf && begin + span / 2 >= n) span /= 2;
  const std::size_t me = nodes.size();
  nodes.push_back({begin, std::min(n, begin + span), 0, {}});
  low.resize(low.size() + d);
  high.resize(high.size() + d);
  if (span == kQueryLeaf) {
    poll_if_due(options);
    measure_leaf(me, of);
    return;
  }
  add_node(begin, span / 2, of, options);
  const std::size_t second = nodes.size();
  add_node(begin + span / 2, span / 2, of, options);
  nodes[me].second = second;
  nodes[me].rows = nodes[me + 1].rows;
  nodes[me].rows.merge(nodes[second].rows);
  for (std::size_t k = 0; k < d; ++k) {
    low[me * d + k] = std::min(low[(me + 1) * d + k], low[second * d + k]);
    high[me * d + k] = std::max(high[(me + 1) * d + k], high[second * d + k]);
  }
}

void QueryTree::measure_leaf(std::size_t leaf, std::ptrdiff_t of) {
  const std::size_t begin = nodes[leaf].begin, end = nodes[leaf].end;
  for (std::size_t k = 0; k < d; ++k) {
    const double* x = coordinate.data() + k * stride;
    const auto range = std::minmax_element(x + begin, x + end);
    low[leaf * d + k] = *range.first;
    high[leaf * d + k] = *range.second;
  }
  for (std::size_t i = begin; i < end; ++i) {
    BoxMoments row;
    row.mass = weight[i];
    if (of >= 0) row.mean = coordinate[static_cast<std::size_t>(of) * stride + i] - centre;
    nodes[leaf].rows.merge(row);
  }
}

std::vector<std::size_t> QueryTree::cut(std::size_t rows) const {
  std::vector<std::size_t> parts;
  for (std::size_t node = 0; node < nodes.size();) {
    const bool small = nodes[node].second == 0 || nodes[node].end - nodes[node].begin <= rows;
    if (small) parts.push_back(node);
    if (!small) {
      ++node;
      continue;
    }
    // Skips to the next node that is no part of this one.
    const std::size_t end = nodes[node].end;
    while (node < nodes.size() && nodes[node].end <= end && nodes[node].begin < end) ++node;
  }
  return parts;
}

}  // namespace kestrel
