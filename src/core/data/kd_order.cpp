#include "core/data/kd_order.hpp"

#include <algorithm>
#include <utility>

namespace kestrel {

namespace {

/// Points of a subtree that one thread puts in order: a few milliseconds.
constexpr std::size_t kSubtree = std::size_t{1} << 15;
/// Points of a node at which its widest side and a middle are looked for.
constexpr std::size_t kLooks = 128;

/// The order while it is made.
class Sorter {
 public:
  Sorter(KdOrder& points, const ParallelOptions& options) : points_(points), options_(options) {}

  void run() {
    const std::size_t leaves = points_.leaves();
    std::size_t span = 1;  // leaves of a full node
    while (span < leaves) span *= 2;
    // Of large nodes a level at a time; then subtrees.
    for (; span > 1 && span * points_.leaf > kSubtree; span /= 2) {
      each_node(span, [&](std::size_t begin, std::size_t end) { split(begin, end, span / 2); });
    }
    each_node(span, [&](std::size_t begin, std::size_t end) { split_all(begin, end, span); });
  }

 private:
  template <class Body>
  void each_node(std::size_t span, const Body& body) {
    const std::size_t size = span * points_.leaf, nodes = (points_.n + size - 1) / size;
    parallel_for(nodes, part_of(options_, 0, 0), [&](std::size_t node, int) {
      body(node * size, std::min(points_.n, (node + 1) * size));
    });
  }

  void split_all(std::size_t begin, std::size_t end, std::size_t span) {
    if (end - begin <= points_.leaf) return;
    const std::size_t half = span / 2, middle = begin + half * points_.leaf;
    split(begin, end, half);
    split_all(begin, std::min(end, middle), half);
    if (middle < end) split_all(middle, end, half);
  }

  /// Puts the least points along the widest side before the others, `half` leaves of them.
  void split(std::size_t begin, std::size_t end, std::size_t half) {
    const std::size_t middle = begin + half * points_.leaf;
    if (middle >= end) return;
    std::size_t widest = 0;
    double width = -1;
    for (std::size_t k = 0; k < points_.d; ++k) {
      const double side = width_of(points_.z.data() + k * points_.n, begin, end);
      if (side > width) widest = k;
      width = std::max(width, side);
    }
    select(points_.z.data() + widest * points_.n, begin, middle, end);
  }

  static double width_of(const double* z, std::size_t begin, std::size_t end) {
    const std::size_t step = (end - begin + kLooks - 1) / kLooks;
    double least = z[begin], greatest = z[begin];
    for (std::size_t i = begin; i < end; i += step) {
      least = std::min(least, z[i]);
      greatest = std::max(greatest, z[i]);
    }
    return greatest - least;
  }

  /// Hoare's FIND: on return z[i] <= z[middle] <= z[j] for i < middle < j of the range. Each pass
  /// swaps at least once and so leaves fewer points, also where all of them are equal.
  void select(const double* z, std::size_t begin, std::size_t middle, std::size_t end) {
    while (end - begin > 1) {
      poll_if_due(options_);
      const double pivot = quantile(z, begin, middle, end);
      std::size_t i = begin, j = end;  // j is one past the point to be looked at
      while (i < j) {
        while (z[i] < pivot) ++i;
        while (pivot < z[j - 1]) --j;
        if (i >= j) break;
        exchange(i, j - 1);
        ++i;
        --j;
      }
      if (middle < j) {
        end = j;
      } else if (middle >= i) {
        begin = i;
      } else {
        return;
      }
    }
  }

  /// A value of the range about as far up in it as `middle` is.
  static double quantile(const double* z, std::size_t begin, std::size_t middle, std::size_t end) {
    const std::size_t step = (end - begin + kLooks - 1) / kLooks;
    double look[kLooks];
    std::size_t count = 0;
    for (std::size_t i = begin; i < end; i += step) look[count++] = z[i];
    const std::size_t at = std::min(count - 1, (middle - begin) / step);
    std::nth_element(look, look + at, look + count);
    return look[at];
  }

  void exchange(std::size_t i, std::size_t j) {
    for (std::size_t k = 0; k < points_.d; ++k) {
      double* z = points_.z.data() + k * points_.n;
      std::swap(z[i], z[j]);
    }
    std::swap(points_.order[i], points_.order[j]);
  }

  KdOrder& points_;
  const ParallelOptions& options_;
};

}  // namespace

void sort_points(KdOrder* points, const ParallelOptions& options) {
  Sorter(*points, options).run();
}

}  // namespace kestrel
