#include "core/direct_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.hpp"
#include "core/weights.hpp"

namespace kestrel {

namespace {

void check_order(int order, int highest) {
  if (order < 0 || order > highest || order % 2 != 0) {
    throw error(ErrorKind::input, "the order must be even, 0 to " + std::to_string(highest) +
                                      ", not " + std::to_string(order));
  }
}

void check_pilot(double g, std::size_t d) {
  std::vector<double> root(d * d, 0.0);
  for (std::size_t k = 0; k < d; ++k) root[k * d + k] = g;
  kernel_scale({}, d, {root.data(), root.size()});
}

/// All pairs i < j in the order of the blocks: block b meets the rest of itself and all samples
/// behind it. Work items are pieces of fixed size of that upper triangle.
class Pairs {
 public:
  Pairs(const MatrixView& x, Span<const double> w, const TileKernel& kernel,
        std::size_t operations_of_a_pair)
      : kernel_(kernel), chunk_(kernel.chunk_size(operations_of_a_pair)) {
    check_weight_count(x.rows, w.size);
    EvaluationPoints points;
    points.matrix = x;
    blocks_ = cut_blocks(points, kernel);
    arrange(x, w);
    first_item_.push_back(0);
    for (std::size_t b = 0; b < blocks_.count(); ++b) {
      const std::size_t behind = x.rows - blocks_.start[b + 1];
      first_item_.push_back(first_item_.back() +
                            std::max<std::size_t>(1, (behind + chunk_ - 1) / chunk_));
    }
  }

  std::size_t items() const { return first_item_.back(); }

  /// Runs `visit` over the tiles of one item, with the workspace's block loaded and weighted.
  template <class Visit>
  void run_item(std::size_t item, Workspace& workspace, const Visit& visit) const {
    const std::size_t b = static_cast<std::size_t>(
        std::upper_bound(first_item_.begin(), first_item_.end(), item) - first_item_.begin() - 1);
    const std::size_t first = blocks_.start[b], last = blocks_.start[b + 1];
    workspace.load_block(kernel_, points_, in_order_, first, last);
    workspace.set_block_weights(weight_.data() + first, last - first);
    const std::size_t piece = item - first_item_[b];
    if (piece == 0) within_block(first, last, workspace, visit);
    const std::size_t n = weight_.size(), size = kernel_.tile_size();
    const std::size_t end = std::min(n, last + (piece + 1) * chunk_);
    for (std::size_t begin = last + piece * chunk_; begin < end; begin += size) {
      workspace.load_tile(kernel_, points_.matrix, weights(), begin, std::min(end, begin + size));
      visit(workspace.tile(), workspace.block());
    }
  }

 private:
  /// Samples in the order of the blocks, so that every tile is contiguous.
  void arrange(const MatrixView& x, Span<const double> w) {
    coordinate_.resize(x.rows * x.cols);
    weight_.resize(x.rows);
    for (std::size_t i = 0; i < x.rows; ++i) {
      weight_[i] = w[blocks_.point(i)];
      for (std::size_t k = 0; k < x.cols; ++k) {
        coordinate_[k * x.rows + i] = x(blocks_.point(i), k);
      }
    }
    points_.matrix = {coordinate_.data(), x.rows, x.cols};
    in_order_.start = blocks_.start;
  }

  Span<const double> weights() const { return {weight_.data(), weight_.size()}; }

  /// Pairs with both samples in the block, in groups as wide as the leaves take points: each group
  /// against all that comes behind it, and point after point inside the group.
  template <class Visit>
  void within_block(std::size_t first, std::size_t last, Workspace& workspace,
                    const Visit& visit) const {
    const std::size_t size = kernel_.tile_size();
    for (std::size_t begin = first; begin < last; begin += size) {
      const std::size_t end = std::min(last, begin + size);
      workspace.load_tile(kernel_, points_.matrix, weights(), begin, end);
      for (std::size_t i = first; i < end; i += simd::kTargets) {
        const std::size_t group_end = std::min(end, i + simd::kTargets);
        if (i >= begin) {
          workspace.load_corner(kernel_, i - begin, group_end - begin);
          for (std::size_t j = i; j + 1 < group_end; ++j) {
            visit(behind(workspace.corner(), j + 1 - i), points(workspace, first, j, j + 1));
          }
        }
        const std::size_t from = std::max(begin, group_end);
        if (from < end) {
          visit(behind(workspace.tile(), from - begin), points(workspace, first, i, group_end));
        }
      }
    }
  }

  /// The samples of a tile from position `skip` on. (A part that ends early would need weights of
  /// zero behind it: that is what the corner is for.)
  static simd::Tile behind(simd::Tile tile, std::size_t skip) {
    tile.coordinate += skip;
    tile.weight += skip;
    tile.count -= skip;
    return tile;
  }

  /// The part [from, to) of the workspace's block, which begins at point `first`.
  static simd::Block points(Workspace& workspace, std::size_t first, std::size_t from,
                            std::size_t to) {
    simd::Block block = workspace.block();
    block.coordinate += from - first;
    block.weight += from - first;
    block.count = to - from;
    return block;
  }

  const TileKernel& kernel_;
  const std::size_t chunk_;
  Blocks blocks_, in_order_;
  std::vector<double> coordinate_, weight_;
  EvaluationPoints points_;
  std::vector<std::size_t> first_item_;
};

/// sum_{i<j} w_i w_j leaf(z_i - z_j).
double pair_sum(const MatrixView& x, Span<const double> w, const TileKernel& kernel,
                const RunOptions& options) {
  if (x.rows < 2) return 0.0;
  const Pairs pairs(x, w, kernel, 2 * x.cols);
  std::vector<double> partial(pairs.items(), 0.0);
  std::vector<Workspace> workers(static_cast<std::size_t>(parallel_threads(options.parallel)));
  const simd::SumFunction leaf = kernel.table().sum[static_cast<std::size_t>(kernel.leaf())];
  parallel_for(pairs.items(), options.parallel, [&](std::size_t item, int worker) {
    Workspace& workspace = workers[static_cast<std::size_t>(worker)];
    workspace.prepare(kernel, 0);
    double total = 0.0;
    pairs.run_item(item, workspace, [&](const simd::Tile& tile, const simd::Block& block) {
      leaf(tile, block, workspace.parameters(kernel), workspace.sum());
      double of_tile = 0.0;
      for (std::size_t i = 0; i < block.count; ++i) of_tile += block.weight[i] * workspace.sum()[i];
      total += of_tile;
    });
    partial[item] = total;
  });
  return pairwise_sum(partial.data(), partial.size());
}

/// Coefficients of P in (nabla^2)^(order/2) exp(-q/2) = P(q) exp(-q/2), q = |u|^2 in R^d, by
/// nabla^2 (P e^(-q/2)) = [4 q P'' + (2 d - 4 q) P' + (q - d) P] e^(-q/2).
std::vector<double> laplacian_polynomial(std::size_t d, int order) {
  const double dd = static_cast<double>(d);
  std::vector<double> p{1.0};
  for (int step = 0; step < order / 2; ++step) {
    std::vector<double> next(p.size() + 1, 0.0);
    for (std::size_t r = 0; r < p.size(); ++r) {
      const double rr = static_cast<double>(r);
      if (r >= 1) next[r - 1] += (4 * rr * (rr - 1) + 2 * dd * rr) * p[r];
      next[r] -= (4 * rr + dd) * p[r];
      next[r + 1] += p[r];
    }
    p = next;
  }
  return p;
}

/// The monomials of R^d up to some degree, each from one of a degree less.
struct MonomialTable {
  std::vector<std::vector<int>> exponent;
  std::vector<int> parent, axis;

  MonomialTable(std::size_t d, int order) {
    exponent.assign(1, std::vector<int>(d, 0));
    parent.assign(1, 0);
    axis.assign(1, 0);
    std::size_t first = 0;
    for (int degree = 1; degree <= order; ++degree) {
      const std::size_t last = exponent.size();
      for (std::size_t t = first; t < last; ++t) {
        // Raising only the last axis in use, or a later one, makes every monomial once.
        for (std::size_t k = static_cast<std::size_t>(axis[t]); k < d; ++k) {
          std::vector<int> raised = exponent[t];
          ++raised[k];
          exponent.push_back(raised);
          parent.push_back(static_cast<int>(t));
          axis.push_back(static_cast<int>(k));
        }
      }
      first = last;
    }
  }

  int degree(std::size_t t) const {
    int sum = 0;
    for (int e : exponent[t]) sum += e;
    return sum;
  }
  simd::Monomials view() const { return {parent.size(), parent.data(), axis.data()}; }
};

}  // namespace

double direct_pair_sum(const MatrixView& x, Span<const double> w, const KernelChoice& choice,
                       Span<const double> root, const RunOptions& options) {
  const ScaledNumber scale = kernel_scale(choice, x.cols, root);
  return scale.times(pair_sum(x, w, TileKernel(*options.table, choice, x.cols, root), options));
}

double direct_pair_laplacian(const MatrixView& x, Span<const double> w, double g, int order,
                             const RunOptions& options) {
  check_order(order, 10);
  check_pilot(g, x.cols);
  const TileKernel kernel(*options.table, x.cols, g, laplacian_polynomial(x.cols, order));
  ScaledNumber scale;
  scale.multiply(std::pow(2 * kPi, -0.5 * static_cast<double>(x.cols)));
  for (std::size_t k = 0; k < x.cols + static_cast<std::size_t>(order); ++k) scale.divide(g);
  return scale.times(pair_sum(x, w, kernel, options));
}

std::vector<std::vector<int>> even_multi_indices(std::size_t d, int order) {
  check_order(order, 8);
  const MonomialTable table(d, order);
  std::vector<std::vector<int>> even;
  for (std::size_t t = 0; t < table.exponent.size(); ++t) {
    if (table.degree(t) % 2 == 0) even.push_back(table.exponent[t]);
  }
  return even;
}

std::vector<double> direct_pair_moments(const MatrixView& x, Span<const double> w, double g,
                                        int order, const RunOptions& options) {
  check_order(order, 8);
  check_pilot(g, x.cols);
  const MonomialTable table(x.cols, order);
  const simd::Monomials monomials = table.view();
  const TileKernel kernel(*options.table, x.cols, g, {1.0});
  const Pairs pairs(x, w, kernel, 3 * x.cols + 4 * monomials.count);
  std::vector<double> partial(pairs.items() * monomials.count, 0.0);
  std::vector<Workspace> workers(static_cast<std::size_t>(parallel_threads(options.parallel)));
  parallel_for(pairs.items(), options.parallel, [&](std::size_t item, int worker) {
    Workspace& workspace = workers[static_cast<std::size_t>(worker)];
    workspace.prepare(kernel, monomials.count);
    double* total = partial.data() + item * monomials.count;
    pairs.run_item(item, workspace, [&](const simd::Tile& tile, const simd::Block& block) {
      kernel.table().moments(tile, block, workspace.parameters(kernel), monomials, total);
    });
  });
  std::vector<double> sums;
  for (std::size_t t = 0; t < monomials.count; ++t) {
    const int degree = table.degree(t);
    if (degree % 2 != 0) continue;
    const double sum = pairwise_sum(partial.data() + t, pairs.items(), monomials.count);
    sums.push_back(sum * std::pow(gaussian_unit(), -degree));  // z = unit * u
  }
  return sums;
}

}  // namespace kestrel
