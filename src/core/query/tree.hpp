// The sample of queries as a k-d tree, so that a box passes over what it does not touch and takes
// at once what it holds whole (Bentley 1975).
#ifndef KESTREL_CORE_QUERY_TREE_HPP
#define KESTREL_CORE_QUERY_TREE_HPP

#include <cstddef>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/query/box_moments.hpp"

namespace kestrel {

/// Rows of a leaf at most; a multiple of simd::kQueryGroup.
constexpr std::size_t kQueryLeaf = 64;

/// Where a node lies as seen from a box.
enum class Overlap { outside, inside, across };

/// Rows [begin, end) of the tree; an inner node's first child is the next node, `second` the other
/// one, and 0 for a leaf. `rows` has their weight, and the mean and square of the variable asked
/// for, minus the tree's centre.
struct QueryNode {
  std::size_t begin, end, second;
  BoxMoments rows;
};

struct QueryTree {
  /// x: n*d; w: n weights, of which zeros are left out; h: what is one bandwidth on each axis; of:
  /// the variable asked for or -1. O(n log n) time, O(n d) memory. Throws error(input) when a
  /// weight is negative, none is positive or a number is not finite. Polls for interrupts.
  QueryTree(const MatrixView& x, Span<const double> w, Span<const double> h, std::ptrdiff_t of,
            const Poll& poll);

  std::size_t d = 0, stride = 0;
  /// Row i's variable k is coordinate[k * stride + i]; readable up to the next multiple of
  /// simd::kQueryGroup.
  std::vector<double> coordinate, weight;
  std::vector<QueryNode> nodes;   // the first is the root
  std::vector<double> low, high;  // the rows' extent: [node * d + k]
  double centre = 0.0;            // about the middle of the variable asked for

  /// Nodes of at most so many rows that make up all of them, in order.
  std::vector<std::size_t> cut(std::size_t rows) const;

  /// Calls inside(node) and across(leaf) for the parts of node `root` that overlap(node) does not
  /// call outside, in a fixed order.
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
  struct Build;
};

}  // namespace kestrel

#endif
