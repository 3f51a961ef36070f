#include "core/kdtree/samples.hpp"

#include <algorithm>

namespace kestrel {

TreeSamples::TreeSamples(const MatrixView& x, Weights w, const TileKernel& shape,
                         const KernelMoments& moments, const double* centre, std::size_t leaf,
                         const ParallelOptions& options)
    : moments_(moments),
      n_(x.rows),
      d_(x.cols),
      leaf_(leaf),
      order_(order_points({x, {}}, shape, centre, leaf, options)),
      tree_(order_, shape, options) {
  order_.z = RawArray<double>();
  gather(x, w, order_.order, options);
  order_ = KdOrder();
  if (moments_.count() > 0) make_moments(shape, options);
}

void TreeSamples::gather(const MatrixView& x, Weights w, const std::vector<std::size_t>& order,
                         const ParallelOptions& options) {
  sorted_ = RawArray<double>(n_ * (d_ + 1));
  const std::size_t items = (n_ + kPolledItems - 1) / kPolledItems;
  parallel_for(items, part_of(options, 0, 0), [&](std::size_t item, int) {
    const std::size_t end = std::min(n_, (item + 1) * kPolledItems);
    for (std::size_t k = 0; k < d_; ++k) {
      const double* from = x.data + k * n_;
      double* to = sorted_.data() + k * n_;
      for (std::size_t i = item * kPolledItems; i < end; ++i) to[i] = from[order[i]];
    }
    double* weight = sorted_.data() + d_ * n_;
    for (std::size_t i = item * kPolledItems; i < end; ++i) weight[i] = w[order[i]];
  });
}

void TreeSamples::make_moments(const TileKernel& shape, const ParallelOptions& options) {
  values_ = RawArray<double>(tree_.numbers() * moments_.count());
  constexpr std::size_t group = 64;  // nodes of a work item
  for (std::size_t span = leaf_; span <= tree_.root().span; span *= 2) {
    const std::size_t nodes = (n_ + span - 1) / span, before = tree_.root().span / span;
    parallel_for((nodes + group - 1) / group, part_of(options, 0, 0), [&](std::size_t item, int) {
      const std::size_t end = std::min(nodes, (item + 1) * group);
      for (std::size_t i = item * group; i < end; ++i) {
        make_moments(shape, KdNode{before + i, i * span, span});
      }
    });
  }
}

void TreeSamples::make_moments(const TileKernel& shape, const KdNode& node) {
  double* own = moments_of(node);
  std::vector<double> scratch(2 * d_ + moments_.count());
  double* centre = scratch.data();
  copy_first(node, centre);
  const simd::Whitening about = shape.whitening(centre);
  if (!tree_.is_leaf(node)) {
    std::copy_n(moments_of(node.left()), moments_.count(), own);
    std::vector<double> more(2 * d_ + moments_.count());
    if (tree_.exists(node.right())) add_moments(node.right(), about, more.data(), own);
    return;
  }
  std::fill_n(own, moments_.count(), 0.0);
  std::vector<double> point(d_);
  for (std::size_t j = node.first; j < tree_.last(node); ++j) {
    for (std::size_t k = 0; k < d_; ++k) point[k] = sorted_[k * n_ + j];
    double* z = scratch.data() + d_;
    whiten_one(about, point.data(), z);
    moments_.add(w()[j], z, z + d_, own);
  }
}

void TreeSamples::add_moments(const KdNode& node, const simd::Whitening& about, double* scratch,
                              double* to) const {
  double* first = scratch;
  double* shift = scratch + d_;
  double* moved = shift + d_;
  copy_first(node, first);
  whiten_one(about, first, shift);
  std::copy_n(moments_of(node), moments_.count(), moved);
  moments_.move(shift, moved);
  for (std::size_t t = 0; t < moments_.count(); ++t) to[t] += moved[t];
}

void TreeSamples::copy_first(const KdNode& node, double* point) const {
  for (std::size_t k = 0; k < d_; ++k) point[k] = sorted_[k * n_ + node.first];
}

}  // namespace kestrel
