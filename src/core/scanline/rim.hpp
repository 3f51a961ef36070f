// The data as given, with which the `scanline` engine decides points on the rim of the uniform
// kernels.
#ifndef KESTREL_CORE_SCANLINE_RIM_HPP
#define KESTREL_CORE_SCANLINE_RIM_HPP

#include <array>
#include <cstddef>
#include <vector>

#include "core/scanline/geometry.hpp"
#include "core/scanline/sample.hpp"
#include "simd/scanline/scanline.hpp"

namespace kestrel {

/// A copy of the axes and of the root of the bandwidth matrix. 8 bytes a point of every axis.
class ScanlineRim {
 public:
  /// axes and root as for ScanlineGeometry; an axis without values gets those of origin + k step.
  /// With no axes it is empty, for a continuous kernel.
  ScanlineRim(const ScanlineGeometry& geometry, Span<const RegularAxis> axes,
              Span<const double> root);

  /// Valid as long as this object and the sample, which must be made for a uniform kernel.
  simd::ScanlineData leaf(const ScanlineSample& sample) const;

 private:
  simd::ScanlineData data_{};
  std::array<std::vector<double>, simd::kScanlineAxes> points_;
};

}  // namespace kestrel

#endif
