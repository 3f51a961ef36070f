// Points in the order of a k-d tree (Bentley 1975).
//
// The tree is complete: a node holds the leaves [first, last) that its place says, every leaf but
// the last has the same number of points, and no node has a pointer.
#ifndef KESTREL_CORE_DATA_KD_ORDER_HPP
#define KESTREL_CORE_DATA_KD_ORDER_HPP

#include <cstddef>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/raw_array.hpp"

namespace kestrel {

/// Points with their numbers. All coordinates have one unit, as those of a kernel in bandwidths.
struct KdOrder {
  std::size_t n = 0, d = 0, leaf = 0;  // leaf: points of a leaf
  RawArray<double> z;                  // d columns
  std::vector<std::size_t> order;      // the number of the point that stands at a position

  std::size_t leaves() const { return (n + leaf - 1) / leaf; }
  const double* column(std::size_t k) const { return z.data() + k * n; }
};

/// Puts points into the order of a tree: the side of a node that is widest is cut at a whole number
/// of leaves, about its middle. O(n d log n) time. Depends on the points only, never on threads.
void sort_points(KdOrder* points, const ParallelOptions& options);

}  // namespace kestrel

#endif
