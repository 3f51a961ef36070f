#include "core/fourier/mode_derivative.hpp"

namespace kestrel {

ModeDerivative::ModeDerivative(const std::vector<Point3>& directions,
                               const FourierGeometry& geometry) {
  for (const Point3& direction : directions) {
    Point3 step{};
    for (std::size_t a = 3 - geometry.d; a < 3; ++a) {
      step[a] = direction[a] * geometry.frequency_step(a);
    }
    steps_.push_back(step);
  }
}

void ModeDerivative::scale(std::ptrdiff_t k0, std::ptrdiff_t k1, std::size_t count,
                           double* weight) const {
  for (std::size_t r = 0; r < steps_.size(); ++r) {
    const Point3& step = steps_[r];
    // i^2 = -1.
    const double sign = r % 2 == 0 ? 1 : -1;
    const double first =
        sign * (step[0] * static_cast<double>(k0) + step[1] * static_cast<double>(k1));
    const double slope = sign * step[2];
    for (std::size_t k = 0; k < count; ++k) weight[k] *= first + slope * static_cast<double>(k);
  }
}

}  // namespace kestrel
