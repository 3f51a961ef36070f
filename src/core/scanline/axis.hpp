// Regular axes of grids.
#ifndef KESTREL_CORE_SCANLINE_AXIS_HPP
#define KESTREL_CORE_SCANLINE_AXIS_HPP

#include <cstddef>
#include <vector>

#include "core/base/span.hpp"

namespace kestrel {

/// How far the points of a regular axis may be from where they should be, in steps. Values that
/// were rounded to doubles, as those of seq() in R, are off by up to 2^-53 of the largest of them.
constexpr double kMaxShift = 5e-7;

/// The points origin + k step, k < count; or these `values`, one after another, within kMaxShift
/// of them.
struct RegularAxis {
  double origin = 0;
  double step = 1;
  std::size_t count = 1;
  Span<const double> values = {};
};

/// Whether the values are such points, ascending; if so, they are in `axis`. O(count).
bool find_regular_axis(Span<const double> values, RegularAxis* axis);

/// All axes of a grid; or none where one is not regular.
std::vector<RegularAxis> find_regular_axes(const std::vector<Span<const double>>& axes);

/// How far each point is from origin + k step, in steps, and as many zeros as `more`. O(count).
std::vector<double> shifts_of(const RegularAxis& axis, std::size_t more);

}  // namespace kestrel

#endif
