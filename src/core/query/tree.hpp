// The sample of queries as a k-d tree (Bentley 1975): a box skips nodes that it does not touch, and
// takes nodes that lie entirely in it at once.
#ifndef KESTREL_CORE_QUERY_TREE_HPP
#define KESTREL_CORE_QUERY_TREE_HPP

#include <cstddef>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"
#include "core/query/box_moments.hpp"

namespace kestrel {

/// The maximum number of rows of a leaf; a multiple of simd::kQueryGroup.
constexpr std::size_t kQueryLeaf = 64;

/// Where a node lies relative to a box.
enum class Overlap { outside, inside, across };

/// Rows [begin, end) of the tree. An inner node's first child is the next node and its second one
/// is `second`, which is 0 for a leaf. `rows`: the weight of the rows, and the mean and square of
/// the variable asked for, relative to the tree's centre.
struct QueryNode {
  std::size_t begin, end, second;
  BoxMoments rows;
};

struct QueryTree {
  /// x: n*d; w: n weights, of which zeros are left out; h: one bandwidth along each axis; of: the
  /// variable asked for, or -1. O(n log n) time, O(n d) memory. Throws error(input) if a weight is
  /// negative, none is positive or a number is not finite. Polls for interrupts.
  QueryTree(const MatrixView& x, Weights w, Span<const double> h, std::ptrdiff_t of,
            const ParallelOptions& options);

  std::size_t d = 0, stride = 0;
  /// Row i's variable k is coordinate[k * stride + i]; readable up to the next multiple of
  /// simd::kQueryGroup.
  std::vector<double> coordinate, weight;
  std::vector<QueryNode> nodes;   // the first is the root
  std::vector<double> low, high;  // the rows' extent: [node * d + k]
  double centre = 0.0;            // near the middle of the variable asked for

  /// Nodes of at most that many rows which together hold all rows, in order.
  std::vector<std::size_t> cut(std::size_t rows) const;

  /// Calls inside(node) and across(leaf) for the parts of node `root` that are not outside by
  /// overlap(node), in a fixed order.
  template <class Where, class Inside, class Across>
  void visit(std::size_t root, const Where& overlap, const Inside& inside,
             const Across& across) const {
    switch (overlap(root)) {
      case Overlap::outside: return;
      case Overlap::inside: inside(root); return;
      case Overlap::across: break;
    }
    if (nodes[root].second == 0) return across(root);
    visit(root + 1, overlap, inside, across);
    visit(nodes[root].second, overlap, inside, across);
  }

 private:
  /// Appends the node of positions [begin, begin + span), as far as there are rows, and all nodes
  /// below it.
  void add_node(std::size_t begin, std::size_t span, std::ptrdiff_t of,
                const ParallelOptions& options);
  void measure_leaf(std::size_t leaf, std::ptrdiff_t of);
};

}  // namespace kestrel

#endif
