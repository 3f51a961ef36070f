#include "core/query/tree.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "simd/query/query.hpp"

namespace kestrel {

namespace {

/// A node of this many rows takes long enough, a few milliseconds, to poll before it is split.
constexpr std::size_t kPolledRows = std::size_t{1} << 16;

}  // namespace

/// Data that only building needs.
struct QueryTree::Build {
  const MatrixView& x;
  Weights w, h;
  std::ptrdiff_t of;
  const Poll& poll;
  QueryTree& tree;
  std::vector<std::size_t> order;

  double at(std::size_t i, std::size_t k) const { return x(order[i], k); }
  void keep_rows();
  void sort_by(std::size_t begin, std::size_t middle, std::size_t end, std::size_t k);
  std::size_t measure(std::size_t begin, std::size_t end);
  void split(std::size_t begin, std::size_t end);
  BoxMoments leaf_rows(std::size_t begin, std::size_t end) const;
  void store();
};

void QueryTree::Build::keep_rows() {
  serial_for(x.rows, {1, poll}, [&](std::size_t i) {
    if (!(w[i] >= 0) || !std::isfinite(w[i])) {
      throw error(ErrorKind::input, "weights must be finite and not negative");
    }
    for (std::size_t k = 0; k < x.cols; ++k) {
      if (!std::isfinite(x(i, k))) throw error(ErrorKind::input, "samples must be finite");
    }
    if (w[i] > 0) order.push_back(i);
  });
  if (order.empty()) throw error(ErrorKind::input, "at least one weight must be positive");
}

/// Partitions rows [begin, end) so that those before `middle` are not above the others in variable
/// k. Ties are broken by row number, so that the result is unique.
void QueryTree::Build::sort_by(std::size_t begin, std::size_t middle, std::size_t end,
                               std::size_t k) {
  const auto place = [this](std::size_t i) {
    return order.begin() + static_cast<std::ptrdiff_t>(i);
  };
  std::nth_element(place(begin), place(middle), place(end), [&](std::size_t a, std::size_t b) {
    return x(a, k) != x(b, k) ? x(a, k) < x(b, k) : a < b;
  });
}

/// Appends the extents of a node; returns its widest axis.
std::size_t QueryTree::Build::measure(std::size_t begin, std::size_t end) {
  std::size_t widest = 0;
  double width = -1.0;
  for (std::size_t k = 0; k < x.cols; ++k) {
    double low = at(begin, k), high = low;
    for (std::size_t i = begin; i < end; ++i) {
      low = std::min(low, at(i, k));
      high = std::max(high, at(i, k));
    }
    tree.low.push_back(low);
    tree.high.push_back(high);
    if (high / h[k] - low / h[k] > width) {
      width = high / h[k] - low / h[k];
      widest = k;
    }
  }
  return widest;
}

BoxMoments QueryTree::Build::leaf_rows(std::size_t begin, std::size_t end) const {
  BoxMoments rows;
  for (std::size_t i = begin; i < end; ++i) {
    BoxMoments row;
    row.mass = w[order[i]];
    if (of >= 0) row.mean = at(i, static_cast<std::size_t>(of)) - tree.centre;
    rows.merge(row);
  }
  return rows;
}

/// All leaves are full, except for the last one.
void QueryTree::Build::split(std::size_t begin, std::size_t end) {
  if (poll && end - begin >= kPolledRows) poll(0.0);
  const std::size_t me = tree.nodes.size();
  tree.nodes.push_back({begin, end, 0, {}});
  const std::size_t widest = measure(begin, end);
  if (end - begin >= kPolledRows) poll_if_due({1, poll});
  const std::size_t leaves = (end - begin + kQueryLeaf - 1) / kQueryLeaf;
  if (leaves == 1) {
    tree.nodes[me].rows = leaf_rows(begin, end);
    return;
  }
  const std::size_t middle = begin + (leaves + 1) / 2 * kQueryLeaf;
  sort_by(begin, middle, end, widest);
  split(begin, middle);
  tree.nodes[me].second = tree.nodes.size();
  split(middle, end);
  tree.nodes[me].rows = tree.nodes[me + 1].rows;
  tree.nodes[me].rows.merge(tree.nodes[tree.nodes[me].second].rows);
}

void QueryTree::Build::store() {
  const std::size_t n = order.size();
  tree.stride = n + simd::kQueryGroup;
  tree.coordinate.assign(tree.stride * tree.d, 0.0);
  tree.weight.assign(tree.stride, 0.0);
  serial_for(n, {1, poll}, [&](std::size_t i) {
    tree.weight[i] = w[order[i]];
    for (std::size_t k = 0; k < tree.d; ++k) tree.coordinate[k * tree.stride + i] = at(i, k);
  });
}

QueryTree::QueryTree(const MatrixView& x, Weights w, Span<const double> h, std::ptrdiff_t of,
                     const Poll& poll)
    : d(x.cols) {
  Build build{x, w, h, of, poll, *this, {}};
  build.keep_rows();
  const std::size_t n = build.order.size();
  if (of >= 0) {
    build.sort_by(0, n / 2, n, static_cast<std::size_t>(of));
    centre = build.at(n / 2, static_cast<std::size_t>(of));
  }
  build.split(0, n);
  build.store();
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
