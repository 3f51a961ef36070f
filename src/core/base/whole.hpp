// From doubles to whole numbers. Outside of leaves no other conversion is used.
#ifndef KESTREL_CORE_BASE_WHOLE_HPP
#define KESTREL_CORE_BASE_WHOLE_HPP

#include <limits>

#include "core/base/error.hpp"

namespace kestrel {

/// v truncated to a whole number, as the language does it. If the type does not hold that number,
/// or v is NaN, the language's conversion is undefined; this throws error(internal).
template <class Whole>
inline Whole whole_number(double v) {
  // Powers of two, so that they are doubles: 2 (max / 2 + 1) is max + 1.
  constexpr double beyond = 2.0 * static_cast<double>(std::numeric_limits<Whole>::max() / 2 + 1);
  constexpr double below = std::numeric_limits<Whole>::is_signed ? -beyond : 0.0;
  if (!(v < beyond && (v >= below || v > -1))) {
    throw error(ErrorKind::internal, "a number is outside the range of an index");
  }
  return static_cast<Whole>(v);
}

}  // namespace kestrel

#endif
