#include "gpu/device_sums.hpp"

#include <algorithm>

#include "gpu/reach.hpp"

namespace kestrel {

namespace {

/// How many numbers, of samples and weights as given, are on the device at a time: 512 MiB.
constexpr std::size_t kSampleNumbers = std::size_t{1} << 26;

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

}  // namespace

Pieces cut_pieces(const EvaluationPoints& points, const TileKernel& kernel, bool as_given,
                  double reach, std::size_t most, const ParallelOptions& options) {
  Pieces pieces;
  std::vector<double> half;
  measure_box(points, pieces.centre, half);
  if (as_given || within_reach(kernel, half, reach)) {
    for (std::size_t first = 0; first < points.size(); first += most) {
      pieces.blocks.start.push_back(first);
    }
    pieces.blocks.start.push_back(points.size());
    return pieces;
  }
  pieces.centre.clear();
  pieces.blocks = cut_blocks(points, kernel, options, most, 0.5 * reach);
  return pieces;
}

DeviceSums::DeviceSums(const TileKernel& whitening, double reach, kestrel_gpu_kernel request)
    : table_(gpu_table()), values_(std::max<std::size_t>(1, request.moments)) {
  const simd::Whitening map = whitening.whitening(nullptr);
  request.d = static_cast<int>(map.d);
  request.diagonal = map.diagonal ? 1 : 0;
  request.matrix = map.matrix;
  request.farthest = reach + kOutsideReach;
  check_gpu(table_.density_open(&request, &density_, text_, sizeof text_), text_);
}

void DeviceSums::samples(const MatrixView& x, Weights w, std::size_t first, std::size_t last) {
  const WeightArray weights(w.part(first, last - first));
  check_gpu(table_.density_samples(density_, x.data + first, x.rows, weights.data(), last - first,
                                   text_, sizeof text_),
            text_);
}

void DeviceSums::add_piece(const EvaluationPoints& points, const Pieces& pieces, std::size_t piece,
                           PollState& state, const Add& add) {
  const Blocks& blocks = pieces.blocks;
  const std::size_t first = blocks.start[piece], last = blocks.start[piece + 1];
  const std::size_t count = last - first, d = points.dimension();
  if (count == 0) return;
  const bool as_they_are = blocks.order.empty() && points.axes.empty();
  std::vector<double> gathered;
  if (!as_they_are) gathered = gather(points, blocks, first, last);
  const double* e = as_they_are ? points.matrix.data + first : gathered.data();
  const std::size_t stride = as_they_are ? points.matrix.rows : count;
  std::vector<double> centre = pieces.centre, sum(count * values_);
  if (centre.empty()) {
    for (std::size_t k = 0; k < d; ++k) centre.push_back(e[k * stride]);
  }
  const int code = table_.density_sum(density_, centre.data(), e, stride, count, sum.data(),
                                      PollState::ask, &state, text_, sizeof text_);
  state.rethrow();
  check_gpu(code, text_);
  for (std::size_t i = 0; i < count; ++i) add(blocks.point(first + i), sum.data() + i, count);
}

void DeviceSums::run(const MatrixView& x, Weights w, const EvaluationPoints& points,
                     const Pieces& pieces, const RunOptions& options, const Add& add) {
  const std::size_t at_a_time =
      std::max<std::size_t>(1, std::min(x.rows, kSampleNumbers / (x.cols + 1)));
  PollState state(options.parallel.poll);
  for (std::size_t begin = 0; begin < x.rows; begin += at_a_time) {
    const std::size_t end = std::min(x.rows, begin + at_a_time);
    samples(x, w, begin, end);
    const double rows = static_cast<double>(x.rows), all = static_cast<double>(pieces.count());
    for (std::size_t piece = 0; piece < pieces.count(); ++piece) {
      const double share = static_cast<double>(end - begin) / rows;
      state.begin = static_cast<double>(begin) / rows + share * static_cast<double>(piece) / all;
      state.end = state.begin + share / all;
      add_piece(points, pieces, piece, state, add);
    }
  }
}

}  // namespace kestrel
