#include "gpu/scanline_tiles.hpp"

#include <algorithm>
#include <cstdint>

#include "core/scanline/tiles.hpp"
#include "shared/scanline.hpp"

namespace kestrel {

namespace {

/// Of the cells of a tile: two tiles of events make a batch. A block of the device's threads
/// that adds rows looks at all samples of its tile, so a tile has the rows of one block, within
/// limits. 1e6 samples, 220 x 1100 x 805 points: 294 ms with 325 rows, 279 with 160, 220 with 40;
/// but 3.5e6 samples, 2800 x 2700 points: 97 ms with 194 rows, 99 with 48, 130 with 12.
constexpr std::size_t kEventTileBytes = kScanlineBatchBytes / 2, kRowsOfBlock = 64,
                      kMinRowTileBytes = kScanlineBatchBytes / 32,
                      kMaxRowTileBytes = kScanlineBatchBytes / 4;
/// How many points take as long as a sample in a tile, of which it crosses some 50 rows.
constexpr double kPointsOfSample = 100;

/// Bytes of a cell on the device.
std::size_t cell_bytes(int limbs, bool events) {
  return sizeof(std::uint64_t) * static_cast<std::size_t>(events ? scanline_cell(limbs) : limbs);
}

/// Bytes of the cells of a tile.
std::size_t tile_bytes(const ScanlineGeometry& geometry, std::size_t cell, bool events) {
  if (events) return kEventTileBytes;
  const std::size_t rows = kRowsOfBlock * cell * geometry.count(geometry.axes() - 1);
  return std::min(std::max(rows, kMinRowTileBytes), kMaxRowTileBytes);
}

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

}  // namespace

SlabTiles scanline_tiles(const ScanlineDensity& density, bool events, std::size_t first,
                         const Cuts& cuts, const ParallelOptions& threads) {
  const ScanlineGeometry& geometry = density.geometry();
  const std::size_t cell = cell_bytes(density.sample()->scale().limbs, events);
  const std::size_t bytes = tile_bytes(geometry, cell, events);
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

}  // namespace kestrel
