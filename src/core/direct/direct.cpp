#include "core/direct/direct.hpp"

#include <algorithm>
#include <vector>

#include "core/base/summation.hpp"
#include "core/data/tiles.hpp"

namespace kestrel {

namespace {

/// Memory for the partial sums of the blocks that are in work at the same time.
constexpr std::size_t kPartialSums = (std::size_t{64} << 20) / sizeof(double);

/// One call of direct_density: blocks of points times chunks of samples.
class DensitySum {
 public:
  DensitySum(const MatrixView& x, Weights w, const EvaluationPoints& points,
             const TileKernel& kernel, const RunOptions& options)
      : x_(x),
        w_(w),
        points_(points),
        kernel_(kernel),
        options_(options),
        blocks_(cut_blocks(points, kernel, options.parallel)),
        chunk_(kernel.chunk_size(2 * x.cols)),
        chunks_(std::max<std::size_t>(1, (x.rows + chunk_ - 1) / chunk_)),
        workers_(parallel_workers(blocks_.count() * chunks_, options.parallel)) {}

  void run(const ScaledNumber& scale, Span<double> out) {
    const std::size_t at_a_time = std::max<std::size_t>(1, kPartialSums / (kBlockSize * chunks_));
    for (std::size_t first = 0; first < blocks_.count(); first += at_a_time) {
      const std::size_t last = std::min(blocks_.count(), first + at_a_time);
      partial_.resize((last - first) * kBlockSize * chunks_);
      const double all = static_cast<double>(blocks_.count());
      const ParallelOptions part = part_of(options_.parallel, static_cast<double>(first) / all,
                                           static_cast<double>(last) / all);
      parallel_for((last - first) * chunks_, part, [&](std::size_t item, int worker) {
        sum_item(first + item / chunks_, item % chunks_, first,
                 workers_[static_cast<std::size_t>(worker)]);
      });
      add_chunks(first, last, scale, out);
    }
  }

 private:
  double* partial(std::size_t block, std::size_t chunk) {
    return partial_.data() + (block * chunks_ + chunk) * kBlockSize;
  }

  void sum_item(std::size_t block, std::size_t chunk, std::size_t first, Workspace& workspace) {
    workspace.prepare(kernel_, 0);
    workspace.load_block(kernel_, points_, blocks_, blocks_.start[block], blocks_.start[block + 1]);
    const simd::Block targets = workspace.block();
    const simd::SumFunction leaf =
        kernel_.table().direct->sum[static_cast<std::size_t>(kernel_.leaf())];
    double* total = partial(block - first, chunk);
    std::fill(total, total + kBlockSize, 0.0);
    const std::size_t end = std::min(x_.rows, (chunk + 1) * chunk_);
    for (std::size_t begin = chunk * chunk_; begin < end; begin += kernel_.tile_size()) {
      workspace.load_tile(kernel_, x_, w_, begin, std::min(end, begin + kernel_.tile_size()));
      leaf(workspace.tile(), targets, workspace.parameters(kernel_), workspace.sum());
      for (std::size_t i = 0; i < targets.count; ++i) total[i] += workspace.sum()[i];
    }
  }

  void add_chunks(std::size_t first, std::size_t last, const ScaledNumber& scale,
                  Span<double> out) {
    for (std::size_t block = first; block < last; ++block) {
      const std::size_t start = blocks_.start[block];
      for (std::size_t i = 0; start + i < blocks_.start[block + 1]; ++i) {
        const double sum = pairwise_sum(partial(block - first, 0) + i, chunks_, kBlockSize);
        out[blocks_.point(start + i)] = scale.times(sum);
      }
    }
  }

  const MatrixView x_;
  const Weights w_;
  const EvaluationPoints& points_;
  const TileKernel& kernel_;
  const RunOptions& options_;
  const Blocks blocks_;
  const std::size_t chunk_, chunks_;
  std::vector<Workspace> workers_;
  std::vector<double> partial_;
};

}  // namespace

void direct_density(const MatrixView& x, Weights w, const EvaluationPoints& points,
                    const KernelChoice& choice, Span<const double> root, const RunOptions& options,
                    Span<double> out) {
  check_density_sizes(x, w, points, root, out);
  const ScaledNumber scale = kernel_scale(choice, x.cols, root);
  const TileKernel kernel(*options.table, choice, x.cols, root);
  DensitySum(x, w, points, kernel, options).run(scale, out);
}

}  // namespace kestrel
