// The data as given, by which the `scanline` engine decides on the rim of the uniform kernels.
#ifndef KESTREL_CORE_SCANLINE_RIM_HPP
#define KESTREL_CORE_SCANLINE_RIM_HPP

#include <array>
#include <cstddef>
#include <vector>

#include "core/scanline/geometry.hpp"
#include "core/scanline/sample.hpp"
#include "simd/scanline/scanline.hpp"

namespace kestrel {

/// A copy of the axes and the root of the bandwidth matrix. 8 bytes a point of every axis.
class ScanlineRim {
 public:
  /// axes and root as of ScanlineGeometry; an axis that has no values gets those of origin + k
  /// step. No axes: nothing, for a continuous kernel.
  ScanlineRim(const ScanlineGeometry& geometry, Span<const RegularAxis> axes,
              Span<const double> root);

  /// What stays valid as long as this and the sample, made for a uniform kernel, do.
  simd::ScanlineData leaf(const ScanlineSample& sample) const;

 private:
  simd::ScanlineData data_{};
  std::array<std::vector<double>, simd::kScanlineAxes> points_;
};

}  // namespace kestrel

#endif
