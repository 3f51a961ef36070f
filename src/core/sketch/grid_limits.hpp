// What is true of every part of a sketch on a grid.
#ifndef KESTREL_CORE_SKETCH_GRID_LIMITS_HPP
#define KESTREL_CORE_SKETCH_GRID_LIMITS_HPP

#include <algorithm>
#include <cstdint>

#include "core/base/error.hpp"
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

inline void widen_range(ValueRange* range, double value) {
  // Zeros of both signs are one value.
  *range = {std::min(range->min, value + 0.0), std::max(range->max, value + 0.0)};
}

}  // namespace kestrel

#endif
