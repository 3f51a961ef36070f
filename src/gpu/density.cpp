#include "gpu/density.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/data/evaluation_points.hpp"
#include "gpu/loader.hpp"
#include "gpu/poll.hpp"
#include "gpu/reach.hpp"

namespace kestrel {

namespace {

/// The maximum number of points that are gathered and sent at a time.
constexpr std::size_t kPiece = std::size_t{1} << 20;
/// How many numbers, of samples and weights as given, are on the device at a time: 512 MiB.
constexpr std::size_t kSampleNumbers = std::size_t{1} << 26;

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

/// Points in pieces of at most kPiece that share a centre.
struct Pieces {
  Blocks blocks;
  std::vector<double> centre;  // of all pieces; empty: the first point of each

  std::size_t count() const { return blocks.count(); }
};

Pieces cut_pieces(const EvaluationPoints& points, const TileKernel& kernel, bool as_given,
                  double reach, const ParallelOptions& options) {
  Pieces pieces;
  std::vector<double> half;
  measure_box(points, pieces.centre, half);
  if (as_given || within_reach(kernel, half, reach)) {
    for (std::size_t first = 0; first < points.size(); first += kPiece) {
      pieces.blocks.start.push_back(first);
    }
    pieces.blocks.start.push_back(points.size());
    return pieces;
  }
  pieces.centre.clear();
  pieces.blocks = cut_blocks(points, kernel, options, kPiece, 0.5 * reach);
  return pieces;
}

/// A sum that is open on the device.
class DeviceSum {
 public:
  DeviceSum(const TileKernel& whitening, const TileKernel& kernel, double reach, bool single)
      : table_(gpu_table()) {
    const simd::Whitening map = whitening.whitening(nullptr);
    kestrel_gpu_kernel request{};
    request.leaf = gpu_leaf(kernel);
    request.single_precision = single ? 1 : 0;
    request.d = static_cast<int>(map.d);
    request.diagonal = map.diagonal ? 1 : 0;
    request.matrix = map.matrix;
    request.root = kernel.parameters(nullptr).root;
    request.farthest = reach + kOutsideReach;
    check_gpu(table_.density_open(&request, &density_, text_, sizeof text_), text_);
  }
  DeviceSum(const DeviceSum&) = delete;
  DeviceSum& operator=(const DeviceSum&) = delete;
  ~DeviceSum() { table_.density_close(density_); }

  void samples(const MatrixView& x, Weights w, std::size_t first, std::size_t last) {
    const WeightArray weights(w.part(first, last - first));
    check_gpu(table_.density_samples(density_, x.data + first, x.rows, weights.data(), last - first,
                                     text_, sizeof text_),
              text_);
  }

  /// The sums at `count` points, whose variables are `stride` apart.
  void sum(const double* centre, const double* e, std::size_t stride, std::size_t count, double* to,
           PollState& state) {
    const int code = table_.density_sum(density_, centre, e, stride, count, to, PollState::ask,
                                        &state, text_, sizeof text_);
    state.rethrow();
    check_gpu(code, text_);
  }

 private:
  const kestrel_gpu_table& table_;
  void* density_ = nullptr;
  char text_[512] = "";
};

/// The points at positions [first, last) of the blocks, variable after variable. They are copied
/// some points at a time: writing one point after the other, in all variables, would miss the cache
/// with each number.
std::vector<double> gather(const EvaluationPoints& points, const Blocks& blocks, std::size_t first,
                           std::size_t last) {
  constexpr std::size_t kStrip = 64;
  const std::size_t d = points.dimension(), count = last - first;
  std::vector<double> e(count * d), strip(kStrip * d);
  for (std::size_t begin = 0; begin < count; begin += kStrip) {
    const std::size_t end = std::min(count, begin + kStrip);
    for (std::size_t i = begin; i < end; ++i) {
      points.copy(blocks.point(first + i), strip.data() + (i - begin) * d);
    }
    for (std::size_t k = 0; k < d; ++k) {
      for (std::size_t i = begin; i < end; ++i) e[k * count + i] = strip[(i - begin) * d + k];
    }
  }
  return e;
}

/// Adds the sums over the device's samples at the points of a piece to `out`.
void add_piece(DeviceSum& device, const EvaluationPoints& points, const Pieces& pieces,
               std::size_t piece, PollState& state, Span<double> out) {
  const Blocks& blocks = pieces.blocks;
  const std::size_t first = blocks.start[piece], last = blocks.start[piece + 1];
  const std::size_t count = last - first, d = points.dimension();
  if (count == 0) return;
  const bool as_they_are = blocks.order.empty() && points.axes.empty();
  std::vector<double> gathered;
  if (!as_they_are) gathered = gather(points, blocks, first, last);
  const double* e = as_they_are ? points.matrix.data + first : gathered.data();
  const std::size_t stride = as_they_are ? points.matrix.rows : count;
  std::vector<double> centre = pieces.centre, sum(count);
  if (centre.empty()) {
    for (std::size_t k = 0; k < d; ++k) centre.push_back(e[k * stride]);
  }
  device.sum(centre.data(), e, stride, count, sum.data(), state);
  for (std::size_t i = 0; i < count; ++i) out[blocks.point(first + i)] += sum[i];
}

}  // namespace

bool gpu_density(const MatrixView& x, Weights w, const EvaluationPoints& points,
                 const KernelChoice& choice, Span<const double> root, bool single_precision,
                 const RunOptions& options, Span<double> out) {
  check_density_sizes(x, w, points, root, out);
  const ScaledNumber scale = kernel_scale(choice, x.cols, root);
  const TileKernel kernel(*options.table, choice, x.cols, root);
  const TileKernel whitening(*options.table, whitening_choice(choice), x.cols, root);
  const bool as_given = gpu_leaf(kernel) == KESTREL_GPU_product_uniform;
  bool single = single_precision && kernel.whitens();
  double reach = gpu_reach(x.cols, single);
  Pieces pieces = cut_pieces(points, whitening, as_given, reach, options.parallel);
  if (single && pieces.count() > 64 + points.size() / 4096) {
    // Every centre costs a pass over the samples: the wider reach of double precision costs less.
    single = false;
    reach = gpu_reach(x.cols, single);
    pieces = cut_pieces(points, whitening, as_given, reach, options.parallel);
  }
  DeviceSum device(whitening, kernel, reach, single);
  std::fill(out.begin(), out.end(), 0.0);
  const std::size_t at_a_time =
      std::max<std::size_t>(1, std::min(x.rows, kSampleNumbers / (x.cols + 1)));
  PollState state(options.parallel.poll);
  for (std::size_t begin = 0; begin < x.rows; begin += at_a_time) {
    const std::size_t end = std::min(x.rows, begin + at_a_time);
    device.samples(x, w, begin, end);
    const double rows = static_cast<double>(x.rows), all = static_cast<double>(pieces.count());
    for (std::size_t piece = 0; piece < pieces.count(); ++piece) {
      const double share = static_cast<double>(end - begin) / rows;
      state.begin = static_cast<double>(begin) / rows + share * static_cast<double>(piece) / all;
      state.end = state.begin + share / all;
      add_piece(device, points, pieces, piece, state, out);
    }
  }
  for (std::size_t i = 0; i < out.size; ++i) out[i] = scale.times(out[i]);
  return single;
}

}  // namespace kestrel
