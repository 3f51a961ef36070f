// AVX2 with FMA: four doubles a vector.
#include "simd/direct/gaussian_pairs.hpp"
#include "simd/isa/cosine.hpp"
#include "simd/isa/exp2.hpp"
#include "simd/isa/target.hpp"
#include "simd/sweep/sweep.hpp"
#include "simd/table.hpp"

#if KESTREL_X86

#include <immintrin.h>

KESTREL_TARGET_BEGIN("avx2,fma")

namespace kestrel {
namespace simd {
namespace avx2 {

using Vector = __m256d;
constexpr int kWidth = 4;
constexpr int kGroup = 4;

struct Environment {
  Environment() {}
};

inline Vector load(const double* p) { return _mm256_loadu_pd(p); }
inline __m256i first_lanes(std::size_t count) {
  const __m256i lane = _mm256_set_epi64x(3, 2, 1, 0);
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(static_cast<long long>(count)), lane);
}
inline Vector load_first(const double* p, std::size_t count) {
  return _mm256_maskload_pd(p, first_lanes(count));
}
inline void store(double* p, Vector v) { _mm256_storeu_pd(p, v); }
inline void store_first(double* p, Vector v, std::size_t count) {
  _mm256_maskstore_pd(p, first_lanes(count), v);
}
inline Vector broadcast(double v) { return _mm256_set1_pd(v); }
inline Vector add(Vector a, Vector b) { return _mm256_add_pd(a, b); }
inline Vector subtract(Vector a, Vector b) { return _mm256_sub_pd(a, b); }
inline Vector multiply(Vector a, Vector b) { return _mm256_mul_pd(a, b); }
inline Vector divide(Vector a, Vector b) { return _mm256_div_pd(a, b); }
inline Vector multiply_add(Vector a, Vector b, Vector c) { return _mm256_fmadd_pd(a, b, c); }
inline Vector negative_multiply_add(Vector a, Vector b, Vector c) {
  return _mm256_fnmadd_pd(a, b, c);
}
inline Vector minimum(Vector a, Vector b) { return _mm256_min_pd(a, b); }
inline Vector maximum(Vector a, Vector b) { return _mm256_max_pd(a, b); }
inline Vector square_root(Vector a) { return _mm256_sqrt_pd(a); }
inline Vector where_less(Vector a, Vector b, Vector v) {
  return _mm256_and_pd(_mm256_cmp_pd(a, b, _CMP_LT_OQ), v);
}
inline Vector where_less_equal(Vector a, Vector b, Vector v) {
  return _mm256_and_pd(_mm256_cmp_pd(a, b, _CMP_LE_OQ), v);
}
inline double total(Vector v) {
  const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
  return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}

inline Vector add_exponents(Vector p, Vector shifted) {
  const __m256i exponent = _mm256_slli_epi64(_mm256_castpd_si256(shifted), 52);
  return _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(p), exponent));
}
#include "simd/isa/exp2.inc"

// What the sweep needs: lanes moved along, comparisons counted, values picked by index.
template <int S>
inline Vector shift_up(Vector v, Vector first) {
  return S == 1 ? _mm256_blend_pd(_mm256_permute4x64_pd(v, 0x90), first, 1)
                : _mm256_blend_pd(_mm256_permute2f128_pd(v, v, 0x00), first, 3);
}
template <int S>
inline Vector shift_down(Vector v, Vector last) {
  return S == 1 ? _mm256_blend_pd(_mm256_permute4x64_pd(v, 0xf9), last, 8)
                : _mm256_blend_pd(_mm256_permute2f128_pd(v, v, 0x11), last, 12);
}
inline Vector first_lane(Vector v) { return _mm256_permute4x64_pd(v, 0x00); }
inline Vector last_lane(Vector v) { return _mm256_permute4x64_pd(v, 0xff); }
using Counter = __m256i;
inline Counter no_count() { return _mm256_setzero_si256(); }
inline Counter count_at_least(Counter count, Vector a, Vector b) {
  return _mm256_sub_epi64(count, _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_GE_OQ)));
}
inline void store_counter(Counter count, std::uint64_t* value) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(value), count);
}

inline bool all_less(Vector a, Vector b) {
  return _mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_LT_OQ)) == 15;
}
inline Vector load_difference(const std::uint32_t* a, const std::uint32_t* b) {
  const __m128i d = _mm_sub_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a)),
                                  _mm_loadu_si128(reinterpret_cast<const __m128i*>(b)));
  return _mm256_cvtepi32_pd(d);  // below 2^31
}
inline Vector pick(const double* base, const std::ptrdiff_t* lane) {
  return _mm256_set_pd(base[lane[3]], base[lane[2]], base[lane[1]], base[lane[0]]);
}

#include "simd/direct/direct_sums.inc"
#include "simd/direct/gaussian_pairs.inc"
#include "simd/direct/gaussian_pairs_near.inc"
#include "simd/isa/plain.inc"
#include "simd/regression/local_sums.inc"
#include "simd/sweep/sweep.inc"

}  // namespace avx2

const Table* avx2_table() {
  return avx2::make_table("avx2", avx2::kSweepTable, avx2::kGaussianPairs);
}

}  // namespace simd
}  // namespace kestrel

KESTREL_TARGET_END

#else

namespace kestrel {
namespace simd {
const Table* avx2_table() { return nullptr; }
}  // namespace simd
}  // namespace kestrel

#endif
