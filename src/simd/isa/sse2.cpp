// SSE2: two doubles a vector, on every x86-64 machine.
#include "simd/direct/gaussian_pairs.hpp"
#include "simd/isa/cosine.hpp"
#include "simd/isa/exp2.hpp"
#include "simd/isa/target.hpp"
#include "simd/sweep/sweep.hpp"
#include "simd/table.hpp"

#if KESTREL_X86

#include <emmintrin.h>

namespace kestrel {
namespace simd {
namespace sse2 {

using Vector = __m128d;
constexpr int kWidth = 2;
constexpr int kGroup = 4;

struct Environment {
  Environment() {}
};

inline Vector load(const double* p) { return _mm_loadu_pd(p); }
inline Vector load_first(const double* p, std::size_t) { return _mm_load_sd(p); }
inline void store(double* p, Vector v) { _mm_storeu_pd(p, v); }
inline void store_first(double* p, Vector v, std::size_t) { _mm_store_sd(p, v); }
inline Vector broadcast(double v) { return _mm_set1_pd(v); }
inline Vector add(Vector a, Vector b) { return _mm_add_pd(a, b); }
inline Vector subtract(Vector a, Vector b) { return _mm_sub_pd(a, b); }
inline Vector multiply(Vector a, Vector b) { return _mm_mul_pd(a, b); }
inline Vector divide(Vector a, Vector b) { return _mm_div_pd(a, b); }
inline Vector multiply_add(Vector a, Vector b, Vector c) { return add(multiply(a, b), c); }
inline Vector negative_multiply_add(Vector a, Vector b, Vector c) {
  return subtract(c, multiply(a, b));
}
inline Vector minimum(Vector a, Vector b) { return _mm_min_pd(a, b); }
inline Vector maximum(Vector a, Vector b) { return _mm_max_pd(a, b); }
inline Vector square_root(Vector a) { return _mm_sqrt_pd(a); }
inline Vector where_less(Vector a, Vector b, Vector v) { return _mm_and_pd(_mm_cmplt_pd(a, b), v); }
inline Vector where_less_equal(Vector a, Vector b, Vector v) {
  return _mm_and_pd(_mm_cmple_pd(a, b), v);
}
inline double total(Vector v) { return _mm_cvtsd_f64(_mm_add_sd(v, _mm_unpackhi_pd(v, v))); }

inline Vector add_exponents(Vector p, Vector shifted) {
  const __m128i exponent = _mm_slli_epi64(_mm_castpd_si128(shifted), 52);
  return _mm_castsi128_pd(_mm_add_epi64(_mm_castpd_si128(p), exponent));
}
#include "simd/isa/exp2.inc"

// What the sweep needs: lanes moved along, comparisons counted, values picked by index.
template <int S>
inline Vector shift_up(Vector v, Vector first) {
  return _mm_unpacklo_pd(first, v);
}
template <int S>
inline Vector shift_down(Vector v, Vector last) {
  return _mm_unpackhi_pd(v, last);
}
inline Vector first_lane(Vector v) { return _mm_unpacklo_pd(v, v); }
inline Vector last_lane(Vector v) { return _mm_unpackhi_pd(v, v); }
using Counter = __m128i;
inline Counter no_count() { return _mm_setzero_si128(); }
inline Counter count_at_least(Counter count, Vector a, Vector b) {
  return _mm_sub_epi64(count, _mm_castpd_si128(_mm_cmpge_pd(a, b)));
}
inline void store_counter(Counter count, std::uint64_t* value) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(value), count);
}

inline bool all_less(Vector a, Vector b) { return _mm_movemask_pd(_mm_cmplt_pd(a, b)) == 3; }
inline Vector load_difference(const std::uint32_t* a, const std::uint32_t* b) {
  return _mm_set_pd(static_cast<double>(a[1] - b[1]), static_cast<double>(a[0] - b[0]));
}
inline Vector pick(const double* base, const std::ptrdiff_t* lane) {
  return _mm_set_pd(base[lane[1]], base[lane[0]]);
}

#include "simd/direct/direct_sums.inc"
#include "simd/direct/gaussian_pairs.inc"
#include "simd/direct/gaussian_pairs_near.inc"
#include "simd/isa/plain.inc"
#include "simd/regression/local_sums.inc"
#include "simd/sweep/sweep.inc"

}  // namespace sse2

const Table* sse2_table() {
  return sse2::make_table("sse2", sse2::kSweepTable, sse2::kGaussianPairs);
}

}  // namespace simd
}  // namespace kestrel

#else

namespace kestrel {
namespace simd {
const Table* sse2_table() { return nullptr; }
}  // namespace simd
}  // namespace kestrel

#endif
