// Regular axes of grids.
#ifndef KESTREL_CORE_SCANLINE_AXIS_HPP
#define KESTREL_CORE_SCANLINE_AXIS_HPP

#include <cstddef>
#include <vector>

#include "core/base/span.hpp"

namespace kestrel {

/// How far, in steps, the points of a regular axis may be from their exact positions. Values that
/// were rounded to doubles, as those of seq() in R, are off by up to 2^-53 of the largest of them.
constexpr double kMaxShift = 5e-7;

/// The points origin + k step, k < count; or these `values`, each within kMaxShift of one of these
/// points, in order.
struct RegularAxis {
  double origin = 0;
  double step = 1;
  std::size_t count = 1;
  Span<const double> values = {};
};

/// Whether the values are the points of a regular axis, ascending; if so, sets *axis. O(count).
bool find_regular_axis(Span<const double> values, RegularAxis* axis);

/// All axes of a grid; empty if one is not regular.
std::vector<RegularAxis> find_regular_axes(const std::vector<Span<const double>>& axes);

/// How far each point is from origin + k step, in steps, followed by `more` zeros. O(count).
std::vector<double> shifts_of(const RegularAxis& axis, std::size_t more);

}  // namespace kestrel

#endif
