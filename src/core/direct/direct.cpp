#include "core/direct/direct.hpp"

#include "core/direct/block_sums.hpp"

namespace kestrel {

namespace {

struct DensityLeaf {
  static constexpr std::size_t values = 1;

  void add(const TileKernel& kernel, Workspace& workspace, std::size_t, double* total) const {
    const simd::Block block = workspace.block();
    kernel.table().direct->sum[static_cast<std::size_t>(kernel.leaf())](
        workspace.tile(), block, workspace.parameters(kernel), workspace.sum());
    for (std::size_t i = 0; i < block.count; ++i) total[i] += workspace.sum()[i];
  }
};

}  // namespace

void direct_density(const MatrixView& x, Weights w, const EvaluationPoints& points,
                    const KernelChoice& choice, Span<const double> root, const RunOptions& options,
                    Span<double> out) {
  check_density_sizes(x, w, points, root, out);
  const ScaledNumber scale = kernel_scale(choice, x.cols, root);
  const TileKernel kernel(*options.table, choice, x.cols, root);
  BlockSums<DensityLeaf>(x, w, points, kernel, options, kBlockRadius, {}, 2 * x.cols, 0)
      .run([&](std::size_t point, const auto& sum) { out[point] = scale.times(sum(0)); });
}

}  // namespace kestrel
