// Operations of simd/isa/each_set.inc for numbers, in double and in single precision.
#ifndef KESTREL_SHARED_NUMBER_HPP
#define KESTREL_SHARED_NUMBER_HPP

#include <cmath>

#include "shared/host_device.hpp"

namespace kestrel {
namespace number {

KESTREL_HD KESTREL_INLINE double like(double, double x) { return x; }
KESTREL_HD KESTREL_INLINE float like(float, double x) { return static_cast<float>(x); }
KESTREL_HD KESTREL_INLINE double multiply_add(double a, double b, double c) { return fma(a, b, c); }
KESTREL_HD KESTREL_INLINE float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
KESTREL_HD KESTREL_INLINE double negative_multiply_add(double a, double b, double c) {
  return fma(-a, b, c);
}
KESTREL_HD KESTREL_INLINE double minimum(double a, double b) { return a < b ? a : b; }
KESTREL_HD KESTREL_INLINE double maximum(double a, double b) { return a > b ? a : b; }
KESTREL_HD KESTREL_INLINE float maximum(float a, float b) { return fmaxf(a, b); }
/// On a device by integers, whose units are idle where those for doubles are busy.
KESTREL_HD KESTREL_INLINE double not_negative(double v) {
#if defined(__CUDA_ARCH__)
  return __double2hiint(v) < 0 ? 0.0 : v;
#else
  return maximum(v, 0.0);
#endif
}
KESTREL_HD KESTREL_INLINE float not_negative(float v) { return maximum(v, 0.0f); }
KESTREL_HD KESTREL_INLINE double square_root(double v) { return sqrt(v); }
KESTREL_HD KESTREL_INLINE float square_root(float v) { return sqrtf(v); }

template <class Real>
KESTREL_HD KESTREL_INLINE Real add(Real a, Real b) {
  return a + b;
}
template <class Real>
KESTREL_HD KESTREL_INLINE Real subtract(Real a, Real b) {
  return a - b;
}
template <class Real>
KESTREL_HD KESTREL_INLINE Real multiply(Real a, Real b) {
  return a * b;
}
KESTREL_HD KESTREL_INLINE double divide(double a, double b) { return a / b; }
template <class Real>
KESTREL_HD KESTREL_INLINE Real where_less(Real a, Real b, Real v, Real other) {
  return a < b ? v : other;
}

}  // namespace number
}  // namespace kestrel

#endif
