// The tiles of a grid, on which the `scanline` engine works one at a time.
#ifndef KESTREL_CORE_SCANLINE_TILES_HPP
#define KESTREL_CORE_SCANLINE_TILES_HPP

#include <cstddef>
#include <cstdint>

#include "core/scanline/geometry.hpp"
#include "simd/scanline/scanline.hpp"

namespace kestrel {

/// A tile is one index of every outer axis, a block of rows and, if whole rows are too long, a
/// segment of them. A run is cut at the ends of segments.
class ScanlineTiles {
 public:
  /// Cuts the part of the grid that is in a box. The tiles of two adjacent boxes are those of the
  /// whole grid, cut at most where the boxes meet. cell: bytes of a cell; bytes: for the cells of a
  /// tile, at least enough for one row of 16 points, or 0 for half a level-2 cache of 1 MiB, three
  /// quarters with outer axes.
  ScanlineTiles(const ScanlineGeometry& geometry, const ScanlineBox& part, std::size_t cell,
                std::size_t bytes);

  std::size_t count() const;
  /// Cells of the largest tile.
  std::size_t cells() const { return rows_ * row_length_; }
  /// Points of a segment: a divisor of 8192, or there is only one segment.
  std::size_t segment() const { return segment_; }

  ScanlineBox box(std::size_t tile) const;
  simd::ScanlineTile leaf(const ScanlineBox& box, std::uint64_t* cells) const;
  /// The index of a box's first point in an output of the whole grid.
  std::size_t first_point(const ScanlineBox& box) const;

 private:
  /// Points of an axis in one tile.
  std::size_t length(std::size_t axis) const;
  /// The number of tiles of the part along an axis.
  std::size_t pieces(std::size_t axis) const;

  const ScanlineGeometry& geometry_;
  const ScanlineBox part_;
  std::size_t rows_ = 1, segment_ = 1, row_length_ = simd::kLanes;
};

}  // namespace kestrel

#endif
