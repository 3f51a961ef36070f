#include "core/scanline/rim.hpp"

namespace kestrel {

ScanlineRim::ScanlineRim(const ScanlineGeometry& geometry, Span<const RegularAxis> axes,
                         Span<const double> root) {
  if (axes.size == 0) return;
  data_.d = axes.size;
  for (std::size_t a = geometry.line() ? 1 : 0; a < geometry.axes(); ++a) {
    data_.axis_of[geometry.user(a)] = static_cast<int>(a);
  }
  for (std::size_t k = 0; k < axes.size; ++k) {
    for (std::size_t l = 0; l <= k; ++l) data_.root[k][l] = root[l * axes.size + k];
    const RegularAxis& axis = axes[k];
    points_[k].assign(axis.values.begin(), axis.values.end());
    for (std::size_t i = points_[k].size(); i < axis.count; ++i) {
      points_[k].push_back(axis.origin + static_cast<double>(i) * axis.step);
    }
  }
}

simd::ScanlineData ScanlineRim::leaf(const ScanlineSample& sample) const {
  simd::ScanlineData data = data_;
  for (std::size_t k = 0; k < data.d; ++k) {
    data.sample[k] = sample.sorted(static_cast<std::size_t>(data.axis_of[k]));
    data.point[k] = points_[k].data();
  }
  return data;
}

}  // namespace kestrel
