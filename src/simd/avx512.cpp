// AVX-512 (F and DQ): eight doubles a vector.
#include "simd/exp2.hpp"
#include "simd/kernels.hpp"
#include "simd/target.hpp"

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

#include "simd/body.inc"

}  // namespace avx512

const Table* avx512_table() { return avx512::make_table("avx512"); }

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
