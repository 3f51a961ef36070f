#include "gpu/variable.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "gpu/device_sums.hpp"
#include "gpu/devices.hpp"
#include "gpu/reach.hpp"

namespace kestrel {

namespace {

static_assert(kVariableAxes == KESTREL_GPU_VARIABLE_AXES, "as many variables on the device");

/// What a pair takes an H200 at least, in double and in single precision.
constexpr double kVariablePairSeconds = 0.4e-12, kSingleVariablePairSeconds = 0.35e-12;

/// A coordinate in single precision is the sum of two numbers: good to 2^-48 of the distance from
/// the centre, and so to 2^-24 of a bandwidth within this many.
constexpr double kSingleBandwidths = 0x1p24;

/// How the device computes a task. In single precision coordinates are relative to the middle of
/// the points' range, and a sample is clamped to where no kernel reaches a point.
kestrel_gpu_variable variable_request(const VariableTask& task, bool single_precision,
                                      const ParallelOptions& options) {
  kestrel_gpu_variable request{};
  request.leaf = static_cast<int>(task.kernel);
  request.d = static_cast<int>(task.x.cols);
  request.by_point = task.by_point ? 1 : 0;
  request.unit = 1;
  if (!single_precision || is_indicator(task.kernel) || task.h.size == 0) return request;
  std::vector<double> centre, half;
  measure_box(task.at, centre, half, part_of(options, 0, 0));
  const auto ends = std::minmax_element(task.h.begin(), task.h.end());
  const double least = *ends.first, most = *ends.second;
  const double farthest = 2 * (*std::max_element(half.begin(), half.end()) + most);
  if (!(farthest <= kSingleBandwidths * least)) return request;
  request.single_precision = 1;
  request.unit = std::exp2(std::round(0.5 * (std::log2(least) + std::log2(most))));
  request.farthest = farthest / request.unit;
  std::copy(centre.begin(), centre.end(), request.centre);
  return request;
}

/// Pieces of points on the devices, each with all the samples that these have.
class VariablePieces {
 public:
  VariablePieces(const VariableTask& task, const kestrel_gpu_variable& request, Span<double> out)
      : table_(gpu_table()),
        task_(task),
        request_(request),
        out_(out),
        memory_(gpu_devices().size()) {
    const double seconds =
        static_cast<double>(task.x.rows) * static_cast<double>(out.size) *
        (request.single_precision != 0 ? kSingleVariablePairSeconds : kVariablePairSeconds);
    const std::size_t most = points_of_piece(out.size, seconds);
    for (std::size_t first = 0; first < out.size; first += most) blocks_.start.push_back(first);
    blocks_.start.push_back(out.size);
  }

  /// Adds the sums over samples begin, ..., end - 1.
  void add(std::size_t begin, std::size_t end, const ParallelOptions& options) {
    const Weights weights = task_.w.part(begin, end - begin);
    const double* h = task_.by_point ? nullptr : task_.h.data + begin;
    const auto open = [&](int device, const void* from) {
      void* variable = nullptr;
      char text[512] = "";
      check_gpu(
          table_.variable_open(device, &request_, task_.x.data + begin, task_.x.rows, weights.data,
                               h, end - begin, from, &variable, text, sizeof text),
          text);
      return variable;
    };
    DeviceTeam team(open, table_.variable_close);
    team.run(blocks_.count(), options, [&](std::size_t piece, const DeviceTeam::Turn& turn) {
      add_piece(blocks_.start[piece], blocks_.start[piece + 1], turn);
    });
  }

 private:
  void add_piece(std::size_t first, std::size_t last, const DeviceTeam::Turn& turn) {
    const std::size_t count = last - first;
    const SentPoints points(task_.at, blocks_, first, last);
    RawVector<double>& sum = memory_[turn.place];
    sum.resize(std::max(sum.size(), count));
    char text[512] = "";
    turn.check(table_.variable_sum(turn.handle, points.data(), points.stride(),
                                   task_.by_point ? task_.h.data + first : nullptr, count,
                                   sum.data(), PollState::ask, &turn.poll, text, sizeof text),
               text);
    for (std::size_t i = 0; i < count; ++i) out_[first + i] += sum[i];
  }

  const kestrel_gpu_table& table_;
  const VariableTask& task_;
  const kestrel_gpu_variable request_;
  const Span<double> out_;
  Blocks blocks_;
  std::vector<RawVector<double>> memory_;  // of devices, which add pieces one after the other
};

/// Multiplies the sums by the kernel's constant and, by point, h^-d, or else by that of the unit.
void scale_variable(const VariableTask& task, double unit, const ParallelOptions& options,
                    Span<double> out) {
  constexpr std::size_t kStrip = std::size_t{1} << 14;
  const double scale = unit_scale(task.kernel, task.x.cols);
  parallel_for((out.size + kStrip - 1) / kStrip, options, [&](std::size_t item, int) {
    const std::size_t end = std::min(out.size, (item + 1) * kStrip);
    for (std::size_t i = item * kStrip; i < end; ++i) {
      const double h = task.by_point ? task.h[i] : unit;
      out[i] *= scale;
      for (std::size_t k = 0; k < task.x.cols; ++k) out[i] /= h;
    }
  });
}

}  // namespace

void gpu_variable(const VariableTask& task, bool single_precision, const ParallelOptions& options,
                  Span<double> out) {
  check_variable_task(task, out);
  std::fill(out.begin(), out.end(), 0.0);
  if (out.size == 0) return;
  const kestrel_gpu_variable request = variable_request(task, single_precision, options);
  VariablePieces pieces(task, request, out);
  for_sample_parts(task.x.rows, task.x.cols + 2, options,
                   [&](std::size_t begin, std::size_t end, const ParallelOptions& share) {
                     pieces.add(begin, end, share);
                   });
  scale_variable(task, request.unit, part_of(options, 1, 1), out);
}

}  // namespace kestrel
