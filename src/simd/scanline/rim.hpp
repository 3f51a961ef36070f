// The rim of the uniform kernels: the same decisions as the direct engine's.
#ifndef KESTREL_SIMD_SCANLINE_RIM_HPP
#define KESTREL_SIMD_SCANLINE_RIM_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "simd/scanline/scanline.hpp"

namespace kestrel {
namespace simd {

// Whether the point with these indices is in the support of the kernel about sample j. Decided on
// the data as given by the operations of inside_ellipsoid and inside_box (direct_sums.inc), with
// product and sum fused. It uses no instructions of a particular set, so the answer is the same
// everywhere.
inline bool inside_support(const ScanlineData& data, bool box, std::size_t j,
                           const std::size_t index[kScanlineAxes]) {
  double y[kScanlineAxes], q = 0;
  for (std::size_t k = 0; k < data.d; ++k) {
    double v = data.sample[k][j] - data.point[k][index[data.axis_of[k]]];
    if (box) {
      if (!(std::fabs(v) <= data.root[k][k])) return false;
      continue;
    }
    for (std::size_t l = 0; l < k; ++l) v = std::fma(-data.root[k][l], y[l], v);
    y[k] = v / data.root[k][k];
    q = std::fma(y[k], y[k], q);
  }
  return q <= 1;
}

}  // namespace simd
}  // namespace kestrel

#endif
