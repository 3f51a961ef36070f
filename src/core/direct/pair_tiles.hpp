// The pairs i < j of a sample, as tiles and blocks for the leaf loops: every sum over pairs of the
// direct engine uses these.
#ifndef KESTREL_CORE_DIRECT_PAIR_TILES_HPP
#define KESTREL_CORE_DIRECT_PAIR_TILES_HPP

#include <algorithm>
#include <functional>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/data/tiles.hpp"
#include "core/data/weights.hpp"
#include "simd/direct/gaussian_pairs.hpp"

namespace kestrel {

/// All pairs i < j in the order of the blocks: block b is paired with the rest of itself and with
/// all samples after it. Work items are pieces of fixed size of that upper triangle (Andrzejewski
/// et al. 2013, figure 3), the same on any number of threads. O(n d) memory. Keeps a reference to
/// the kernel.
class PairTiles {
 public:
  /// `operations_of_a_pair` sets the size of an item (TileKernel::chunk_size). Throws error(input)
  /// unless there is one weight for each row of x.
  PairTiles(const MatrixView& x, Weights w, const TileKernel& kernel,
            std::size_t operations_of_a_pair, const ParallelOptions& options);

  std::size_t items() const { return first_item_.back(); }

  /// Loads the item's block into the workspace, with its weights.
  void load_block(std::size_t item, Workspace& workspace) const;

  /// Calls visit(tile, block) for parts of the item in which every sample forms a pair with every
  /// point, for leaves that cannot leave pairs out. load_block comes first.
  template <class Visit>
  void run_rectangles(std::size_t item, Workspace& workspace, const Visit& visit) const {
    const Item at = locate(item);
    if (at.piece == 0) cut_into_rectangles(at.first, at.last, workspace, visit);
    behind_block(at, workspace, visit);
  }

  /// Calls visit(simd::PairVisit) for the tiles of the item, for leaves that skip the pairs j <= i
  /// where a tile and a block have samples in common. load_block comes first.
  template <class Visit>
  void run_tiles(std::size_t item, Workspace& workspace, const Visit& visit) const {
    const Item at = locate(item);
    const std::size_t size = kernel_.tile_size(), d = kernel_.dimension();
    for (std::size_t begin = at.first; at.piece == 0 && begin < at.last; begin += size) {
      const std::size_t end = std::min(at.last, begin + size);
      workspace.load_tile(kernel_, points_.matrix, weights(), begin, end);
      simd::Block before_end = workspace.block();
      before_end.count = end - at.first;
      // Sample begin + j comes after point first + i.
      visit(simd::PairVisit{workspace.tile(), before_end,
                            -static_cast<std::ptrdiff_t>(begin - at.first), d});
    }
    behind_block(at, workspace, [&](const simd::Tile& tile, const simd::Block& block) {
      visit(simd::PairVisit{tile, block, simd::kAllPairs, d});
    });
  }

 private:
  struct Item {
    std::size_t first, last, piece;  // points of the block; number of the piece of samples after it
  };
  Item locate(std::size_t item) const;

  /// Samples in the order of the blocks, so that every tile is contiguous.
  void arrange(const MatrixView& x, Weights w);

  Span<const double> weights() const { return {weight_.data(), weight_.size()}; }

  /// The item's share of the samples after its block.
  template <class Visit>
  void behind_block(const Item& at, Workspace& workspace, const Visit& visit) const {
    const std::size_t size = kernel_.tile_size();
    const std::size_t end = std::min(weight_.size(), at.last + (at.piece + 1) * chunk_);
    for (std::size_t begin = at.last + at.piece * chunk_; begin < end; begin += size) {
      workspace.load_tile(kernel_, points_.matrix, weights(), begin, std::min(end, begin + size));
      visit(workspace.tile(), workspace.block());
    }
  }

  /// Pairs with both samples in the block. Points are taken in groups as wide as those of the
  /// leaves: each group with all samples after it, and point by point inside the group.
  template <class Visit>
  void cut_into_rectangles(std::size_t first, std::size_t last, Workspace& workspace,
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

  static simd::Tile behind(simd::Tile tile, std::size_t skip);
  static simd::Block points(Workspace& workspace, std::size_t first, std::size_t from,
                            std::size_t to);

  const TileKernel& kernel_;
  const std::size_t chunk_;
  Blocks blocks_, in_order_;
  std::vector<double> coordinate_, weight_;
  EvaluationPoints points_;
  std::vector<std::size_t> first_item_;
};

/// Sums of `terms` numbers over items: body(item, worker, sum) adds an item's share to sum[0 ..
/// terms), which starts at zero. The items' sums are added pairwise in item order, in batches of a
/// fixed size, so that memory does not grow with the number of items (16 MiB or one item's). Bits
/// as parallel_for.
std::vector<double> sum_over_items(
    std::size_t items, std::size_t terms, const ParallelOptions& options,
    const std::function<void(std::size_t item, int worker, double* sum)>& body);

}  // namespace kestrel

#endif
