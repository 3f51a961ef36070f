// The rim of the uniform kernels: the same decisions as the direct engine's.
#ifndef KESTREL_SIMD_SCANLINE_RIM_HPP
#define KESTREL_SIMD_SCANLINE_RIM_HPP

#include <cmath>
#include <cstddef>

#include "shared/coordinates.hpp"
#include "simd/scanline/scanline.hpp"

namespace kestrel {
namespace simd {

// Whether the point with these indices is in the support of the kernel about sample j, decided on
// the data as given. It uses no instructions of a particular set, so the answer is the same
// everywhere.
inline bool inside_support(const ScanlineData& data, bool box, std::size_t j,
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
    if (!(std::fabs(difference(k)) <= data.root[k][k])) return false;
  }
  return true;
}

}  // namespace simd
}  // namespace kestrel

#endif
