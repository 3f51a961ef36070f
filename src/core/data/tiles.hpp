// Samples and evaluation points cut into tiles and blocks for the leaf loops of simd/.
//
// A *tile* holds samples, a *block* evaluation points, both in coordinates made for the kernel
// (`Whitening`): there every bandwidth is one and a radial kernel takes a plain distance. The map
// is relative to the first point of each block, so that its rounding error is relative to the
// distance from there and not from a far origin. Blocks are cut small enough (kBlockRadius) for
// that error to stay below 1e-13 of a kernel's peak, whatever the offset, the outliers and the
// clusters of the data. Mapping a tile again for each block costs 2 ns a sample and block, 2 % of
// the sums of a full block (measured with AVX-512 and d = 1; less with narrower vectors).
#ifndef KESTREL_CORE_DATA_TILES_HPP
#define KESTREL_CORE_DATA_TILES_HPP

#include <cstddef>
#include <vector>

#include "core/base/aligned_buffer.hpp"
#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/data/evaluation_points.hpp"
#include "core/data/weights.hpp"
#include "core/kernel/kernel.hpp"
#include "simd/direct/direct.hpp"

namespace kestrel {

/// The maximum number of evaluation points in a block.
constexpr std::size_t kBlockSize = 256;
/// Half the width of a block. Its points lie within 2 kBlockRadius of the first of them in whitened
/// coordinates, each coordinate multiplied by the largest factor with which it enters another
/// (`stretch`). With a strongly correlated H a whitened coordinate is a small difference of large
/// terms. The terms are what rounds, so they are kept below 128, which rounds to 128 * 2^-52 =
/// 3e-14.
constexpr double kBlockRadius = 64.0;

/// A kernel with its bandwidth, prepared for the leaves of one instruction set.
class TileKernel {
 public:
  /// The kernel with the bandwidth matrix width^2 H. `root`: lower Cholesky factor of H, d*d
  /// column-major; outlives the object. `width` is 1 for the uniform kernels. Throws error(input)
  /// for a product kernel with a root that is not diagonal.
  TileKernel(const simd::Table& table, const KernelChoice& choice, std::size_t d,
             Span<const double> root, double width = 1.0);
  /// The Gaussian kernel times a polynomial in the squared distance |u|^2,
  /// u = (e - x) / g: sum_r coefficient[r] |u|^(2r) exp(-|u|^2 / 2).
  TileKernel(const simd::Table& table, std::size_t d, double g,
             const std::vector<double>& coefficient);

  std::size_t dimension() const { return d_; }
  /// Samples of one tile: what half of a level-1 cache of 32 KiB holds, at most 512.
  std::size_t tile_size() const;
  /// Samples of one work item: a multiple of the tile size, about 2^20 pairs with a full block if d
  /// is small. That takes 0.4 ms with AVX-512 and 10 ms without vectors (Gaussian kernel, d = 1);
  /// it has to be short, since polls happen between items.
  std::size_t chunk_size(std::size_t operations_of_a_pair) const;

  const simd::Table& table() const { return *table_; }
  simd::Leaf leaf() const { return leaf_; }
  /// False for the discontinuous kernels, which work on the data as given.
  bool whitens() const { return whitens_; }
  simd::Whitening whitening(const double* centre) const;
  /// max(1, |a_lk|, l > k) for the matrix a of the whitening: the largest factor with which
  /// coordinate k enters another.
  double stretch(std::size_t k) const { return stretch_[k]; }
  simd::Parameters parameters(double* scratch) const;

 private:
  void set_matrix(Span<const double> root, double unit);

  const simd::Table* table_;
  simd::Leaf leaf_;
  std::size_t d_;
  bool whitens_ = true;
  bool diagonal_ = true;
  std::vector<double> matrix_;       // of the whitening, row-major
  std::vector<double> stretch_;      // one for each coordinate
  std::vector<double> root_;         // of the bandwidth, row-major
  std::vector<double> coefficient_;  // of the polynomial, in the leaf's variable
};

/// Whitened coordinates of one point, as the leaf computes them but for their last bits.
void whiten_one(const simd::Whitening& map, const double* point, double* z);

/// One whitened coordinate unit in which the Gaussian kernel exp(-|u|^2/2) is 2^-|z|^2.
double gaussian_unit();

/// The order in which points are taken, and where the blocks begin.
struct Blocks {
  std::vector<std::size_t> order;  // empty: the order given
  std::vector<std::size_t> start;  // blocks + 1 entries, positions in `order`

  std::size_t count() const { return start.size() - 1; }
  std::size_t point(std::size_t position) const {
    return order.empty() ? position : order[position];
  }
};

/// How far a block extends: two radii from its first point, the width of one cell. The coordinates
/// of its points are relative to that one. In coordinates about any other centre, points far from
/// it that differ can be equal, because they are rounded, and cut where no kernel's support
/// extends.
class BlockWidth {
 public:
  BlockWidth(const EvaluationPoints& points, const TileKernel& kernel,
             double radius = kBlockRadius);

  void begin(std::size_t point);
  /// Whether a point may be in the block that began last. O(d^2).
  bool holds(std::size_t point);

 private:
  const EvaluationPoints& points_;
  const TileKernel& kernel_;
  const double radius_;
  std::vector<double> centre_, raw_, z_;
};

/// Cuts the points into blocks of at most `size` within `radius`. Points that span more than one
/// radius are first sorted by the cells of a coarse grid, so that neighbours share a block. O(m
/// d^2), and O(m log m) if they have to be sorted. Depends on the points only, never on threads.
Blocks cut_blocks(const EvaluationPoints& points, const TileKernel& kernel,
                  const ParallelOptions& options, std::size_t size = kBlockSize,
                  double radius = kBlockRadius);

/// One worker's memory: a tile, a block and the results of the leaves.
class Workspace {
 public:
  /// `monomials`: 0 for plain sums.
  void prepare(const TileKernel& kernel, std::size_t monomials);

  /// Loads a block: the points at positions [first, last) of `blocks`, relative to the first of
  /// them.
  void load_block(const TileKernel& kernel, const EvaluationPoints& points, const Blocks& blocks,
                  std::size_t first, std::size_t last);
  /// Pads the weights with zeros to a whole group of points.
  void set_block_weights(const double* weight, std::size_t count);
  /// Loads a tile: the samples [first, last), relative to the current block's centre.
  void load_tile(const TileKernel& kernel, const MatrixView& x, Weights w, std::size_t first,
                 std::size_t last);

  /// Copies the samples at positions [first, last) of the tile, at most simd::kTargets of them, to
  /// a small tile of their own.
  void load_corner(const TileKernel& kernel, std::size_t first, std::size_t last);

  simd::Tile tile() { return tile_; }
  simd::Tile corner() { return corner_; }
  simd::Block block() { return block_; }
  double* sum() { return sum_.data(); }
  simd::Parameters parameters(const TileKernel& kernel) {
    return kernel.parameters(scratch_.data());
  }

 private:
  std::vector<double> centre_;
  AlignedBuffer tile_coordinate_, tile_weight_, block_coordinate_, block_weight_, block_input_,
      corner_coordinate_, corner_weight_, sum_, scratch_;
  simd::Tile tile_{}, corner_{};
  simd::Block block_{};
};

}  // namespace kestrel

#endif
