#include "gpu/scanline.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/raw_array.hpp"
#include "core/base/whole.hpp"
#include "core/scanline/tiles.hpp"
#include "gpu/cost.hpp"
#include "gpu/loader.hpp"
#include "gpu/poll.hpp"
#include "shared/scanline.hpp"

namespace kestrel {

namespace {

/// Bytes of the cells of a tile: two tiles of events make a batch. A block of the device's threads
/// that adds rows looks at all samples of its tile, so a tile has the rows of one block, within
/// limits. 1e6 samples, 220 x 1100 x 805 points: 294 ms with 325 rows, 279 with 160, 220 with 40;
/// but 3.5e6 samples, 2800 x 2700 points: 97 ms with 194 rows, 99 with 48, 130 with 12.
constexpr std::size_t kEventTileBytes = kScanlineBatchBytes / 2, kRowsOfBlock = 64,
                      kMinRowTileBytes = kScanlineBatchBytes / 32,
                      kMaxRowTileBytes = kScanlineBatchBytes / 4;
/// Limits on the bytes of a part of the output. A part is an eighth of a slab, within these limits,
/// so that most of the slab is copied while the rest is computed; two parts are on the device at a
/// time. kShareOfMemory: the share of the device's free memory for the parts if runs lie along the
/// last axis.
constexpr double kMinPart = 8388608.0, kMaxPart = 134217728.0;
constexpr double kShareOfMemory = 0.8;
/// With several devices: the number of pieces that a slab has at least if these are not too small,
/// and the bytes of one at least. Pieces where most samples are take longest.
constexpr double kPieces = 48, kMinPiece = 1048576.0;
/// The part of a piece, of what is left, that comes next, and that of the whole piece at most. The
/// first parts are small since nothing is copied before one is done, and the last ones since the
/// device has nothing to do while they are copied.
constexpr double kNextPart = 0.45, kLargestPart = 0.15;
/// How many points take as long as a sample in a tile, of which it crosses some 50 rows.
constexpr double kPointsOfSample = 100;
/// Values that a thread copies at a time.
constexpr std::size_t kCopied = std::size_t{1} << 16;
/// The share of the time that sorting takes, as far as progress is reported.
constexpr double kSortingShare = 0.3;

/// Bytes of a cell on the device.
std::size_t cell_bytes(int limbs, bool events) {
  return sizeof(std::uint64_t) * static_cast<std::size_t>(events ? scanline_cell(limbs) : limbs);
}

ScanlineSettings settings_for(const KernelChoice& choice, std::size_t d,
                              const ScanlineSettings& given) {
  gpu_table();  // throws if there is none, before samples are sorted
  ScanlineSettings settings;
  settings.limbs = given.limbs;
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

/// Numbers of indices of the last axis: the parts of each piece of a slab.
using Cuts = std::vector<std::vector<std::size_t>>;

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

/// Cuts `count` indices into pieces of `length`, each of them into parts that become smaller in the
/// end, but not below `least`.
Cuts shrinking_parts(std::size_t count, std::size_t length, double least) {
  Cuts cuts;
  const double most = kLargestPart * static_cast<double>(length);
  for (std::size_t at = 0; at < count; at += length) {
    cuts.emplace_back();
    for (std::size_t left = std::min(length, count - at); left > 0;) {
      const double next = std::max(least, std::min(most, kNextPart * static_cast<double>(left)));
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
    return equal_parts(count, std::min(std::max(all / 8, kMinPart), kMaxPart) / slice, false);
  }
  const double bytes = std::min(std::max(all / kPieces, least_piece(kMinPiece)), 2 * kMaxPart);
  const std::size_t length =
      piece_length(count, whole_number<std::size_t>(std::ceil(all / bytes)), 1);
  return shrinking_parts(count, length, least_piece(kMinPiece / 4) / slice);
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

/// Tiles of a piece, where the ranges of their samples are, and the parts they make.
struct PieceTiles {
  std::vector<kestrel_gpu_scanline_tile> tile;
  std::vector<kestrel_gpu_scanline_part> part;
  std::size_t first_range = 0, ranges = 0;
  std::size_t first_point = 0;  // in the slab
  double work = 0.0;            // as many points take about as long
};

/// The pieces of a slab, those that take longest first, and the ranges of all of them.
struct SlabTiles {
  std::vector<PieceTiles> piece;
  RawArray<kestrel_gpu_scanline_range> range;
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

/// A part of a slab.
struct Part {
  ScanlineTiles tiles;
  std::size_t first;  // index of the last axis
};

/// Tiles of a part that come one after the other, and the ranges of their samples.
struct Group {
  std::size_t piece, part, first, count;  // tiles of the part from number `first` on
  std::size_t first_tile;                 // in the piece
  std::vector<simd::ScanlineRange> range;
  std::size_t first_range = 0;  // in the slab
  double samples = 0.0;
};

/// Tiles of a group: memory for their ranges, some 64 KiB, comes from the heap.
constexpr std::size_t kGroupTiles = 4;

/// Finds the samples of a group's tiles. Their ranges are counted from the group's first one on.
void fill_group(const ScanlineDensity& density, const Part& part, Group* group,
                kestrel_gpu_scanline_tile* tile) {
  const int outer = static_cast<int>(density.geometry().axes()) - 2;
  std::vector<simd::ScanlineRange> found;
  for (std::size_t t = 0; t < group->count; ++t) {
    const ScanlineBox box = part.tiles.box(group->first + t);
    density.sample()->find(box, &found);
    tile[t] = tile_of(part.tiles.leaf(box, nullptr), outer,
                      part.tiles.first_point(box) - part.first * density.points());
    tile[t].first_range = group->range.size();
    group->range.insert(group->range.end(), found.begin(), found.end());
    for (const simd::ScanlineRange& range : found) {
      group->samples += static_cast<double>(range.end - range.begin);
    }
  }
}

/// The pieces of a slab from index `first` on.
SlabTiles tiles_of(const ScanlineDensity& density, bool events, std::size_t first, const Cuts& cuts,
                   const ParallelOptions& threads) {
  const ScanlineGeometry& geometry = density.geometry();
  const std::size_t cell = cell_bytes(density.sample()->scale().limbs, events);
  const std::size_t run = cell * geometry.count(geometry.axes() - 1);
  const std::size_t bytes =
      events ? kEventTileBytes
             : std::min(std::max(kRowsOfBlock * run, kMinRowTileBytes), kMaxRowTileBytes);
  const std::size_t points = density.points();
  SlabTiles slab;
  slab.piece.resize(cuts.size());
  std::vector<Part> parts;
  std::vector<Group> groups;
  std::size_t at = first;
  for (std::size_t p = 0; p < cuts.size(); ++p) {
    PieceTiles& piece = slab.piece[p];
    piece.first_point = (at - first) * points;
    std::size_t tiles = 0;
    for (const std::size_t count : cuts[p]) {
      parts.push_back({ScanlineTiles(geometry, geometry.slab(at, count), cell, bytes), at});
      piece.part.push_back({tiles, count * points});
      piece.work += static_cast<double>(count * points);
      const std::size_t all = parts.back().tiles.count();
      for (std::size_t t = 0; t < all; t += kGroupTiles) {
        groups.push_back(
            {p, parts.size() - 1, t, std::min(kGroupTiles, all - t), tiles + t, {}, 0, 0.0});
      }
      tiles += all;
      at += count;
    }
    piece.tile.resize(tiles);
  }
  parallel_for(groups.size(), threads, [&](std::size_t k, int) {
    Group& group = groups[k];
    fill_group(density, parts[group.part], &group,
               slab.piece[group.piece].tile.data() + group.first_tile);
  });
  std::size_t ranges = 0;
  for (Group& group : groups) {
    PieceTiles& piece = slab.piece[group.piece];
    if (group.first_tile == 0) piece.first_range = ranges;
    group.first_range = ranges;
    ranges += group.range.size();
    piece.ranges += group.range.size();
    piece.work += kPointsOfSample * group.samples;
  }
  slab.range = RawArray<kestrel_gpu_scanline_range>(ranges);
  parallel_for(groups.size(), threads, [&](std::size_t k, int) {
    const Group& group = groups[k];
    std::transform(group.range.begin(), group.range.end(), slab.range.data() + group.first_range,
                   [](const simd::ScanlineRange& range) {
                     return kestrel_gpu_scanline_range{range.begin, range.end};
                   });
    PieceTiles& piece = slab.piece[group.piece];
    for (std::size_t t = 0; t < group.count; ++t) {
      piece.tile[group.first_tile + t].first_range += group.first_range - piece.first_range;
    }
  });
  std::stable_sort(slab.piece.begin(), slab.piece.end(),
                   [](const PieceTiles& a, const PieceTiles& b) { return a.work > b.work; });
  return slab;
}

/// Device callbacks: the poll, and the one that takes values. The context of both is this state.
struct SlabState {
  const DeviceTeam::Turn& turn;
  double* out;
  const ParallelOptions& threads;

  static int ask_poll(void* context, double fraction) {
    return PollState::ask(&static_cast<SlabState*>(context)->turn.poll, fraction);
  }

  static int take(void* context, std::size_t first, const double* values, std::size_t count) {
    SlabState& state = *static_cast<SlabState*>(context);
    try {
      const std::size_t strips = (count + kCopied - 1) / kCopied;
      const auto copy = [&](std::size_t strip) {
        const std::size_t begin = strip * kCopied, end = std::min(count, begin + kCopied);
        std::memcpy(state.out + first + begin, values + begin, (end - begin) * sizeof(double));
      };
      state.turn.host_for(strips, state.threads, copy);
    } catch (...) {
      state.turn.poll.thrown = std::current_exception();
      return 1;
    }
    return 0;
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
  const SlabTiles slab = tiles_of(density_, events_, first, cuts, threads);
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
    turn.check(
        table_.scanline_slab(turn.handle, &request, largest, back ? SlabState::take : nullptr,
                             SlabState::ask_poll, &state, text, sizeof text),
        text);
    const bool within = largest[0] <= scale.first_bound && largest[1] <= scale.other_bound;
    beyond[piece] = within ? 0 : 1;
  };
  team_.run(slab.piece.size(), options.parallel, one, way);
  const std::vector<std::size_t>& parts = cuts.front();
  held_ = 8.0 * static_cast<double>(parts.front() * points()) *
          static_cast<double>(std::min<std::size_t>(2, parts.size()));
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
