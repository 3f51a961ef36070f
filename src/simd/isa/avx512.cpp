// AVX-512 (F and DQ): eight doubles a vector.
#include "simd/direct/gaussian_pairs.hpp"
#include "simd/isa/cosine.hpp"
#include "simd/isa/exp2.hpp"
#include "simd/isa/target.hpp"
#include "simd/sweep/sweep.hpp"
#include "simd/table.hpp"

#if KESTREL_X86

#include <immintrin.h>

KESTREL_TARGET_BEGIN("avx512f,avx512dq,avx2,fma")

namespace kestrel {
namespace simd {
namespace avx512 {

using Vector = __m512d;
constexpr int kWidth = 8;
constexpr int kGroup = 8;

// All lanes. The zero-masking forms with every lane on compile to the plain instructions; GCC 12's
// plain intrinsics warn of an undefined operand of their own.
constexpr __mmask8 kAll = 0xff;

// Results of vscalefpd below the normal numbers are flushed to zero by the flush-to-zero mode of
// the thread's control register, which costs nothing, where a denormal costs a hundred cycles.
struct Environment {
  Environment() : saved(_mm_getcsr()) { _mm_setcsr(saved | 0x8000u); }
  ~Environment() { _mm_setcsr(saved); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  unsigned saved;
};

inline Vector load(const double* p) { return _mm512_loadu_pd(p); }
inline Vector load_first(const double* p, std::size_t count) {
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1u), p);
}
inline void store(double* p, Vector v) { _mm512_storeu_pd(p, v); }
inline void store_first(double* p, Vector v, std::size_t count) {
  _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1u << count) - 1u), v);
}
inline Vector broadcast(double v) { return _mm512_set1_pd(v); }
inline Vector add(Vector a, Vector b) { return _mm512_add_pd(a, b); }
inline Vector subtract(Vector a, Vector b) { return _mm512_sub_pd(a, b); }
inline Vector multiply(Vector a, Vector b) { return _mm512_mul_pd(a, b); }
inline Vector divide(Vector a, Vector b) { return _mm512_div_pd(a, b); }
inline Vector multiply_add(Vector a, Vector b, Vector c) { return _mm512_fmadd_pd(a, b, c); }
inline Vector negative_multiply_add(Vector a, Vector b, Vector c) {
  return _mm512_fnmadd_pd(a, b, c);
}
inline Vector minimum(Vector a, Vector b) { return _mm512_maskz_min_pd(kAll, a, b); }
inline Vector maximum(Vector a, Vector b) { return _mm512_maskz_max_pd(kAll, a, b); }
inline Vector square_root(Vector a) { return _mm512_maskz_sqrt_pd(kAll, a); }
inline Vector where_less(Vector a, Vector b, Vector v) {
  return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(a, b, _CMP_LT_OQ), v);
}
inline Vector where_less_equal(Vector a, Vector b, Vector v) {
  return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(a, b, _CMP_LE_OQ), v);
}
inline double total(Vector v) {
  const __m256d half = _mm256_add_pd(_mm512_maskz_extractf64x4_pd(kAll, v, 0),
                                     _mm512_maskz_extractf64x4_pd(kAll, v, 1));
  const __m128d quarter = _mm_add_pd(_mm256_castpd256_pd128(half), _mm256_extractf128_pd(half, 1));
  return _mm_cvtsd_f64(_mm_add_sd(quarter, _mm_unpackhi_pd(quarter, quarter)));
}

// vreducepd leaves f = v - floor(v) in one instruction, and vscalefpd multiplies by 2^floor(v) in
// one.
template <int N>
inline void exp2(Vector* v) {
  Vector f[N], p[N];
  KESTREL_UNROLL
  for (int t = 0; t < N; ++t) f[t] = _mm512_maskz_reduce_pd(kAll, v[t], 0x01);
  KESTREL_UNROLL
  for (int t = 0; t < N; ++t) p[t] = broadcast(kExp2Floor[10]);
  KESTREL_UNROLL
  for (int k = 9; k >= 0; --k) {
    KESTREL_UNROLL
    for (int t = 0; t < N; ++t) p[t] = multiply_add(p[t], f[t], broadcast(kExp2Floor[k]));
  }
  KESTREL_UNROLL
  for (int t = 0; t < N; ++t) v[t] = _mm512_maskz_scalef_pd(kAll, p[t], v[t]);
}

// What the sweep needs: lanes moved along, comparisons counted, values picked by index.
template <int S>
inline Vector shift_up(Vector v, Vector first) {
  return _mm512_castsi512_pd(
      _mm512_mask_alignr_epi64(_mm512_castpd_si512(first), static_cast<__mmask8>(0xff << S),
                               _mm512_castpd_si512(v), _mm512_castpd_si512(v), 8 - S));
}
template <int S>
inline Vector shift_down(Vector v, Vector last) {
  return _mm512_castsi512_pd(
      _mm512_mask_alignr_epi64(_mm512_castpd_si512(last), static_cast<__mmask8>(0xff >> S),
                               _mm512_castpd_si512(v), _mm512_castpd_si512(v), S));
}
inline Vector first_lane(Vector v) {
  return _mm512_maskz_permutexvar_pd(kAll, _mm512_setzero_si512(), v);
}
inline Vector last_lane(Vector v) {
  return _mm512_maskz_permutexvar_pd(kAll, _mm512_set1_epi64(7), v);
}
using Counter = __m512i;
inline Counter no_count() { return _mm512_setzero_si512(); }
inline Counter count_at_least(Counter count, Vector a, Vector b) {
  return _mm512_mask_add_epi64(count, _mm512_cmp_pd_mask(a, b, _CMP_GE_OQ), count,
                               _mm512_set1_epi64(1));
}
inline void store_counts(Counter a, Counter b, std::size_t start, std::uint32_t* to) {
  const __m256i count = _mm512_maskz_cvtepi64_epi32(kAll, _mm512_add_epi64(a, b));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm256_add_epi32(count, _mm256_set1_epi32(static_cast<int>(start))));
}

inline bool all_less(Vector a, Vector b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ) == kAll; }
inline Vector load_difference(const std::uint32_t* a, const std::uint32_t* b) {
  const __m256i d = _mm256_sub_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a)),
                                     _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)));
  return _mm512_maskz_cvtepi32_pd(kAll, d);  // below 2^31
}

// The indices of eight points mostly lie close together: then two loads and one permutation do
// (measured on Cascade Lake: vgatherqpd takes 27 cycles, eight scalar loads nine).
struct Picks {
  Picks(const std::uint32_t* bound, std::uint32_t limit, std::uint32_t offset) {
    const __m256i index = _mm256_sub_epi32(
        _mm256_min_epu32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bound)),
                         _mm256_set1_epi32(static_cast<int>(limit))),
        _mm256_set1_epi32(static_cast<int>(offset)));
    first = _mm_cvtsi128_si32(_mm256_castsi256_si128(index));
    near = _mm256_extract_epi32(index, 7) - first < 16;
    if (near) {
      local = _mm512_maskz_cvtepi32_epi64(
          kAll, _mm256_sub_epi32(index, _mm256_set1_epi32(static_cast<int>(first))));
    } else {
      _mm256_store_si256(reinterpret_cast<__m256i*>(lane), index);
    }
  }
  Vector from(const double* base) const {
    if (near) return _mm512_permutex2var_pd(load(base + first), local, load(base + first + 8));
    const double* at[8];
    for (int l = 0; l < 8; ++l) at[l] = base + lane[l];
    return _mm512_set_pd(*at[7], *at[6], *at[5], *at[4], *at[3], *at[2], *at[1], *at[0]);
  }

  std::ptrdiff_t first;
  bool near;
  __m512i local = _mm512_setzero_si512();
  alignas(32) std::int32_t lane[8];
};

#include "simd/direct/direct_sums.inc"
#include "simd/direct/gaussian_pairs.inc"
#include "simd/direct/gaussian_pairs_near.inc"
#include "simd/regression/local_sums.inc"
#include "simd/sweep/sweep.inc"

}  // namespace avx512

const Table* avx512_table() {
  return avx512::make_table("avx512", avx512::kSweepTable, avx512::kGaussianPairs);
}

}  // namespace simd
}  // namespace kestrel

KESTREL_TARGET_END

#else

namespace kestrel {
namespace simd {
const Table* avx512_table() { return nullptr; }
}  // namespace simd
}  // namespace kestrel

#endif
