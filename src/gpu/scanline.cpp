#include "gpu/scanline.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/whole.hpp"
#include "core/scanline/tiles.hpp"
#include "gpu/cost.hpp"
#include "gpu/loader.hpp"
#include "gpu/poll.hpp"
#include "shared/scanline.hpp"

namespace kestrel {

namespace {

/// Bytes of the cells of a tile: two tiles make a batch.
constexpr std::size_t kTileBytes = kScanlineBatchBytes / 2;
/// Limits on the bytes of a part of the output. A part is an eighth of a slab, within these limits,
/// so that most of the slab is copied while the rest is computed; two parts are on the device at a
/// time. kShareOfMemory: the share of the device's free memory for the parts if runs lie along the
/// last axis.
constexpr double kMinPart = 8388608.0, kMaxPart = 134217728.0;
constexpr double kShareOfMemory = 0.8;
/// With several devices: the number of parts that a slab has at least if these are not too small,
/// the bytes of one at least, and parts of a piece. Eight pieces are equal shares of 2, 4 and 8
/// devices.
constexpr double kShares = 24, kMinShare = 262144.0;
constexpr std::size_t kPartsOfPiece = 3;
/// Values that a thread copies at a time.
constexpr std::size_t kCopied = std::size_t{1} << 17;
/// The share of the time that sorting takes, as far as progress is reported.
constexpr double kSortingShare = 0.3;

/// Bytes of a cell on the device.
std::size_t cell_bytes(int limbs) {
  return sizeof(std::uint64_t) * static_cast<std::size_t>(scanline_cell(limbs));
}

ScanlineSettings settings_for(const KernelChoice& choice, std::size_t d,
                              const ScanlineSettings& given) {
  const bool radial = choice.type == KernelType::radial || d == 1;
  if (choice.kernel != Kernel::epanechnikov || !radial) {
    throw gpu_error(
        GpuProblem::unsuited,
        "on a CUDA device the engine \"scanline\" takes radial Epanechnikov kernels only");
  }
  gpu_table();  // throws if there is none, before samples are sorted
  ScanlineSettings settings;
  settings.limbs = given.limbs;
  settings.method = ScanlineMethod::events;
  settings.sorted = true;
  return settings;
}

/// The description of a grid and its samples for the device.
kestrel_gpu_scanline request_for(const ScanlineDensity& density) {
  const ScanlineGeometry& geometry = density.geometry();
  const simd::ScanlineForm form = density.form();
  const simd::ScanlineSamples samples = density.sample()->leaf();
  const simd::ScanlineOutput output = density.output(nullptr);
  kestrel_gpu_scanline request{};
  request.axes = form.axes;
  request.limbs = form.limbs;
  for (std::size_t i = 0; i < geometry.axes(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) request.slope[i][j] = form.slope[i][j];
    request.inverse[i] = form.inverse[i];
    const ScanlineAxis& axis = samples.axis[i];
    request.axis[i] = {axis.origin,      axis.inverse_step,
                       axis.step_high,   axis.step_low,
                       samples.x[i],     geometry.max_shift(i) > 0 ? geometry.shift(i) : nullptr,
                       geometry.count(i)};
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

/// Indices of the last axis that make a part of a slab of `count`. One small part is copied while
/// the next is computed, but small parts would cut every run that lies along that axis. Several
/// `devices` get equal shares. `held`: bytes of parts that the device still holds from earlier
/// slabs.
std::size_t part_length(const ScanlineDensity& density, std::size_t count, double held,
                        std::size_t devices) {
  const ScanlineGeometry& geometry = density.geometry();
  const std::size_t run = geometry.axes() - 1;
  const bool along = geometry.line() || geometry.user(run) == run;
  const double slice = 8.0 * static_cast<double>(density.points());
  const double all = slice * static_cast<double>(count);
  const double least = devices > 1 ? least_piece(kMinShare) : kMinPart;
  double bytes = std::min(std::max(all / (devices > 1 ? kShares : 8), least), kMaxPart);
  if (along) {
    bytes = kShareOfMemory * (gpu_free_memory() + held) / 2;
    if (devices > 1) {
      bytes = std::min(bytes, std::max(all / static_cast<double>(devices), least));
    }
  }
  return whole_number<std::size_t>(std::max(1.0, bytes / slice));
}

/// How many of the devices compute a slab. `back`: whether its values are copied to the host.
std::size_t devices_for(const ScanlineDensity& density, std::size_t count, bool back,
                        std::size_t devices) {
  if (!back) return devices;
  const ScanlineGeometry& geometry = density.geometry();
  const double share = static_cast<double>(count) / static_cast<double>(density.count());
  const double points = static_cast<double>(count) * static_cast<double>(density.points());
  const double rows =
      share * static_cast<double>(density.sample()->size()) * geometry.rows_crossed();
  return gpu_scanline_devices(rows, points, devices);
}

/// Tiles of a slab, the ranges of their samples, and the parts they make.
struct SlabTiles {
  std::vector<kestrel_gpu_scanline_tile> tile;
  std::vector<kestrel_gpu_scanline_range> range;
  std::vector<kestrel_gpu_scanline_part> part;
};

kestrel_gpu_scanline_tile tile_of(const simd::ScanlineTile& leaf, int outer,
                                  std::size_t first_point) {
  kestrel_gpu_scanline_tile tile{};
  for (int i = 0; i < outer; ++i) {
    tile.outer[i] = leaf.outer[i];
    tile.outer_shift[i] = leaf.outer_shift[i];
  }
  tile.row_begin = leaf.row_begin;
  tile.row_end = leaf.row_end;
  tile.run_begin = leaf.run_begin;
  tile.run_end = leaf.run_end;
  tile.anchor_first = leaf.anchor_first;
  tile.anchor_last = leaf.anchor_last;
  tile.row_length = leaf.row_length;
  tile.first_point = first_point;
  return tile;
}

/// Appends the part of `count` indices of the last axis from `first` on.
void add_part(const ScanlineDensity& density, int limbs, std::size_t first, std::size_t count,
              const ParallelOptions& threads, SlabTiles* to) {
  const ScanlineGeometry& geometry = density.geometry();
  const ScanlineTiles tiles(geometry, geometry.slab(first, count), cell_bytes(limbs), kTileBytes);
  std::vector<std::vector<simd::ScanlineRange>> found(tiles.count());
  parallel_for(found.size(), threads, [&](std::size_t tile, int) {
    density.sample()->find(tiles.box(tile), &found[tile]);
  });
  to->part.push_back({to->tile.size(), count * density.points()});
  for (std::size_t t = 0; t < found.size(); ++t) {
    const ScanlineBox box = tiles.box(t);
    to->tile.push_back(tile_of(tiles.leaf(box, nullptr), static_cast<int>(geometry.axes()) - 2,
                               tiles.first_point(box) - first * density.points()));
    to->tile.back().first_range = to->range.size();
    for (const simd::ScanlineRange& range : found[t]) to->range.push_back({range.begin, range.end});
  }
}

/// Device callbacks: the poll, and the one that takes values. The context of both is this state.
struct SlabState {
  PollState& poll;
  double* out;
  const ParallelOptions& threads;  // not polled

  static int ask_poll(void* context, double fraction) {
    return PollState::ask(&static_cast<SlabState*>(context)->poll, fraction);
  }

  static int take(void* context, std::size_t first, const double* values, std::size_t count) {
    SlabState& state = *static_cast<SlabState*>(context);
    try {
      parallel_for((count + kCopied - 1) / kCopied, state.threads, [&](std::size_t piece, int) {
        const std::size_t begin = piece * kCopied, end = std::min(count, begin + kCopied);
        std::memcpy(state.out + first + begin, values + begin, (end - begin) * sizeof(double));
      });
    } catch (...) {
      state.poll.thrown = std::current_exception();
      return 1;
    }
    return 0;
  }
};

}  // namespace

GpuScanline::GpuScanline(const MatrixView& x, Weights w, Span<const RegularAxis> axes,
                         const KernelChoice& choice, Span<const double> root,
                         const ScanlineSettings& settings, const RunOptions& options)
    : density_(x, w, axes, choice, root, settings_for(choice, x.cols, settings), options),
      table_(gpu_table()),
      team_(
          [this](int device, const void* from) {
            const kestrel_gpu_scanline request = request_for(density_);
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
  // With one device one piece has all parts. Otherwise a device has a few at a time, since one part
  // is copied while it computes the next.
  const std::size_t devices = devices_for(density_, count, out.data != nullptr, team_.size());
  const std::size_t most = part_length(density_, count, held_, devices);
  std::vector<SlabTiles> pieces;
  std::vector<std::size_t> first_of;
  for (std::size_t at = 0; at < count; at += most) {
    if (pieces.empty() || (devices > 1 && pieces.back().part.size() == kPartsOfPiece)) {
      pieces.emplace_back();
      first_of.push_back(at * points());
    }
    add_part(density_, scale.limbs, first + at, std::min(most, count - at), threads,
             &pieces.back());
  }
  std::vector<char> beyond(pieces.size());
  held_ = 0.0;  // unknown if the slab fails
  team_.run(
      pieces.size(), options.parallel,
      [&](std::size_t piece, const DeviceTeam::Turn& turn) {
        const SlabTiles& tiles = pieces[piece];
        const kestrel_gpu_scanline_slab request{tiles.tile.data(),  tiles.tile.size(),
                                                tiles.range.data(), tiles.range.size(),
                                                tiles.part.data(),  tiles.part.size()};
        SlabState state{turn.poll, out.data != nullptr ? out.data + first_of[piece] : nullptr,
                        threads};
        double largest[2] = {0.0, 0.0};
        char text[512] = "";
        const kestrel_gpu_take take = out.data != nullptr ? SlabState::take : nullptr;
        turn.check(table_.scanline_slab(turn.handle, &request, largest, take, SlabState::ask_poll,
                                        &state, text, sizeof text),
                   text);
        const bool within = largest[0] <= scale.first_bound && largest[1] <= scale.other_bound;
        beyond[piece] = within ? 0 : 1;
      },
      devices);
  const std::size_t parts = std::min<std::size_t>(2, (count + most - 1) / most);
  held_ = 8.0 * static_cast<double>(std::min(most, count) * points() * parts);
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
