// Coordinates of one sample or point.
#ifndef KESTREL_SHARED_COORDINATES_HPP
#define KESTREL_SHARED_COORDINATES_HPP

#include <cstddef>

#include "shared/number.hpp"

namespace kestrel {

// Whether a pair is in the support of a uniform kernel, which jumps there, is decided by the data
// as given where the square of its distance is this near one.
constexpr double kRim = 1e-9;

namespace number {

#include "shared/coordinates.inc"

/// Whether differences of the data as given are in the ellipsoid; z: room for d coordinates.
template <class Difference, class Row>
KESTREL_HD KESTREL_INLINE bool inside_ellipsoid(std::size_t d, const Difference& difference,
                                                const Row& row, double* z) {
  return rim_square(
             0.0, d, difference, row, [=](std::size_t l) { return z[l]; },
             [=](std::size_t k, double v) { z[k] = v; }) <= 1.0;
}

}  // namespace number
}  // namespace kestrel

#endif
