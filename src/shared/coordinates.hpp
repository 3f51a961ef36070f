// Coordinates of one sample or point.
#ifndef KESTREL_SHARED_COORDINATES_HPP
#define KESTREL_SHARED_COORDINATES_HPP

#include <cstddef>

#include "shared/number.hpp"

namespace kestrel {

// A uniform kernel jumps at the edge of its support. Where a pair's squared distance is this close
// to one, the data as given decide whether the pair is inside.
constexpr double kRim = 1e-9;

namespace number {

#include "shared/coordinates.inc"

/// Whether differences of the data as given lie in the ellipsoid; z: room for d coordinates.
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
