// A grid cut into the tiles that the `scanline` engine works on one at a time.
#ifndef KESTREL_CORE_SCANLINE_TILES_HPP
#define KESTREL_CORE_SCANLINE_TILES_HPP

#include <cstddef>
#include <cstdint>

#include "core/scanline/geometry.hpp"
#include "simd/scanline/scanline.hpp"

namespace kestrel {

/// A tile is one index of every outer axis, a block of rows and, where whole rows are long, a
/// segment of them. Every run that has points on a segment begins or ends there, or at its ends.
class ScanlineTiles {
 public:
  /// Of the part of the grid that is in a box; tiles of two boxes next to each other meet where
  /// those of the whole do, or in between. cell: the bytes of one; bytes: of the cells of a tile,
  /// at least enough for one row of 16 points; or 0 for half a second-level cache of 1 MiB,
  /// three quarters where there are outer axes.
  ScanlineTiles(const ScanlineGeometry& geometry, const ScanlineBox& part, std::size_t cell,
                std::size_t bytes);

  std::size_t count() const;
  /// Cells of the largest tile.
  std::size_t cells() const { return rows_ * row_length_; }
  /// Points of a segment: 8192 is a whole number of times that, or there is one segment.
  std::size_t segment() const { return segment_; }

  ScanlineBox box(std::size_t tile) const;
  simd::ScanlineTile leaf(const ScanlineBox& box, std::uint64_t* cells) const;
  /// Where in an output of the whole grid the first point of a box is.
  std::size_t first_point(const ScanlineBox& box) const;

 private:
  /// Points of an axis in one tile.
  std::size_t length(std::size_t axis) const;
  /// Tiles that the part has along an axis.
  std::size_t pieces(std::size_t axis) const;

  const ScanlineGeometry& geometry_;
  const ScanlineBox part_;
  std::size_t rows_ = 1, segment_ = 1, row_length_ = simd::kLanes;
};

}  // namespace kestrel

#endif
