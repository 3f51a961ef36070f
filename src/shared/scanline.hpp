// What the `scanline` engine is told of grids, and its limits.
#ifndef KESTREL_SHARED_SCANLINE_HPP
#define KESTREL_SHARED_SCANLINE_HPP

#include <cmath>
#include <cstddef>

#include "shared/host_device.hpp"
#include "shared/limits.h"
#include "shared/rounding.hpp"

namespace kestrel {

// Axes are ordered: the outer ones, then the row axis, then the run axis, along which runs lie.
constexpr int kScanlineAxes = KESTREL_SCANLINE_AXES;
constexpr int kScanlineOuter = kScanlineAxes - 2;

// The largest index that a sample has, and points of an axis: a number of so many bits, times one
// of the two parts of a step, is exact. What lies farther, wide kernels meeting the grid from
// there, is in the rest of a sample's place.
constexpr double kScanlineFarthest = 134217728.0;  // 2^27

// How the y_i of ScanlineForm (simd/scanline/scanline.hpp) make the value of a kernel with the
// profile f(q) of a squared distance, of the uniform kernel 1 where q <= 1:
enum class ScanlineNest {
  ellipsoid,  // f(sum_i y_i^2)
  product,    // prod_i f(y_i^2)
  box         // f(max_i y_i^2): the product of uniform kernels
};

// What makes grid indices of coordinates, see grid_index_of(). step_high + step_low is the step.
struct ScanlineAxis {
  double origin, inverse_step, step_high, step_low;
};

// An end of a run so near to a point's index that its shift decides whether it belongs to the run:
// low and high are the ends, `near` is the largest shift, start and stop the first point and that
// behind the last. All are counted from the sample's base, `shift` (null: zeros) from the grid's
// first point.
KESTREL_HD inline void settle_ends(const double* shift, double base, double begin, double end,
                                   double near, double low, double high, double* start,
                                   double* stop) {
  const double first = (low + kRoundingShift) - kRoundingShift;
  const double last = (high + kRoundingShift) - kRoundingShift;
  const auto shift_of = [&](double t) {
    return shift == nullptr ? 0.0 : shift[static_cast<std::size_t>(t + base)];
  };
  if (fabs(low - first) <= near && first >= begin && first < end) {
    *start = shift_of(first) >= low - first ? first : first + 1;
  }
  if (fabs(high - last) <= near && last >= begin && last < end) {
    *stop = shift_of(last) <= high - last ? last + 1 : last;
  }
  if (*stop < *start) *stop = *start;
}

// ---- on a device -------------------------------------------------------------------------------

// Samples: the number of one, rounded up to a whole warp, is an unsigned one of 32 bits.
constexpr std::size_t kScanlineDeviceSamples = 0xffffffffu - 63u;

// Integers of a cell, three a limb, and the room that it takes: a sector of 32 bytes at least.
constexpr int scanline_numbers(int limbs) { return 3 * limbs; }
constexpr int scanline_cell(int limbs) { return limbs == 1 ? 4 : scanline_numbers(limbs); }

// Cells that are in work at a time: they fit a device's cache. A tile has half of them at most.
constexpr std::size_t kScanlineBatchBytes = std::size_t{1} << 24;

}  // namespace kestrel

#endif
