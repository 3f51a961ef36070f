#include "gpu/density.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/data/evaluation_points.hpp"
#include "gpu/device_sums.hpp"
#include "gpu/reach.hpp"

namespace kestrel {

namespace {

/// What a pair takes an H200 at least, in double and in single precision: pieces are not smaller
/// for more variables.
constexpr double kDirectPairSeconds = 1e-12, kSinglePairSeconds = 0.25e-12;

int gpu_leaf(const TileKernel& kernel) {
  static_assert(static_cast<int>(simd::Leaf::gaussian_polynomial) == KESTREL_GPU_LEAVES,
                "the leaves of kernels in the same order");
  const int leaf = static_cast<int>(kernel.leaf());
  if (leaf >= KESTREL_GPU_LEAVES) {
    throw error(ErrorKind::internal, "a kernel that the device does not have");
  }
  // In one dimension |fl(a / h)| <= 1 if and only if |a| <= h: nothing needs to be divided.
  return leaf == KESTREL_GPU_uniform && kernel.dimension() == 1 ? KESTREL_GPU_product_uniform
                                                                : leaf;
}

/// The kernel that gives the whitening. For the uniform kernel, which takes the data as given, it
/// is another one with the same H.
KernelChoice whitening_choice(const KernelChoice& choice) {
  if (!is_indicator(choice.kernel)) return choice;
  return {Kernel::epanechnikov, choice.type};
}

}  // namespace

bool gpu_density(const MatrixView& x, Weights w, const EvaluationPoints& points,
                 const KernelChoice& choice, Span<const double> root, bool single_precision,
                 const RunOptions& options, Span<double> out, double divisor) {
  check_density_sizes(x, w, points, root, out);
  const TileKernel kernel(*options.table, choice, x.cols, root);
  const TileKernel whitening(*options.table, whitening_choice(choice), x.cols, root);
  const bool as_given = gpu_leaf(kernel) == KESTREL_GPU_product_uniform;
  bool single = single_precision && kernel.whitens();
  double reach = gpu_reach(x.cols, single);
  const double pairs = static_cast<double>(x.rows) * static_cast<double>(points.size());
  const auto cut = [&] {
    const double seconds = pairs * (single ? kSinglePairSeconds : kDirectPairSeconds);
    const std::size_t most = points_of_piece(points.size(), seconds);
    return cut_pieces(points, whitening, as_given, reach, most, options.parallel);
  };
  Pieces pieces = cut();
  if (single && pieces.count() > 64 + points.size() / 4096) {
    // Every centre costs a pass over the samples: the wider reach of double precision costs less.
    single = false;
    reach = gpu_reach(x.cols, single);
    pieces = cut();
  }
  kestrel_gpu_kernel request{};
  request.leaf = gpu_leaf(kernel);
  request.single_precision = single ? 1 : 0;
  request.root = kernel.parameters(nullptr).root;
  DeviceSums(whitening, reach, request).run(x, w, points, pieces, options, out);
  scale_all(kernel_scale(choice, x.cols, root), part_of(options.parallel, 1, 1), out, divisor);
  return single;
}

}  // namespace kestrel
