#include "core/kdtree/tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
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

/// Points that are whitened at a time.
constexpr std::size_t kWhitened = 256;

void whiten_points(const EvaluationPoints& points, const TileKernel& kernel, const double* centre,
                   std::size_t first, std::size_t last, KdOrder& out) {
  const std::size_t d = out.d, stride = kWhitened + simd::kLanes;
  std::vector<double> raw(d);
  AlignedBuffer input, z;
  input.resize(d * stride);
  z.resize(d * stride);
  for (std::size_t begin = first; begin < last; begin += kWhitened) {
    const std::size_t count = std::min(kWhitened, last - begin);
    for (std::size_t i = 0; i < count; ++i) {
      points.copy(begin + i, raw.data());
      for (std::size_t k = 0; k < d; ++k) input.data()[k * stride + i] = raw[k];
      out.order[begin + i] = begin + i;
    }
    kernel.table().direct->whiten(kernel.whitening(centre), input.data(), stride, count, z.data(),
                                  stride);
    for (std::size_t k = 0; k < d; ++k) {
      std::copy(z.data() + k * stride, z.data() + k * stride + count,
                out.z.data() + k * out.n + begin);
    }
  }
}

}  // namespace

KdOrder order_points(const EvaluationPoints& points, const TileKernel& kernel, const double* centre,
                     std::size_t leaf, const ParallelOptions& options) {
  KdOrder out;
  out.n = points.size();
  out.d = kernel.dimension();
  out.leaf = leaf;
  out.z = RawArray<double>(out.n * out.d);
  out.order.resize(out.n);
  const std::size_t items = (out.n + kPolledItems - 1) / kPolledItems;
  parallel_for(items, part_of(options, 0, 0), [&](std::size_t item, int) {
    const std::size_t first = item * kPolledItems;
    whiten_points(points, kernel, centre, first, std::min(out.n, first + kPolledItems), out);
  });
  Sorter(out, options).run();
  return out;
}

void write_box(const KdOrder& points, const TileKernel& kernel, std::size_t first, std::size_t last,
               double* box) {
  const std::size_t d = points.d;
  double* low = box;
  double* high = box + d;
  for (std::size_t k = 0; k < d; ++k) {
    const double* z = points.column(k);
    low[k] = *std::min_element(z + first, z + last);
    high[k] = *std::max_element(z + first, z + last);
  }
  // z_k = a_kk (x_k - c_k) - sum_l a_kl z_l: each term rounds, and carries the errors of the z_l.
  // Two more units for the rounding of the pairs in reach, which the leaves compute.
  const simd::Whitening map = kernel.whitening(nullptr);
  const double unit = 8 * static_cast<double>(d + 1) * std::numeric_limits<double>::epsilon();
  std::vector<double> size(d), error(d);
  bool bounded = true;
  for (std::size_t k = 0; k < d; ++k) {
    size[k] = std::max(std::fabs(low[k]), std::fabs(high[k])) + 2;
    double terms = size[k], carried = 0;
    for (std::size_t l = 0; l < k; ++l) {
      const double factor = std::fabs(map.matrix[k * d + l]);
      terms += factor * size[l];
      carried += factor * error[l];
    }
    error[k] = unit * terms + carried;
    bounded = bounded && error[k] < 1e80;  // not where coordinates were cut, at 1e150
  }
  for (std::size_t k = 0; k < d; ++k) {
    const double by = bounded ? error[k] : std::numeric_limits<double>::infinity();
    low[k] -= by;
    high[k] += by;
  }
}

KdTree::KdTree(const KdOrder& points, const TileKernel& kernel, const ParallelOptions& options)
    : n_(points.n), d_(points.d), leaf_(points.leaf), leaves_(points.leaves()), span_(leaf_) {
  while (span_ < n_) span_ *= 2;
  const std::size_t bottom = span_ / leaf_, group = kPolledItems / leaf_ + 1;
  box_ = RawArray<double>(numbers() * 2 * d_);
  parallel_for((leaves_ + group - 1) / group, part_of(options, 0, 0), [&](std::size_t item, int) {
    const std::size_t end = std::min(leaves_, (item + 1) * group);
    for (std::size_t i = item * group; i < end; ++i) {
      write_box(points, kernel, i * leaf_, std::min(n_, (i + 1) * leaf_),
                box_.data() + (bottom + i) * 2 * d_);
    }
  });
  for (std::size_t number = bottom; number-- > 1;) {
    std::size_t nodes = 1;  // of the level
    while (2 * nodes <= number) nodes *= 2;
    const KdNode node{number, (number - nodes) * (span_ / nodes), span_ / nodes};
    if (!exists(node)) continue;
    double* own = box_.data() + number * 2 * d_;
    std::copy_n(box(node.left()), 2 * d_, own);
    if (!exists(node.right())) continue;
    const double* right = box(node.right());
    for (std::size_t k = 0; k < d_; ++k) {
      own[k] = std::min(own[k], right[k]);
      own[d_ + k] = std::max(own[d_ + k], right[d_ + k]);
    }
  }
}

}  // namespace kestrel
