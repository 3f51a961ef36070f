#include "core/kdtree/kdtree.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/summation.hpp"
#include "core/data/quantiles.hpp"
#include "core/data/tiles.hpp"
#include "core/kdtree/samples.hpp"

namespace kestrel {

namespace {

/// The maximum number of monomials: the moments of two nodes for every kTreeLeaf samples then take
/// half the memory of the samples.
std::size_t most_monomials(std::size_t d) { return kTreeLeaf / 4 * (d + 1); }

/// Far more than what distances between boxes round to, far less than what costs time.
constexpr double kSlack = 1e-9;
/// Work items that are enough for threads, and the least samples of one.
constexpr std::size_t kItems = 256, kItemSamples = 1024;
/// Tiles after which a sum is put aside, so that rounding does not grow with their number.
constexpr std::size_t kTilesOfSum = 64;

/// Near the samples' middle, so that far outliers do not cost the others their digits.
std::vector<double> centre_of(const MatrixView& x) {
  std::vector<double> centre(x.cols);
  for (std::size_t k = 0; k < x.cols; ++k) {
    centre[k] = median_of_every((x.rows + 127) / 128, x.column(k));
  }
  return centre;
}

/// Points in blocks, with their boxes.
struct PointBlocks {
  Blocks blocks;
  std::vector<double> box;
};

/// Cuts leaves of a k-d order where they are wider than a block may be.
PointBlocks cut_leaves(const EvaluationPoints& points, const TileKernel& shape,
                       const double* centre, const ParallelOptions& options) {
  KdOrder order = order_points(points, shape, centre, kTreeBlock, options);
  PointBlocks cut;
  BlockWidth width(points, shape);
  for (std::size_t i = 0; i < order.n; ++i) {
    if (i % kPolledItems == 0) poll_if_due(options);
    if (i % kTreeBlock != 0 && width.holds(order.order[i])) continue;
    width.begin(order.order[i]);
    cut.blocks.start.push_back(i);
  }
  cut.blocks.start.push_back(order.n);
  cut.box.resize(cut.blocks.count() * 2 * order.d);
  for (std::size_t b = 0; b < cut.blocks.count(); ++b) {
    if (b % (kPolledItems / kTreeBlock) == 0) poll_if_due(options);
    write_box(order, shape, cut.blocks.start[b], cut.blocks.start[b + 1],
              cut.box.data() + b * 2 * order.d);
  }
  cut.blocks.order.swap(order.order);
  return cut;
}

enum class Place { outside, inside, across };

/// Where the samples of one box lie in the supports about the points of another.
class Support {
 public:
  Support(const TileKernel& shape, KernelType type) : shape_(shape), type_(type) {}

  Place place(const double* samples, const double* points) const {
    const std::size_t d = shape_.dimension();
    double least = 0, greatest = 0;
    bool narrow = true;
    for (std::size_t k = 0; k < d; ++k) {
      const double below = samples[k] - points[d + k], above = points[k] - samples[d + k];
      const double near = std::max(0.0, std::max(below, above)), far = -std::min(below, above);
      if (type_ == KernelType::product) {
        least = std::max(least, near);
        greatest = std::max(greatest, far);
      } else {
        least += near * near;
        greatest += far * far;
      }
      const double width =
          std::max(samples[d + k], points[d + k]) - std::min(samples[k], points[k]);
      narrow = narrow && width * shape_.stretch(k) <= 2 * kBlockRadius;
    }
    if (least > 1 + kSlack) return Place::outside;
    return narrow && greatest < 1 - kSlack ? Place::inside : Place::across;
  }

 private:
  const TileKernel& shape_;
  const KernelType type_;
};

/// One worker's memory.
struct Worker {
  Workspace tiles;
  std::vector<KdNode> stack;
  std::vector<std::size_t> run;  // pairs of positions: samples to be summed pair by pair
  std::vector<double> moments, scratch, centre, recent, total;
  bool any_inside = false;
};

/// One call of kdtree_density: blocks of points times parts of the tree.
class TreeSum {
 public:
  TreeSum(const MatrixView& x, Weights w, const EvaluationPoints& points,
          const KernelChoice& choice, Span<const double> root, const RunOptions& options)
      : points_(points),
        options_(options),
        kernel_(*options.table, choice, x.cols, root),
        shape_(*options.table, {Kernel::epanechnikov, choice.type}, x.cols, root),
        support_(shape_, choice.type),
        moments_(choice, x.cols, most_monomials(x.cols)),
        centre_(centre_of(x)),
        cut_(cut_leaves(points, shape_, centre_.data(), options.parallel)),
        samples_(x, w, shape_, moments_, centre_.data(), std::min(kTreeLeaf, kernel_.tile_size()),
                 options.parallel) {
    part_span_ = samples_.tree().root().span;
    const std::size_t n = x.rows;
    while (cut_.blocks.count() * parts(n) < kItems && part_span_ > kItemSamples) part_span_ /= 2;
    parts_ = parts(n);
    workers_.resize(parallel_workers(cut_.blocks.count() * parts_, options.parallel));
  }

  void run(const ScaledNumber& scale, Span<double> out) {
    const Blocks& blocks = cut_.blocks;
    std::vector<double> partial(parts_ == 1 ? 0 : blocks.count() * parts_ * kTreeBlock);
    parallel_for(blocks.count() * parts_, options_.parallel, [&](std::size_t item, int worker) {
      Worker& mine = workers_[static_cast<std::size_t>(worker)];
      const std::size_t block = item / parts_;
      sum_item(block, item % parts_, mine);
      if (parts_ > 1) {
        std::copy(mine.total.begin(), mine.total.end(), partial.data() + item * kTreeBlock);
      } else {
        store(block, mine.total.data(), 1, scale, out);
      }
    });
    for (std::size_t b = 0; parts_ > 1 && b < blocks.count(); ++b) {
      store(b, partial.data() + b * parts_ * kTreeBlock, parts_, scale, out);
    }
  }

 private:
  std::size_t parts(std::size_t n) const { return (n + part_span_ - 1) / part_span_; }

  void store(std::size_t block, const double* sums, std::size_t parts, const ScaledNumber& scale,
             Span<double> out) const {
    const std::size_t start = cut_.blocks.start[block], end = cut_.blocks.start[block + 1];
    for (std::size_t i = start; i < end; ++i) {
      const double sum = pairwise_sum(sums + (i - start), parts, kTreeBlock);
      out[cut_.blocks.point(i)] = scale.times(sum);
    }
  }

  void sum_item(std::size_t block, std::size_t part, Worker& mine) const {
    const std::size_t d = shape_.dimension();
    mine.tiles.prepare(kernel_, 0);
    mine.tiles.load_block(kernel_, points_, cut_.blocks, cut_.blocks.start[block],
                          cut_.blocks.start[block + 1]);
    mine.total.assign(kTreeBlock, 0.0);
    mine.recent.assign(kTreeBlock, 0.0);
    mine.centre.resize(2 * d);
    mine.scratch.resize(2 * d + moments_.count());
    points_.copy(cut_.blocks.point(cut_.blocks.start[block]), mine.centre.data());
    const KdTree& tree = samples_.tree();
    const KdNode top{tree.root().span / part_span_ + part, part * part_span_, part_span_};
    walk(top, cut_.box.data() + block * 2 * d, mine);
    sum_pairs(mine);
    if (mine.any_inside) sum_moments(block, mine);
  }

  /// Goes through the tree in the order of positions: skips what is out of reach of all points of
  /// the block, adds moments of what is in reach of all, and notes the leaves between.
  void walk(const KdNode& top, const double* box, Worker& mine) const {
    const KdTree& tree = samples_.tree();
    const simd::Whitening about = shape_.whitening(mine.centre.data());
    mine.moments.assign(moments_.count(), 0.0);
    mine.any_inside = false;
    mine.run.clear();
    mine.stack.assign(1, top);
    while (!mine.stack.empty()) {
      const KdNode node = mine.stack.back();
      mine.stack.pop_back();
      const Place place = support_.place(tree.box(node), box);
      if (place == Place::outside) continue;
      if (place == Place::inside && moments_.count() > 0) {
        samples_.add_moments(node, about, mine.scratch.data(), mine.moments.data());
        mine.any_inside = true;
      } else if (!tree.is_leaf(node)) {
        if (tree.exists(node.right())) mine.stack.push_back(node.right());
        mine.stack.push_back(node.left());
      } else if (!mine.run.empty() && mine.run.back() == node.first) {
        mine.run.back() = tree.last(node);
      } else {
        mine.run.push_back(node.first);
        mine.run.push_back(tree.last(node));
      }
    }
  }

  void sum_pairs(Worker& mine) const {
    const simd::Block targets = mine.tiles.block();
    const simd::SumFunction leaf =
        kernel_.table().direct->sum[static_cast<std::size_t>(kernel_.leaf())];
    std::size_t tiles = 0;
    for (std::size_t r = 0; r < mine.run.size(); r += 2) {
      for (std::size_t begin = mine.run[r]; begin < mine.run[r + 1]; begin += kernel_.tile_size()) {
        poll_if_due(options_.parallel);
        mine.tiles.load_tile(kernel_, samples_.x(), samples_.w(), begin,
                             std::min(mine.run[r + 1], begin + kernel_.tile_size()));
        leaf(mine.tiles.tile(), targets, mine.tiles.parameters(kernel_), mine.tiles.sum());
        for (std::size_t i = 0; i < targets.count; ++i) mine.recent[i] += mine.tiles.sum()[i];
        if (++tiles % kTilesOfSum == 0) put_aside(mine);
      }
    }
    put_aside(mine);
  }

  static void put_aside(Worker& mine) {
    for (std::size_t i = 0; i < kTreeBlock; ++i) mine.total[i] += mine.recent[i];
    std::fill(mine.recent.begin(), mine.recent.end(), 0.0);
  }

  void sum_moments(std::size_t block, Worker& mine) const {
    const std::size_t d = shape_.dimension(), start = cut_.blocks.start[block];
    const simd::Whitening about = shape_.whitening(mine.centre.data());
    double* point = mine.scratch.data();
    double* z = point + d;
    double* moved = z + d;
    for (std::size_t i = start; i < cut_.blocks.start[block + 1]; ++i) {
      points_.copy(cut_.blocks.point(i), point);
      whiten_one(about, point, z);
      for (std::size_t k = 0; k < d; ++k) z[k] = -z[k];
      std::copy(mine.moments.begin(), mine.moments.end(), moved);
      moments_.move(z, moved);
      mine.total[i - start] += std::max(0.0, moments_.sum(moved));
    }
  }

  const EvaluationPoints& points_;
  const RunOptions& options_;
  const TileKernel kernel_;  // as the leaves take it
  const TileKernel shape_;   // whitens, for the discontinuous kernels, too
  const Support support_;
  const KernelMoments moments_;
  const std::vector<double> centre_;
  const PointBlocks cut_;
  const TreeSamples samples_;
  std::size_t part_span_ = 0, parts_ = 1;
  std::vector<Worker> workers_;
};

}  // namespace

bool has_tree_moments(const KernelChoice& choice, std::size_t d) {
  return KernelMoments::monomials(choice, d) <= static_cast<double>(most_monomials(d));
}

void kdtree_density(const MatrixView& x, Weights w, const EvaluationPoints& points,
                    const KernelChoice& choice, Span<const double> root, const RunOptions& options,
                    Span<double> out) {
  check_density_sizes(x, w, points, root, out);
  if (!is_compact(choice.kernel)) {
    throw error(ErrorKind::input, "engine \"kdtree\" takes the compact kernels");
  }
  const ScaledNumber scale = kernel_scale(choice, x.cols, root);
  check_product_root(choice.type, x.cols, root);
  if (x.rows == 0 || out.size == 0) {
    std::fill(out.begin(), out.end(), 0.0);
    return;
  }
  TreeSum(x, w, points, choice, root, options).run(scale, out);
}

}  // namespace kestrel
