#include "core/direct/pair_tiles.hpp"

#include <string>

#include "core/base/summation.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

PairTiles::PairTiles(const MatrixView& x, Weights w, const TileKernel& kernel,
                     std::size_t operations_of_a_pair, const ParallelOptions& options)
    : kernel_(kernel), chunk_(kernel.chunk_size(operations_of_a_pair)) {
  check_weight_count(x.rows, w.size);
  EvaluationPoints points;
  points.matrix = x;
  blocks_ = cut_blocks(points, kernel, options);
  poll_if_due(options);
  arrange(x, w);
  first_item_.push_back(0);
  for (std::size_t b = 0; b < blocks_.count(); ++b) {
    const std::size_t behind = x.rows - blocks_.start[b + 1];
    first_item_.push_back(first_item_.back() +
                          std::max<std::size_t>(1, (behind + chunk_ - 1) / chunk_));
  }
}

PairTiles::Item PairTiles::locate(std::size_t item) const {
  const std::size_t b = static_cast<std::size_t>(
      std::upper_bound(first_item_.begin(), first_item_.end(), item) - first_item_.begin() - 1);
  return {blocks_.start[b], blocks_.start[b + 1], item - first_item_[b]};
}

void PairTiles::load_block(std::size_t item, Workspace& workspace) const {
  const Item at = locate(item);
  workspace.load_block(kernel_, points_, in_order_, at.first, at.last);
  workspace.set_block_weights(weight_.data() + at.first, at.last - at.first);
}

void PairTiles::arrange(const MatrixView& x, Weights w) {
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

/// The samples of a tile from position `skip` on. (A part that ends before the tile does would need
/// weights of zero after its end; load_corner() copies such a part.)
simd::Tile PairTiles::behind(simd::Tile tile, std::size_t skip) {
  tile.coordinate += skip;
  tile.weight += skip;
  tile.count -= skip;
  return tile;
}

/// The part [from, to) of the workspace's block, which begins at point `first`.
simd::Block PairTiles::points(Workspace& workspace, std::size_t first, std::size_t from,
                              std::size_t to) {
  simd::Block block = workspace.block();
  block.coordinate += from - first;
  block.weight += from - first;
  block.count = to - from;
  return block;
}

std::vector<double> sum_over_items(
    std::size_t items, std::size_t terms, const ParallelOptions& options,
    const std::function<void(std::size_t item, int worker, double* sum)>& body) {
  constexpr std::size_t kNumbers = std::size_t{1} << 21;
  const std::size_t batch = std::max<std::size_t>(1, kNumbers / std::max<std::size_t>(1, terms));
  std::vector<double> partial, batches;
  for (std::size_t first = 0; first < items; first += batch) {
    const std::size_t count = std::min(batch, items - first);
    partial.assign(count * terms, 0.0);
    const double all = static_cast<double>(items), begin = static_cast<double>(first) / all;
    const double end = static_cast<double>(first + count) / all;
    parallel_for(count, part_of(options, begin, end), [&](std::size_t item, int worker) {
      body(first + item, worker, partial.data() + item * terms);
    });
    for (std::size_t t = 0; t < terms; ++t) {
      batches.push_back(pairwise_sum(partial.data() + t, count, terms));
    }
  }
  std::vector<double> sums(terms);
  for (std::size_t t = 0; t < terms; ++t) {
    sums[t] = pairwise_sum(batches.data() + t, batches.size() / terms, terms);
  }
  return sums;
}

}  // namespace kestrel
