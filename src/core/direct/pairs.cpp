#include "core/direct/pairs.hpp"

#include <cmath>
#include <string>

#include "core/base/error.hpp"
#include "core/direct/pair_tiles.hpp"
#include "core/kernel/derivative.hpp"

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

/// sum_{i<j} w_i w_j leaf(z_i - z_j).
double pair_sum(const MatrixView& x, Weights w, const TileKernel& kernel,
                const RunOptions& options) {
  if (x.rows < 2) return 0.0;
  const PairTiles pairs(x, w, kernel, 2 * x.cols, options.parallel);
  std::vector<Workspace> workers(parallel_workers(pairs.items(), options.parallel));
  const simd::SumFunction leaf =
      kernel.table().direct->sum[static_cast<std::size_t>(kernel.leaf())];
  const auto add_item = [&](std::size_t item, int worker, double* total) {
    Workspace& workspace = workers[static_cast<std::size_t>(worker)];
    workspace.prepare(kernel, 0);
    pairs.load_block(item, workspace);
    pairs.run_rectangles(item, workspace, [&](const simd::Tile& tile, const simd::Block& block) {
      leaf(tile, block, workspace.parameters(kernel), workspace.sum());
      double of_tile = 0.0;
      for (std::size_t i = 0; i < block.count; ++i) of_tile += block.weight[i] * workspace.sum()[i];
      *total += of_tile;
    });
  };
  return sum_over_items(pairs.items(), 1, options.parallel, add_item)[0];
}

simd::Monomials view_of(const Monomials& all) {
  return {all.size(), all.parent().data(), all.axis().data()};
}

}  // namespace

double direct_pair_sum(const MatrixView& x, Weights w, const KernelChoice& choice,
                       Span<const double> root, const RunOptions& options) {
  const ScaledNumber scale = kernel_scale(choice, x.cols, root);
  return scale.times(pair_sum(x, w, TileKernel(*options.table, choice, x.cols, root), options));
}

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

ScaledNumber laplacian_scale(std::size_t d, double g, int order) {
  check_order(order, 10);
  check_pilot(g, d);
  ScaledNumber scale;
  scale.multiply(std::pow(2 * kPi, -0.5 * static_cast<double>(d)));
  for (std::size_t k = 0; k < d + static_cast<std::size_t>(order); ++k) scale.divide(g);
  return scale;
}

double direct_pair_laplacian(const MatrixView& x, Weights w, double g, int order,
                             const RunOptions& options) {
  const ScaledNumber scale = laplacian_scale(x.cols, g, order);
  const TileKernel kernel(*options.table, x.cols, g, laplacian_polynomial(x.cols, order));
  return scale.times(pair_sum(x, w, kernel, options));
}

std::vector<std::vector<int>> even_multi_indices(std::size_t d, int order) {
  check_order(order, 8);
  const Monomials all(d, order);
  std::vector<std::vector<int>> even;
  for (std::size_t t = 0; t < all.size(); ++t) {
    if (all.degree(t) % 2 == 0) even.push_back(all.exponent(t));
  }
  return even;
}

std::vector<double> direct_pair_moments(const MatrixView& x, Weights w, double g, int order,
                                        const RunOptions& options) {
  check_order(order, 8);
  check_pilot(g, x.cols);
  const Monomials all(x.cols, order);
  const simd::Monomials monomials = view_of(all);
  const TileKernel kernel(*options.table, x.cols, g, {1.0});
  const PairTiles pairs(x, w, kernel, 3 * x.cols + 4 * monomials.count, options.parallel);
  std::vector<Workspace> workers(parallel_workers(pairs.items(), options.parallel));
  const auto add_item = [&](std::size_t item, int worker, double* total) {
    Workspace& workspace = workers[static_cast<std::size_t>(worker)];
    workspace.prepare(kernel, monomials.count);
    pairs.load_block(item, workspace);
    pairs.run_rectangles(item, workspace, [&](const simd::Tile& tile, const simd::Block& block) {
      kernel.table().direct->moments(tile, block, workspace.parameters(kernel), monomials, total);
    });
  };
  const std::vector<double> moments =
      sum_over_items(pairs.items(), monomials.count, options.parallel, add_item);
  std::vector<double> sums;
  for (std::size_t t = 0; t < monomials.count; ++t) {
    const int degree = all.degree(t);
    if (degree % 2 != 0) continue;
    sums.push_back(moments[t] * std::pow(gaussian_unit(), -degree));  // z = unit * u
  }
  return sums;
}

}  // namespace kestrel
