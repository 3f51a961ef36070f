// The operations of simd/isa/each_set.inc that the `scanline` engine needs, for numbers. They give
// the same bits everywhere, since no product is fused with a sum. nvcc has functions of its own for
// that; a host compiler for a machine with fused operations needs -ffp-contract=off, unless all
// products are exact, as those of grid indices are.
#ifndef KESTREL_SHARED_UNFUSED_HPP
#define KESTREL_SHARED_UNFUSED_HPP

#include <cmath>

#include "shared/cosine.hpp"
#include "shared/host_device.hpp"
#include "shared/kernel.hpp"
#include "shared/number.hpp"
#include "shared/rounding.hpp"
#include "shared/scanline.hpp"

namespace kestrel {
namespace unfused {

using Vector = double;
using Whole = unsigned long long;  // modulo 2^64, as atomicAdd() takes it

#if defined(__CUDA_ARCH__)
KESTREL_HD KESTREL_INLINE double add(double a, double b) { return __dadd_rn(a, b); }
KESTREL_HD KESTREL_INLINE double subtract(double a, double b) { return __dsub_rn(a, b); }
KESTREL_HD KESTREL_INLINE double multiply(double a, double b) { return __dmul_rn(a, b); }
KESTREL_HD KESTREL_INLINE double square_root(double v) { return __dsqrt_rn(v); }
#else
KESTREL_HD KESTREL_INLINE double add(double a, double b) { return a + b; }
KESTREL_HD KESTREL_INLINE double subtract(double a, double b) { return a - b; }
KESTREL_HD KESTREL_INLINE double multiply(double a, double b) { return a * b; }
KESTREL_HD KESTREL_INLINE double square_root(double v) { return sqrt(v); }
#endif
KESTREL_HD KESTREL_INLINE double multiply_add(double a, double b, double c) {
  return add(multiply(a, b), c);
}
KESTREL_HD KESTREL_INLINE double broadcast(double v) { return v; }
KESTREL_HD KESTREL_INLINE double like(double, double x) { return x; }
KESTREL_HD KESTREL_INLINE double not_negative(double v) { return number::not_negative(v); }
KESTREL_HD KESTREL_INLINE double minimum(double a, double b) { return a < b ? a : b; }
KESTREL_HD KESTREL_INLINE double maximum(double a, double b) { return a > b ? a : b; }
KESTREL_HD KESTREL_INLINE double magnitude(double v) { return fabs(v); }
KESTREL_HD KESTREL_INLINE double where_less(double a, double b, double v, double other) {
  return a < b ? v : other;
}

KESTREL_HD KESTREL_INLINE double nearest(double v) {
  return subtract(add(v, kRoundingShift), kRoundingShift);
}
KESTREL_HD KESTREL_INLINE double lowest(double v) {
  const double whole = nearest(v);
  return whole > v ? subtract(whole, 1.0) : whole;
}
KESTREL_HD KESTREL_INLINE double highest(double v) {
  const double whole = nearest(v);
  return whole < v ? add(whole, 1.0) : whole;
}

struct Split {
  double whole;
  Whole bits;
};
KESTREL_HD KESTREL_INLINE Split split(double v) {
#if defined(__CUDA_ARCH__)
  const double beside = add(v, kRoundingShift);
  return {subtract(beside, kRoundingShift),
          static_cast<Whole>(__double_as_longlong(beside) - __double_as_longlong(kRoundingShift))};
#else
  const double whole = nearest(v);
  return {whole, static_cast<Whole>(static_cast<long long>(whole))};
#endif
}
KESTREL_HD KESTREL_INLINE Whole plus(Whole a, Whole b) { return a + b; }
KESTREL_HD KESTREL_INLINE Whole minus(Whole a, Whole b) { return a - b; }
KESTREL_HD KESTREL_INLINE Whole times(Whole v, Whole k) { return v * k; }
KESTREL_HD KESTREL_INLINE double to_double(Whole v) {
  return static_cast<double>(static_cast<long long>(v));
}

#include "shared/profile.inc"
#include "shared/scanline_kernels.inc"
// Behind the profiles, which it needs.
#include "shared/scanline.inc"

}  // namespace unfused
}  // namespace kestrel

#endif
