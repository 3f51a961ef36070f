// Partial derivatives of a band-limited function, as factors of its modes.
#ifndef KESTREL_CORE_FOURIER_MODE_DERIVATIVE_HPP
#define KESTREL_CORE_FOURIER_MODE_DERIVATIVE_HPP

#include <complex>
#include <cstddef>
#include <vector>

#include "core/fourier/geometry.hpp"

namespace kestrel {

/// A derivative by some directions of z, one after the other: exp(i t'z) becomes that times the
/// product of i (direction't) over all of them. No directions: the function itself.
class ModeDerivative {
 public:
  ModeDerivative() = default;
  /// For the frequencies of a geometry.
  ModeDerivative(const std::vector<Point3>& directions, const FourierGeometry& geometry);

  /// weight[k] *= the factor of the modes (k0, k1, k), k < count, but for i if is_odd(). O(count
  /// order).
  void scale(std::ptrdiff_t k0, std::ptrdiff_t k1, std::size_t count, double* weight) const;
  bool is_odd() const { return steps_.size() % 2 == 1; }

 private:
  std::vector<Point3> steps_;  // of direction't by mode number, for each direction
};

}  // namespace kestrel

#endif
