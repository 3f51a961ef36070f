#include "core/kdtree/tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kestrel {

namespace {

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
  sort_points(&out, options);
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
