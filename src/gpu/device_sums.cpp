#include "gpu/device_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "gpu/reach.hpp"

namespace kestrel {

namespace {

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

SentPoints::SentPoints(const EvaluationPoints& points, const Blocks& blocks, std::size_t first,
                       std::size_t last) {
  const bool as_they_are = blocks.order.empty() && points.axes.empty();
  if (!as_they_are) copy_ = gather(points, blocks, first, last);
  data_ = as_they_are ? points.matrix.data + first : copy_.data();
  stride_ = as_they_are ? points.matrix.rows : last - first;
}

Pieces cut_pieces(const EvaluationPoints& points, const TileKernel& kernel, bool as_given,
                  double reach, std::size_t most, const ParallelOptions& options) {
  Pieces pieces;
  std::vector<double> half;
  measure_box(points, pieces.centre, half, options);
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

std::size_t points_of_piece(std::size_t points, double seconds) {
  // A multiple of the points that a device pads pieces to.
  constexpr std::size_t kUnit = 1024;
  return std::min(kPointsAtOnce, piece_length(points, piece_count(seconds), kUnit));
}

void scale_all(const ScaledNumber& scale, const ParallelOptions& options, Span<double> values,
               double divisor) {
  constexpr std::size_t kStrip = std::size_t{1} << 14;
  // What ScaledNumber::times() gives, too, unless a value is near an end of the range.
  constexpr double kLeast = 0x1p-400, kLargest = 0x1p400;
  const bool usual = std::abs(scale.exponent) <= 400;
  const double power = usual ? std::ldexp(1.0, scale.exponent) : 0.0;
  parallel_for((values.size + kStrip - 1) / kStrip, options, [&](std::size_t strip, int) {
    const std::size_t end = std::min(values.size, (strip + 1) * kStrip);
    for (std::size_t i = strip * kStrip; i < end; ++i) {
      const double size = std::fabs(values[i]);
      const bool inside = usual && size >= kLeast && size <= kLargest;
      const double scaled = inside ? scale.mantissa * values[i] * power : scale.times(values[i]);
      values[i] = scaled / divisor;
    }
  });
}

DeviceSums::DeviceSums(const TileKernel& whitening, double reach, kestrel_gpu_kernel request)
    : table_(gpu_table()), request_(request), values_(std::max<std::size_t>(1, request.moments)) {
  const simd::Whitening map = whitening.whitening(nullptr);
  request_.d = static_cast<int>(map.d);
  request_.diagonal = map.diagonal ? 1 : 0;
  request_.matrix = map.matrix;
  request_.farthest = reach + kOutsideReach;
}

/// The sums at the points of a piece.
void DeviceSums::sum_piece(const EvaluationPoints& points, const Pieces& pieces, std::size_t piece,
                           const DeviceTeam::Turn& turn, double* sum) const {
  const Blocks& blocks = pieces.blocks;
  const std::size_t first = blocks.start[piece], last = blocks.start[piece + 1];
  if (first == last) return;
  const SentPoints sent(points, blocks, first, last);
  std::vector<double> centre = pieces.centre;
  if (centre.empty()) {
    for (std::size_t k = 0; k < points.dimension(); ++k) {
      centre.push_back(sent.data()[k * sent.stride()]);
    }
  }
  char text[512] = "";
  turn.check(table_.density_sum(turn.handle, centre.data(), sent.data(), sent.stride(),
                                last - first, sum, PollState::ask, &turn.poll, text, sizeof text),
             text);
}

void DeviceSums::for_pieces(const MatrixView& x, Weights w, const Pieces& pieces,
                            const RunOptions& options, const Body& body) const {
  const auto add_part = [&](std::size_t begin, std::size_t end, const ParallelOptions& share) {
    const Weights weights = w.part(begin, end - begin);
    const auto open = [&](int device, const void* from) {
      void* density = nullptr;
      char text[512] = "";
      check_gpu(table_.density_open(device, &request_, x.data + begin, x.rows, weights.data,
                                    end - begin, from, &density, text, sizeof text),
                text);
      return density;
    };
    DeviceTeam team(open, table_.density_close);
    team.run(pieces.count(), share,
             [&](std::size_t piece, const DeviceTeam::Turn& turn) { body(begin, piece, turn); });
  };
  for_sample_parts(x.rows, x.cols + 1, options.parallel, add_part);
}

void DeviceSums::run(const MatrixView& x, Weights w, const EvaluationPoints& points,
                     const Pieces& pieces, const RunOptions& options, const Add& add) const {
  const Blocks& blocks = pieces.blocks;
  // A device adds pieces one after the other.
  std::vector<RawVector<double>> memory(gpu_devices().size());
  for_pieces(x, w, pieces, options,
             [&](std::size_t, std::size_t piece, const DeviceTeam::Turn& turn) {
               const std::size_t first = blocks.start[piece];
               const std::size_t count = blocks.start[piece + 1] - first;
               RawVector<double>& sums = memory[turn.place];
               sums.resize(std::max(sums.size(), count * values_));
               sum_piece(points, pieces, piece, turn, sums.data());
               add({blocks, first, count, sums.data(), turn.place});
             });
}

void DeviceSums::run(const MatrixView& x, Weights w, const EvaluationPoints& points,
                     const Pieces& pieces, const RunOptions& options, Span<double> out) const {
  const Blocks& blocks = pieces.blocks;
  const bool in_order = blocks.order.empty() && x.rows > 0;
  if (!in_order) std::fill(out.begin(), out.end(), 0.0);
  std::vector<RawVector<double>> memory(gpu_devices().size());
  for_pieces(x, w, pieces, options,
             [&](std::size_t begin, std::size_t piece, const DeviceTeam::Turn& turn) {
               const std::size_t first = blocks.start[piece];
               const std::size_t count = blocks.start[piece + 1] - first;
               if (in_order && begin == 0) {
                 return sum_piece(points, pieces, piece, turn, out.data + first);
               }
               RawVector<double>& sums = memory[turn.place];
               sums.resize(std::max(sums.size(), count));
               sum_piece(points, pieces, piece, turn, sums.data());
               for (std::size_t i = 0; i < count; ++i) out[blocks.point(first + i)] += sums[i];
             });
}

}  // namespace kestrel
