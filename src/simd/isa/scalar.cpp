// Portable leaf loops: plain doubles, for machines without any of the vector sets and as the
// yardstick of the others in the tests.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simd/direct/gaussian_pairs.hpp"
#include "simd/isa/cosine.hpp"
#include "simd/isa/exp2.hpp"
#include "simd/isa/target.hpp"
#include "simd/sweep/sweep.hpp"
#include "simd/table.hpp"

namespace kestrel {
namespace simd {
namespace scalar {

using Vector = double;
constexpr int kWidth = 1;
constexpr int kGroup = 4;

struct Environment {
  Environment() {}  // user-provided, so that an unused variable of this type is no warning
};

inline Vector load(const double* p) { return *p; }
inline Vector load_first(const double* p, std::size_t) { return *p; }
inline void store(double* p, Vector v) { *p = v; }
inline void store_first(double* p, Vector v, std::size_t) { *p = v; }
inline Vector broadcast(double v) { return v; }
inline Vector add(Vector a, Vector b) { return a + b; }
inline Vector subtract(Vector a, Vector b) { return a - b; }
inline Vector multiply(Vector a, Vector b) { return a * b; }
inline Vector divide(Vector a, Vector b) { return a / b; }
inline Vector multiply_add(Vector a, Vector b, Vector c) { return a * b + c; }
inline Vector negative_multiply_add(Vector a, Vector b, Vector c) { return c - a * b; }
inline Vector minimum(Vector a, Vector b) { return a < b ? a : b; }
inline Vector maximum(Vector a, Vector b) { return a > b ? a : b; }
inline Vector square_root(Vector a) { return std::sqrt(a); }
inline Vector where_less(Vector a, Vector b, Vector v) { return a < b ? v : 0.0; }
inline Vector where_less_equal(Vector a, Vector b, Vector v) { return a <= b ? v : 0.0; }
inline double total(Vector v) { return v; }

inline Vector exp2_one(Vector v) {
  if (v < kExp2Smallest) return 0.0;
  const Vector shifted = v + kRoundingShift;
  const Vector f = v - (shifted - kRoundingShift);
  Vector p = kExp2[10];
  KESTREL_UNROLL
  for (int k = 9; k >= 0; --k) p = p * f + kExp2[k];
  std::uint64_t exponent, bits;
  std::memcpy(&exponent, &shifted, sizeof exponent);
  std::memcpy(&bits, &p, sizeof bits);
  bits += exponent << 52;
  std::memcpy(&p, &bits, sizeof p);
  return p;
}

template <int N>
inline void exp2(Vector* v) {
  for (int t = 0; t < N; ++t) v[t] = exp2_one(v[t]);
}

// What the sweep needs.
template <int S>
inline Vector shift_up(Vector, Vector first) {
  return first;
}
template <int S>
inline Vector shift_down(Vector, Vector last) {
  return last;
}
inline Vector first_lane(Vector v) { return v; }
inline Vector last_lane(Vector v) { return v; }
using Counter = std::size_t;
inline Counter no_count() { return 0; }
inline Counter count_at_least(Counter count, Vector a, Vector b) {
  return count + (a >= b ? 1 : 0);
}
inline void store_counter(Counter count, std::uint64_t* value) { *value = count; }

inline bool all_less(Vector a, Vector b) { return a < b; }
inline Vector load_difference(const std::uint32_t* a, const std::uint32_t* b) {
  return static_cast<double>(*a - *b);
}
inline Vector pick(const double* base, const std::ptrdiff_t* lane) { return base[lane[0]]; }

#include "simd/direct/direct_sums.inc"
#include "simd/direct/gaussian_pairs.inc"
#include "simd/direct/gaussian_pairs_near.inc"
#include "simd/isa/plain.inc"
#include "simd/regression/local_sums.inc"
#include "simd/sweep/sweep.inc"

}  // namespace scalar

const Table* scalar_table() {
  return scalar::make_table("scalar", scalar::kSweepTable, scalar::kGaussianPairs);
}

}  // namespace simd
}  // namespace kestrel
