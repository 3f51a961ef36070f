// Points in the order of a k-d tree of their whitened coordinates, and boxes about its nodes.
//
// Coordinates are relative to one centre, and boxes are widened by a bound for their rounding.
#ifndef KESTREL_CORE_KDTREE_TREE_HPP
#define KESTREL_CORE_KDTREE_TREE_HPP

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/raw_array.hpp"
#include "core/data/evaluation_points.hpp"
#include "core/data/kd_order.hpp"
#include "core/data/tiles.hpp"

namespace kestrel {

/// Puts the points in order. `kernel` whitens. O(n d log n) time, memory for d + 1 numbers a point.
/// Depends on the points only, never on threads.
KdOrder order_points(const EvaluationPoints& points, const TileKernel& kernel, const double* centre,
                     std::size_t leaf, const ParallelOptions& options);

/// Writes the box about the points at positions [first, last), d lower and d upper ends: what is
/// outside of it is, in exact arithmetic, outside of the box of the exact points. It is unbounded
/// where coordinates have no digits left.
void write_box(const KdOrder& points, const TileKernel& kernel, std::size_t first, std::size_t last,
               double* box);

/// A node: its number, and the positions [first, first + span) of its points, as far as there are
/// any. The root is number 1, and node v has the children 2 v and 2 v + 1.
struct KdNode {
  std::size_t number, first, span;

  KdNode left() const { return {2 * number, first, span / 2}; }
  KdNode right() const { return {2 * number + 1, first + span / 2, span / 2}; }
};

/// The boxes of all nodes.
class KdTree {
 public:
  KdTree(const KdOrder& points, const TileKernel& kernel, const ParallelOptions& options);

  KdNode root() const { return {1, 0, span_}; }
  /// Whether the node has any points; what is right of one without has none either.
  bool exists(const KdNode& node) const { return node.first < n_; }
  bool is_leaf(const KdNode& node) const { return node.span == leaf_; }
  std::size_t last(const KdNode& node) const { return std::min(n_, node.first + node.span); }
  /// Numbers of nodes are below this.
  std::size_t numbers() const { return span_ / leaf_ + leaves_; }
  const double* box(const KdNode& node) const { return box_.data() + node.number * 2 * d_; }

 private:
  std::size_t n_, d_, leaf_, leaves_, span_;
  RawArray<double> box_;
};

}  // namespace kestrel

#endif
