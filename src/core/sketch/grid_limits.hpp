// What is true of every part of a sketch on a grid.
#ifndef KESTREL_CORE_SKETCH_GRID_LIMITS_HPP
#define KESTREL_CORE_SKETCH_GRID_LIMITS_HPP

#include <algorithm>
#include <cstdint>

#include "core/base/error.hpp"
#include "core/base/whole.hpp"
#include "core/sketch/grid_sketch.hpp"

namespace kestrel {

constexpr int kQuantumBitsOfGrid = GridSketch::kQuantumBits;
/// The lower part of a cell.
constexpr std::int64_t kLowMask = (std::int64_t{1} << kQuantumBitsOfGrid) - 1;
/// The farthest cell.
constexpr double kFarthestOfGrid = 1125899906842624.0;  // 2^50
/// A number of samples below this leaves room for sums.
constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 62;

[[noreturn]] inline void refuse_grid(const char* what) { throw error(ErrorKind::input, what); }

/// The whole part of number / 2^bits, rounded down.
inline std::int64_t shifted_down(std::int64_t number, unsigned bits) {
  // The language leaves it to the compiler how negative numbers are shifted.
  return number < 0 ? -1 - ((-1 - number) >> bits) : number >> bits;
}

/// The cell above or at g, which is less than 2^50 from zero. (std::ceil may be a call.)
inline std::int64_t cell_above(double g) {
  const std::int64_t whole = whole_number<std::int64_t>(g);
  return whole + (static_cast<double>(whole) < g ? 1 : 0);
}

inline void widen_range(ValueRange* range, double value) {
  // Zeros of both signs are one value.
  *range = {std::min(range->min, value + 0.0), std::max(range->max, value + 0.0)};
}

/// Samples that may be added to cells of 64 bits before the upper bits go to `high`.
constexpr double kMostRoom = 1048576;  // 2^20

/// Moves what is above the lower part of cells to `high`.
inline void normalise(GridSketch::Tile* tile) {
  if (tile->high.empty()) tile->high.assign(tile->low.size(), 0);
  for (std::size_t c = 0; c < tile->low.size(); ++c) {
    tile->high[c] += tile->low[c] >> kQuantumBitsOfGrid;
    tile->low[c] &= kLowMask;
  }
  tile->room = 1;
}

/// Makes sure that `count` more samples may be added.
inline void make_room(double count, GridSketch::Tile* tile) {
  if (tile->room + count > kMostRoom) normalise(tile);
  tile->room += count;
}

}  // namespace kestrel

#endif
