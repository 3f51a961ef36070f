#include "core/scanline/axis.hpp"

#include <cmath>

namespace kestrel {

namespace {

/// Computed in this order, so that a far origin costs no digits.
double shift_of(const RegularAxis& axis, std::size_t k) {
  const long double from = static_cast<long double>(axis.values[k]) - axis.origin;
  const long double place = static_cast<long double>(axis.step) * static_cast<long double>(k);
  return static_cast<double>((from - place) / axis.step);
}

}  // namespace

bool find_regular_axis(Span<const double> values, RegularAxis* axis) {
  if (values.size == 0) return false;
  RegularAxis found{values[0], 1.0, values.size, values};
  if (values.size > 1) {
    found.step = (values[values.size - 1] - values[0]) / static_cast<double>(values.size - 1);
  }
  if (!(found.step > 0) || !std::isfinite(found.step) || !std::isfinite(found.origin)) return false;
  for (std::size_t k = 0; k < values.size; ++k) {
    if (!(std::fabs(shift_of(found, k)) <= kMaxShift)) return false;
  }
  *axis = found;
  return true;
}

std::vector<RegularAxis> find_regular_axes(const std::vector<Span<const double>>& axes) {
  std::vector<RegularAxis> found(axes.size());
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (!find_regular_axis(axes[k], &found[k])) return {};
  }
  return found;
}

std::vector<double> shifts_of(const RegularAxis& axis, std::size_t more) {
  std::vector<double> shift(axis.count + more, 0.0);
  for (std::size_t k = 0; k < axis.values.size; ++k) {
    shift[k] = shift_of(axis, k);
  }
  return shift;
}

}  // namespace kestrel
