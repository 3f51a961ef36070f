// The grid that a density by the `fourier` engine needs, computed before the grid is made.
#ifndef KESTREL_CORE_FOURIER_LAYOUT_HPP
#define KESTREL_CORE_FOURIER_LAYOUT_HPP

#include <array>
#include <cstddef>

#include "core/fourier/data_range.hpp"

namespace kestrel {

/// The cells of an axis are counted with 32 bits.
constexpr double kMaxFourierCells = 1 << 30;

/// Expected seconds on one thread to spread n samples with a window of `taps` taps in d dimensions,
/// and for the transform of that many cells.
double spread_seconds(double n, int taps, std::size_t d, double cells);
/// The same for the transform back, and to read values off at m points.
double read_seconds(double m, int taps, std::size_t d, double cells);

struct DensityLayout {
  std::size_t frame = 0;
  double cut = 0;  // frequencies up to this are kept
  int taps = 0;    // of the window
  /// The ranges of samples and of points that are within a kernel's reach of the other.
  std::array<Range, 3> samples, points;
  bool empty = true;     // no sample or no point is left; the fields below are not set then
  bool trimmed = false;  // some samples are out of reach
  Point3 period{}, origin{};
  Point3 cells{1, 1, 1}, modes{};  // whole numbers, which may be too large for integers
  /// Whether the points are a grid along the axes, which sum_over_modes() makes. Others are read
  /// off cells.
  bool by_modes = false;
  double bytes = 0;     // of the cells; infinite if too many
  double seconds = 0;   // expected, on one thread
  double rounding = 0;  // error by rounding of coordinates, relative to the maximum
};

/// Period, modes and cells for an error of `tolerance`, relative to the largest value that the
/// estimate has anywhere. Takes the frame with the smallest expected time of those whose rounding
/// keeps the tolerance; the time is that of all derivatives of an order. O(order^2).
DensityLayout lay_density(const DataRange& extent, double tolerance, int order = 0);

/// For an extent of measure_modes(): the period that a density takes along each axis, zero if no
/// point is within reach of the samples; and whether the frequencies suffice.
struct ModesNeeded {
  Point3 period{};
  bool any = false, served = true;
};
ModesNeeded modes_needed(const DataRange& extent, double tolerance);

/// Throws error(input) if rounding leaves fewer digits than even the largest tolerance needs.
void check_fourier_rounding(const DensityLayout& layout);

/// Throws error(memory), with the size, when the cells take more than `bytes`.
void check_fourier_memory(const DensityLayout& layout, double bytes);

}  // namespace kestrel

#endif
