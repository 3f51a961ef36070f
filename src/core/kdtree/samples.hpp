// Samples in the order of a k-d tree, with what the sums need of its nodes.
#ifndef KESTREL_CORE_KDTREE_SAMPLES_HPP
#define KESTREL_CORE_KDTREE_SAMPLES_HPP

#include <cstddef>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/raw_array.hpp"
#include "core/base/span.hpp"
#include "core/data/tiles.hpp"
#include "core/data/weights.hpp"
#include "core/kdtree/moments.hpp"
#include "core/kdtree/tree.hpp"

namespace kestrel {

/// Copies of the samples in order, their tree, and moments of its nodes about the first sample of
/// each. Moments of a node so wide that they are not finite are not used by anyone.
class TreeSamples {
 public:
  /// `shape` whitens, with reach 1.
  TreeSamples(const MatrixView& x, Weights w, const TileKernel& shape, const KernelMoments& moments,
              const double* centre, std::size_t leaf, const ParallelOptions& options);

  const KdTree& tree() const { return tree_; }
  MatrixView x() const { return {sorted_.data(), n_, d_}; }
  Weights w() const { return {sorted_.data() + n_ * d_, n_}; }
  /// Adds the node's moments about `centre` to those in `to`. `scratch`: 2 d numbers and count().
  void add_moments(const KdNode& node, const simd::Whitening& about, double* scratch,
                   double* to) const;

 private:
  void gather(const MatrixView& x, Weights w, const std::vector<std::size_t>& order,
              const ParallelOptions& options);
  void make_moments(const TileKernel& shape, const ParallelOptions& options);
  void make_moments(const TileKernel& shape, const KdNode& node);
  void copy_first(const KdNode& node, double* point) const;
  double* moments_of(const KdNode& node) const {
    return values_.data() + node.number * moments_.count();
  }

  const KernelMoments& moments_;
  const std::size_t n_, d_, leaf_;
  KdOrder order_;
  KdTree tree_;
  RawArray<double> sorted_, values_;
};

}  // namespace kestrel

#endif
