// Nests, axes and ends of runs of the `scanline` engine, and its limits.
#ifndef KESTREL_SHARED_SCANLINE_HPP
#define KESTREL_SHARED_SCANLINE_HPP

#include <cmath>
#include <cstddef>

#include "shared/coordinates.hpp"
#include "shared/host_device.hpp"
#include "shared/limits.h"
#include "shared/rounding.hpp"

namespace kestrel {

// Axes are ordered: the outer ones, then the row axis, then the run axis, along which the runs lie.
constexpr int kScanlineAxes = KESTREL_SCANLINE_AXES;
constexpr int kScanlineOuter = kScanlineAxes - 2;

// The maximum of a sample's base index, and of the points of an axis: a number of so many bits,
// times one of the two parts of a step, is exact. If a sample lies farther away (a wide kernel may
// reach the grid from there), the excess is in the fractional part of its index.
constexpr double kScanlineFarthest = 134217728.0;  // 2^27

// How the y_i of ScanlineForm (simd/scanline/scanline.hpp) give the value of a kernel whose profile
// f(q) takes a squared distance; f is 1 for q <= 1 for the uniform kernel.
enum class ScanlineNest {
  ellipsoid,  // f(sum_i y_i^2)
  product,    // prod_i f(y_i^2)
  box         // f(max_i y_i^2): the product of uniform kernels
};

// What computes grid indices of coordinates, see grid_index_of(). The step is step_high + step_low.
struct ScanlineAxis {
  double origin, inverse_step, step_high, step_low;
};

// Settles ends of runs that are so near to a point's index that its shift decides whether the point
// belongs to the run. low and high are the ends, `near` is the maximum shift, start and stop are
// the first point and the one after the last. All are relative to the sample's base; `shift` (null:
// zeros) counts from the grid's first point.
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

// The data as given, in the order of the user's variables. Variable k of sample j is sample[k][j].
// Its axis is axis_of[k] in the engine's order, where index i is at point[k][i].
struct ScanlineData {
  std::size_t d;
  int axis_of[kScanlineAxes];
  const double* sample[kScanlineAxes];
  const double* point[kScanlineAxes];
  double root[kScanlineAxes][kScanlineAxes];  // lower triangle, root[k][l]
};

// Whether the point with these indices is in the support of the kernel about sample j, a uniform
// one, as the direct engine decides on the data as given. It uses no instructions of a particular
// set, so the answer is the same everywhere.
KESTREL_HD inline bool inside_support(const ScanlineData& data, bool box, std::size_t j,
                                      const std::size_t index[kScanlineAxes]) {
  const auto difference = [&](std::size_t k) {
    return data.sample[k][j] - data.point[k][index[data.axis_of[k]]];
  };
  if (!box) {
    double z[kScanlineAxes];
    return number::inside_ellipsoid(
        data.d, difference, [&](std::size_t k) { return data.root[k]; }, z);
  }
  for (std::size_t k = 0; k < data.d; ++k) {
    if (!(fabs(difference(k)) <= data.root[k][k])) return false;
  }
  return true;
}

// ---- on a device -------------------------------------------------------------------------------

// The maximum number of samples: an index, rounded up to a whole warp, is an unsigned 32-bit
// number.
constexpr std::size_t kScanlineDeviceSamples = 0xffffffffu - 63u;

// Integers of a cell of events, three a limb, and the room that it takes: at least a sector of 32
// bytes. With rows a cell has one integer a limb.
constexpr int scanline_numbers(int limbs) { return 3 * limbs; }
constexpr int scanline_cell(int limbs) { return limbs == 1 ? 4 : scanline_numbers(limbs); }

// Bytes of the cells of a batch: they fit in a device's cache. A tile has at most half of them.
constexpr std::size_t kScanlineBatchBytes = std::size_t{1} << 24;

// Parts of an output that are on the device at a time: those that fit in these bytes, but at least
// two, so that one is computed while the other is copied. More of them let the device go on while
// the host is late. On an H200, with one thread of the host, 1.6 GB took 39 ms with two, 36 with
// four and 35 with eight.
constexpr std::size_t kScanlineHeldBytes = std::size_t{1} << 29, kScanlineHeldParts = 16;

constexpr std::size_t scanline_held_parts(std::size_t parts, std::size_t points_of_largest) {
  const std::size_t fit = kScanlineHeldBytes / sizeof(double) / points_of_largest;
  const std::size_t held = fit < 2 ? 2 : fit > kScanlineHeldParts ? kScanlineHeldParts : fit;
  return parts < held ? parts : held;
}

}  // namespace kestrel

#endif
