// The data as given, by which the `runs` engine decides on the rim of the uniform kernels.
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
class RunsRim {
 public:
  /// axes and root as of RunsGeometry; an axis that has no values gets those of origin + k step.
  /// No axes: nothing, for a continuous kernel.
  RunsRim(const RunsGeometry& geometry, Span<const RegularAxis> axes, Span<const double> root);

  /// What stays valid as long as this and the sample, made for a uniform kernel, do.
  simd::RunsData leaf(const RunsSample& sample) const;

 private:
  simd::RunsData data_{};
  std::array<std::vector<double>, simd::kRunsAxes> points_;
};

}  // namespace kestrel

#endif
