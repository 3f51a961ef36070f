// The pairs of a sample that are near enough for the Gaussian kernel, as tiles and blocks for the
// leaf loops: for samples that are spread over many more bandwidths than the kernel reaches.
#ifndef KESTREL_CORE_DIRECT_NEAR_PAIRS_HPP
#define KESTREL_CORE_DIRECT_NEAR_PAIRS_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/data/tiles.hpp"
#include "core/data/weights.hpp"
#include "simd/direct/gaussian_pairs.hpp"

namespace kestrel {

/// All pairs i < j whose samples lie in the same cubic cell or in two that touch; the cells are as
/// wide as the kernel reaches. In the order of the cells, samples of three cells in a row are
/// neighbours:
///
///     row above   | . | b | b | b | . |      a: the block, the samples of one cell
///     row         | . | . | a | b | . |      b: the tiles, samples that come after it
///
/// Work items are cells in a row of about as many pairs, the same on any number of threads. O(n d)
/// memory. Keeps a reference to the kernel.
class NearPairs {
 public:
  /// For the kernel 2^-(decay |z|^2) in whitened coordinates z, decay <= 1. With the pairs that are
  /// left out, sums change by at most 2^-55 of the terms i = j, and so do moments of degree two.
  /// O(n log n). Throws error(input) unless there is one weight for each row of x.
  NearPairs(const MatrixView& x, Weights w, const TileKernel& kernel, double decay,
            const ParallelOptions& options);

  /// Whether there are far fewer pairs than all; if not, there are no items. False for more than
  /// three variables and for few samples.
  bool is_worth() const { return !first_chunk_.empty(); }
  std::size_t items() const { return first_chunk_.size() - 1; }

  /// As those of PairTiles. Blocks are loaded where they are needed.
  void load_block(std::size_t, Workspace&) const {}
  template <class Visit>
  void run_tiles(std::size_t item, Workspace& workspace, const Visit& visit) const {
    const std::size_t size = kernel_.tile_size(), d = kernel_.dimension();
    for (std::size_t c = first_chunk_[item]; c < first_chunk_[item + 1]; ++c) {
      const Chunk& chunk = chunk_[c];
      workspace.load_block(kernel_, points_, in_order_, chunk.first, chunk.last);
      workspace.set_block_weights(weight_.data() + chunk.first, chunk.last - chunk.first);
      for (std::size_t begin = chunk.first; begin < chunk.last; begin += size) {
        load_tile(begin, std::min(chunk.last, begin + size), workspace);
        // Sample begin + j comes after point first + i.
        visit(simd::PairVisit{workspace.tile(), workspace.block(),
                              -static_cast<std::ptrdiff_t>(begin - chunk.first), d});
      }
      for (const Part& part : chunk.after) {
        for (std::size_t begin = part.first; begin < part.last; begin += size) {
          load_tile(begin, std::min(part.last, begin + size), workspace);
          visit(simd::PairVisit{workspace.tile(), workspace.block(), simd::kAllPairs, d});
        }
      }
    }
  }

 private:
  using Cell = std::array<double, 3>;
  struct Part {
    std::size_t first = 0, last = 0;
  };
  /// Samples of one cell, at most kBlockSize, and those that come after them: of the same row, and
  /// of the four rows (in two dimensions one) after it.
  struct Chunk {
    std::size_t first, last;
    std::array<Part, 5> after;

    double pairs() const {
      const double count = static_cast<double>(last - first);
      double others = 0.5 * count;
      for (const Part& part : after) others += static_cast<double>(part.last - part.first);
      return count * others;
    }
  };

  void load_tile(std::size_t first, std::size_t last, Workspace& workspace) const {
    workspace.load_tile(kernel_, points_.matrix, {weight_.data(), weight_.size()}, first, last);
  }
  /// The cell of each sample; empty if so few cells would be of no use.
  std::vector<Cell> cells_of(const MatrixView& x, double side,
                             const ParallelOptions& options) const;
  /// Returns false if two cells have the same hash.
  bool arrange(const MatrixView& x, Weights w, const std::vector<Cell>& cells);
  void cut_into_chunks(const std::vector<Cell>& cell, const std::vector<std::size_t>& start);
  void group_chunks();

  const TileKernel& kernel_;
  Blocks in_order_;
  std::vector<double> coordinate_, weight_;
  EvaluationPoints points_;
  std::vector<Chunk> chunk_;
  std::vector<std::size_t> first_chunk_;
};

}  // namespace kestrel

#endif
