// Sums over samples at evaluation points: blocks of points times chunks of samples.
#ifndef KESTREL_CORE_DIRECT_BLOCK_SUMS_HPP
#define KESTREL_CORE_DIRECT_BLOCK_SUMS_HPP

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/summation.hpp"
#include "core/data/tiles.hpp"

namespace kestrel {

/// Memory for the partial sums of the blocks that are in work at the same time.
constexpr std::size_t kPartialSums = (std::size_t{64} << 20) / sizeof(double);

/// One call of direct_density() or direct_derivatives(). A Leaf adds `values` sums over the samples
/// of a tile for each point of a block: add(kernel, workspace, stride, total), number t of point i
/// at total[t * stride + i]. With many values blocks have fewer points, so that the partial sums of
/// one block fit, too.
template <class Leaf>
class BlockSums {
 public:
  /// operations: of a pair, see TileKernel::chunk_size(). monomials: see Workspace::prepare().
  BlockSums(const MatrixView& x, Weights w, const EvaluationPoints& points,
            const TileKernel& kernel, const RunOptions& options, double radius, const Leaf& leaf,
            std::size_t operations, std::size_t monomials)
      : x_(x),
        w_(w),
        points_(points),
        kernel_(kernel),
        options_(options),
        leaf_(leaf),
        monomials_(monomials),
        chunk_(kernel.chunk_size(operations)),
        chunks_(std::max<std::size_t>(1, (x.rows + chunk_ - 1) / chunk_)),
        size_(leaf.values == 1 ? kBlockSize
                               : std::min(kBlockSize, 1 + kPartialSums / (leaf.values * chunks_))),
        row_(size_ * leaf.values),
        blocks_(cut_blocks(points, kernel, options.parallel, size_, radius)),
        workers_(parallel_workers(blocks_.count() * chunks_, options.parallel)) {}

  /// Calls take(point, sum) for every point, one after the other: sum(t) is its sum number t.
  template <class Take>
  void run(const Take& take) {
    const std::size_t at_a_time = std::max<std::size_t>(1, kPartialSums / (row_ * chunks_));
    for (std::size_t first = 0; first < blocks_.count(); first += at_a_time) {
      const std::size_t last = std::min(blocks_.count(), first + at_a_time);
      partial_.resize((last - first) * row_ * chunks_);
      const double all = static_cast<double>(blocks_.count());
      const ParallelOptions part = part_of(options_.parallel, static_cast<double>(first) / all,
                                           static_cast<double>(last) / all);
      parallel_for((last - first) * chunks_, part, [&](std::size_t item, int worker) {
        sum_item(first + item / chunks_, item % chunks_, first,
                 workers_[static_cast<std::size_t>(worker)]);
      });
      for (std::size_t block = first; block < last; ++block) {
        const std::size_t start = blocks_.start[block];
        for (std::size_t i = 0; start + i < blocks_.start[block + 1]; ++i) {
          take(blocks_.point(start + i), [&](std::size_t t) {
            return pairwise_sum(partial(block - first, 0) + t * size_ + i, chunks_, row_);
          });
        }
      }
    }
  }

 private:
  double* partial(std::size_t block, std::size_t chunk) {
    return partial_.data() + (block * chunks_ + chunk) * row_;
  }

  void sum_item(std::size_t block, std::size_t chunk, std::size_t first, Workspace& workspace) {
    workspace.prepare(kernel_, monomials_);
    workspace.load_block(kernel_, points_, blocks_, blocks_.start[block], blocks_.start[block + 1]);
    double* total = partial(block - first, chunk);
    std::fill(total, total + row_, 0.0);
    const std::size_t end = std::min(x_.rows, (chunk + 1) * chunk_);
    for (std::size_t begin = chunk * chunk_; begin < end; begin += kernel_.tile_size()) {
      workspace.load_tile(kernel_, x_, w_, begin, std::min(end, begin + kernel_.tile_size()));
      leaf_.add(kernel_, workspace, size_, total);
    }
  }

  const MatrixView x_;
  const Weights w_;
  const EvaluationPoints& points_;
  const TileKernel& kernel_;
  const RunOptions& options_;
  const Leaf leaf_;
  const std::size_t monomials_;
  const std::size_t chunk_, chunks_, size_, row_;
  const Blocks blocks_;
  std::vector<Workspace> workers_;
  std::vector<double> partial_;
};

}  // namespace kestrel

#endif
