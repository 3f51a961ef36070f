#include "gpu/scanline.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/led.hpp"
#include "core/base/stream_copy.hpp"
#include "core/base/whole.hpp"
#include "gpu/cost.hpp"
#include "gpu/loader.hpp"
#include "gpu/poll.hpp"
#include "gpu/scanline_tiles.hpp"
#include "shared/scanline.hpp"

namespace kestrel {

namespace {

/// With one device most parts of a slab are an equal share of it, within these limits on their
/// bytes, so that most of it is copied while the rest is computed; scanline_held_parts() says how
/// many are on the device at a time. kShareOfMemory: the share of the device's free memory for the
/// parts if runs lie along the last axis.
constexpr double kParts = 32, kMinPart = 8388608.0, kMaxPart = 50331648.0;
constexpr double kShareOfMemory = 0.8;
/// With several devices: the number of pieces that a slab has at least if these are not too small,
/// and limits on the bytes of one. Pieces where most samples are take longest.
constexpr double kPieces = 48, kMinPiece = 1048576.0, kMaxPiece = 268435456.0;
/// The share of what is left of a piece that its next part has at most, and with several devices
/// the share of the whole piece. See graded_parts().
constexpr double kNextPart = 0.45, kLargestPart = 0.15;
/// Values that a thread copies at a time.
constexpr std::size_t kCopied = std::size_t{1} << 15;
/// The share of the time that sorting takes, as far as progress is reported.
constexpr double kSortingShare = 0.3;

ScanlineSettings settings_for(const KernelChoice& choice, std::size_t d,
                              const ScanlineSettings& given) {
  gpu_table();  // throws if there is none, before samples are sorted
  ScanlineSettings settings;
  settings.limbs = given.limbs;
  settings.divisor = given.divisor;
  settings.method = gpu_takes_events(choice, d) ? ScanlineMethod::events : ScanlineMethod::rows;
  settings.sorted = true;
  return settings;
}

/// The description of a grid and its samples for the device.
kestrel_gpu_scanline request_for(const ScanlineDensity& density, bool events) {
  const ScanlineGeometry& geometry = density.geometry();
  const simd::ScanlineForm form = density.form();
  const simd::ScanlineSamples samples = density.sample()->leaf();
  const simd::ScanlineOutput output = density.output(nullptr);
  kestrel_gpu_scanline request{};
  request.axes = form.axes;
  request.leaf = static_cast<int>(form.kernel) +
                 (geometry.product() && !events ? static_cast<int>(kKernels) : 0);
  request.events = events ? 1 : 0;
  request.limbs = form.limbs;
  for (std::size_t i = 0; i < geometry.axes(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) request.slope[i][j] = form.slope[i][j];
    request.inverse[i] = form.inverse[i];
    const ScanlineAxis& axis = samples.axis[i];
    request.axis[i] = {axis.origin,    axis.inverse_step,
                       axis.step_high, axis.step_low,
                       samples.x[i],   geometry.max_shift(i) > 0 ? geometry.shift(i) : nullptr,
                       nullptr,        geometry.count(i)};
  }
  const simd::ScanlineData data = density.data();
  request.d = static_cast<int>(data.d);
  for (std::size_t k = 0; k < data.d; ++k) {
    request.axis_of[k] = data.axis_of[k];
    request.axis[data.axis_of[k]].point = data.point[k];
    for (std::size_t l = 0; l <= k; ++l) request.root[k][l] = data.root[k][l];
  }
  request.room = form.room;
  request.limb_scale = form.limb_scale;
  request.row_shift = form.row_shift;
  request.run_shift = form.run_shift;
  request.n = density.sample()->size();
  request.weight = samples.weight;
  request.common = samples.common;
  request.limb = output.limb;
  request.factor = output.factor;
  request.power = output.power;
  request.row_stride = output.row_stride;
  request.run_stride = output.run_stride;
  return request;
}

/// Whether runs lie along the last axis, so that each part of a slab cuts them.
bool runs_along(const ScanlineGeometry& geometry) {
  const std::size_t run = geometry.axes() - 1;
  return geometry.line() || geometry.user(run) == run;
}

/// Cuts `count` indices into parts of `most`, all in one piece or each in its own.
Cuts equal_parts(std::size_t count, double most, bool apart) {
  const std::size_t length = whole_number<std::size_t>(std::max(1.0, most));
  Cuts cuts;
  for (std::size_t at = 0; at < count; at += length) {
    if (apart || cuts.empty()) cuts.emplace_back();
    cuts.back().push_back(std::min(length, count - at));
  }
  return cuts;
}

/// Cuts `count` indices into pieces of `length`, each of them into parts of at most `most`. Parts
/// grow from `first`, since nothing is copied before one is done, and shrink to `least`, since the
/// device has nothing to do while the last one is copied.
Cuts graded_parts(std::size_t count, std::size_t length, double first, double least, double most) {
  Cuts cuts;
  for (std::size_t at = 0; at < count; at += length) {
    cuts.emplace_back();
    double next = first;
    for (std::size_t left = std::min(length, count - at); left > 0; next *= 2) {
      next = std::max(least, std::min({next, most, kNextPart * static_cast<double>(left)}));
      cuts.back().push_back(std::min(left, whole_number<std::size_t>(std::max(1.0, next))));
      left -= cuts.back().back();
    }
  }
  return cuts;
}

/// The pieces of a slab of `count` indices of the last axis. With one device one piece has all
/// parts. `held`: bytes of parts that the device still holds from earlier slabs.
Cuts cut_slab(const ScanlineDensity& density, std::size_t count, double held, std::size_t devices) {
  const double slice = 8.0 * static_cast<double>(density.points());
  const double all = slice * static_cast<double>(count);
  if (runs_along(density.geometry())) {
    double bytes = kShareOfMemory * (gpu_free_memory() + held) / 2;
    if (devices > 1) {
      const double share = all / static_cast<double>(devices);
      bytes = std::min(bytes, std::max(share, least_piece(kMinPiece)));
    }
    return equal_parts(count, bytes / slice, devices > 1);
  }
  if (devices == 1) {
    const double most = std::min(std::max(all / kParts, kMinPart), kMaxPart) / slice;
    return graded_parts(count, count, kMinPart / slice, kMinPart / slice, most);
  }
  const double bytes = std::min(std::max(all / kPieces, least_piece(kMinPiece)), kMaxPiece);
  const std::size_t length =
      piece_length(count, whole_number<std::size_t>(std::ceil(all / bytes)), 1);
  const double most = kLargestPart * static_cast<double>(length);
  return graded_parts(count, length, most, least_piece(kMinPiece / 4) / slice, most);
}

/// How many of the devices compute a slab. `back`: whether its values are copied to the host.
std::size_t devices_for(const ScanlineDensity& density, const KernelChoice& choice,
                        std::size_t count, bool back, std::size_t devices, int threads) {
  if (!back) return devices;
  const double share = static_cast<double>(count) / static_cast<double>(density.count());
  const double points = static_cast<double>(count) * static_cast<double>(density.points());
  const double samples = share * static_cast<double>(density.sample()->size());
  const double work = gpu_scanline_work(density.geometry(), choice, samples, points);
  return gpu_scanline_devices(work, points, devices, threads);
}

/// Device callbacks: the poll, the one that takes values, and the one that runs this beside the
/// launches. The context of all is this state.
struct SlabState {
  const DeviceTeam::Turn& turn;
  double* out;
  const ParallelOptions& threads;
  bool paired = false;
  std::exception_ptr thrown = nullptr;  // by the thread that takes values

  static int ask_poll(void* context, double fraction) {
    return PollState::ask(&static_cast<SlabState*>(context)->turn.poll, fraction);
  }

  static int take(void* context, std::size_t first, const double* values, std::size_t count) {
    SlabState& state = *static_cast<SlabState*>(context);
    try {
      const std::size_t strips = (count + kCopied - 1) / kCopied;
      const auto copy = [&](std::size_t strip) {
        const std::size_t begin = strip * kCopied, end = std::min(count, begin + kCopied);
        stream_copy(values + begin, end - begin, state.out + first + begin);
      };
      if (state.paired) {
        helped_for(strips, copy);
      } else {
        state.turn.host_for(strips, state.threads, copy);
      }
    } catch (...) {
      state.thrown = std::current_exception();
      return 1;
    }
    return 0;
  }

  static int pair(void* context, void (*body)(void* task, int item), void* task) {
    SlabState& state = *static_cast<SlabState*>(context);
    if (state.turn.led || parallel_threads(state.threads) < 2) return 0;
    state.paired = true;
    bool begun = false;  // by this thread, which is worker 0
    parallel_led_for(2, 2, state.threads, [&](std::size_t, int worker) {
      const bool first = worker == 0 && !begun;
      if (first) begun = true;
      body(task, first ? 0 : 1);
    });
    state.paired = false;
    return 1;
  }
};

}  // namespace

GpuScanline::GpuScanline(const MatrixView& x, Weights w, Span<const RegularAxis> axes,
                         const KernelChoice& choice, Span<const double> root,
                         const ScanlineSettings& settings, const RunOptions& options)
    : choice_(choice),
      events_(gpu_takes_events(choice, x.cols)),
      density_(x, w, axes, choice, root, settings_for(choice, x.cols, settings), options),
      table_(gpu_table()),
      team_(
          [this](int device, const void* from) {
            const kestrel_gpu_scanline request = request_for(density_, events_);
            void* runs = nullptr;
            char text[512] = "";
            check_gpu(table_.scanline_open(device, &request, from, &runs, text, sizeof text), text);
            return runs;
          },
          table_.scanline_close) {
  if (!density_.empty()) team_.prepare();
}

void GpuScanline::slab(std::size_t first, std::size_t count, const RunOptions& options,
                       Span<double> out) const {
  gpu_table();  // throws if it can no longer be used: after a fork, or a failure of the driver
  if (count < 1 || first >= this->count() || count > this->count() - first ||
      out.size != count * points()) {
    throw error(ErrorKind::internal, "a slab beyond the grid or an output of a wrong size");
  }
  if (density_.empty()) {
    if (out.data != nullptr) std::fill(out.begin(), out.end(), 0.0);
    return;
  }
  const ScanlineScale& scale = density_.sample()->scale();
  ParallelOptions threads = options.parallel;
  threads.poll = nullptr;
  const bool back = out.data != nullptr;
  const std::size_t devices =
      devices_for(density_, choice_, count, back, team_.size(), parallel_threads(options.parallel));
  const Cuts cuts = cut_slab(density_, count, held_, devices);
  const SlabTiles slab = scanline_tiles(density_, events_, first, cuts, threads);
  std::vector<char> beyond(slab.piece.size());
  held_ = 0.0;  // unknown if the slab fails
  const DeviceTeam::Way way{devices, back && devices > 1};
  const auto one = [&](std::size_t piece, const DeviceTeam::Turn& turn) {
    const PieceTiles& tiles = slab.piece[piece];
    const kestrel_gpu_scanline_slab request{
        tiles.tile.data(), tiles.tile.size(), slab.range.data() + tiles.first_range,
        tiles.ranges,      tiles.part.data(), tiles.part.size()};
    SlabState state{turn, back ? out.data + tiles.first_point : nullptr, threads};
    double largest[2] = {0.0, 0.0};
    char text[512] = "";
    const int code =
        table_.scanline_slab(turn.handle, &request, largest, back ? SlabState::take : nullptr,
                             SlabState::pair, SlabState::ask_poll, &state, text, sizeof text);
    if (state.thrown) std::rethrow_exception(state.thrown);
    turn.check(code, text);
    const bool within = largest[0] <= scale.first_bound && largest[1] <= scale.other_bound;
    beyond[piece] = within ? 0 : 1;
  };
  team_.run(slab.piece.size(), options.parallel, one, way);
  const std::vector<std::size_t>& parts = cuts.front();
  const std::size_t largest = *std::max_element(parts.begin(), parts.end()) * points();
  held_ = 8.0 * static_cast<double>(largest * scanline_held_parts(parts.size(), largest));
  if (std::find(beyond.begin(), beyond.end(), 1) == beyond.end()) return;
  throw error(ErrorKind::internal, "sums of runs beyond their bound");
}

void gpu_scanline_density(const MatrixView& x, Weights w, Span<const RegularAxis> axes,
                          const KernelChoice& choice, Span<const double> root,
                          const ScanlineSettings& settings, const RunOptions& options,
                          Span<double> out) {
  RunOptions part = options;
  part.parallel = part_of(options.parallel, 0, kSortingShare);
  const GpuScanline runs(x, w, axes, choice, root, settings, part);
  part.parallel = part_of(options.parallel, kSortingShare, 1);
  runs.slab(0, runs.count(), part, out);
}

}  // namespace kestrel
