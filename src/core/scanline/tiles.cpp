#include "core/scanline/tiles.hpp"

#include <algorithm>

namespace kestrel {

namespace {

/// Half a level-2 cache of 1 MiB, and enough for a row of a whole block. 1e6 samples, 1400 x 1350
/// points, radius 29 steps: 19.5 ns a row; 20 with 128 or 256 KiB, 32 with 64, 23 with 1 MiB. With
/// outer axes tall tiles save more, since each tile looks for its samples again: 1e6 samples, 220 x
/// 1100 x 805 points, radius 27 steps: 8 % less time with 768 KiB than with 528.
constexpr std::size_t kTileBytes = std::size_t{528} << 10, kDeepTileBytes = std::size_t{768} << 10;
/// Tiles of fewer rows spend their time on finding the samples that reach them. More rows make
/// segments shorter, at whose ends runs are cut (2800 x 2700 points: 16 rows instead of 8 took 4 %
/// more time, the median of seven pairs of runs).
constexpr std::size_t kEnoughRows = 8;
constexpr std::size_t kShortSegment = 512, kMinSegment = 16;

/// The largest power of two below n > 1.
std::size_t power_below(std::size_t n) {
  std::size_t power = 1;
  while (2 * power < n) power *= 2;
  return power;
}

/// Cells of a row: one for each point, and at least one after them.
std::size_t length_for(std::size_t segment) {
  return segment + simd::kLanes - segment % simd::kLanes;
}

}  // namespace

ScanlineTiles::ScanlineTiles(const ScanlineGeometry& geometry, const ScanlineBox& part,
                             std::size_t cell, std::size_t bytes)
    : geometry_(geometry), part_(part) {
  const std::size_t axes = geometry.axes();
  const std::size_t rows = geometry.count(axes - 2), points = geometry.count(axes - 1);
  const std::size_t usual = axes > 2 ? kDeepTileBytes : kTileBytes;
  const std::size_t room = (bytes == 0 ? usual : bytes) / cell;
  const auto rows_of = [&](std::size_t segment) { return room / length_for(segment); };
  segment_ = std::min(points, kScanlineBlock);
  const std::size_t wanted = std::min(rows, kEnoughRows);
  while (rows_of(segment_) < wanted && segment_ > kShortSegment &&
         static_cast<double>(segment_) > 8 * geometry.radius()) {
    segment_ = power_below(segment_);
  }
  while (rows_of(segment_) < 1 && segment_ > kMinSegment) segment_ = power_below(segment_);
  rows_ = std::min(std::max<std::size_t>(1, rows_of(segment_)), rows);
  row_length_ = length_for(segment_);
}

std::size_t ScanlineTiles::length(std::size_t axis) const {
  if (axis + 1 == geometry_.axes()) return segment_;
  return axis + 2 == geometry_.axes() ? rows_ : 1;
}

std::size_t ScanlineTiles::pieces(std::size_t axis) const {
  return part_.last[axis] / length(axis) - part_.first[axis] / length(axis) + 1;
}

std::size_t ScanlineTiles::count() const {
  std::size_t tiles = 1;
  for (std::size_t a = 0; a < geometry_.axes(); ++a) tiles *= pieces(a);
  return tiles;
}

ScanlineBox ScanlineTiles::box(std::size_t tile) const {
  ScanlineBox box;
  for (std::size_t a = geometry_.axes(); a-- > 0;) {
    const std::size_t piece = part_.first[a] / length(a) + tile % pieces(a);
    box.first[a] = std::max(part_.first[a], piece * length(a));
    box.last[a] = std::min(part_.last[a], (piece + 1) * length(a) - 1);
    tile /= pieces(a);
  }
  return box;
}

simd::ScanlineTile ScanlineTiles::leaf(const ScanlineBox& box, std::uint64_t* cells) const {
  const auto index = [](std::size_t i) { return static_cast<std::int32_t>(i); };
  const std::size_t row = geometry_.axes() - 2, run = row + 1;
  simd::ScanlineTile leaf{};
  for (std::size_t a = 0; a < row; ++a) {
    leaf.outer[a] = index(box.first[a]);
    leaf.outer_shift[a] = geometry_.shift(a)[box.first[a]];
  }
  leaf.row_shift = geometry_.shift(row);
  leaf.run_shift = geometry_.shift(run);
  leaf.row_begin = index(box.first[row]);
  leaf.row_end = index(box.last[row] + 1);
  leaf.run_begin = index(box.first[run]);
  leaf.run_end = index(box.last[run] + 1);
  const std::size_t block = box.first[run] / kScanlineBlock * kScanlineBlock;
  leaf.anchor_first = index(block);
  leaf.anchor_last = index(std::min(block + kScanlineBlock, geometry_.count(run)) - 1);
  leaf.row_length = row_length_;
  leaf.cells = cells;
  return leaf;
}

std::size_t ScanlineTiles::first_point(const ScanlineBox& box) const {
  std::size_t point = 0;
  for (std::size_t a = 0; a < geometry_.axes(); ++a) {
    point += box.first[a] * geometry_.stride(a);
  }
  return point;
}

}  // namespace kestrel
