// The vectors of the `scanline` engine in every instruction set, for files of simd/ whose results
// have the same bits in all of them: each namespace offers
//
//   Vector, kWidth, load, store (of aligned values), load_anywhere, store_anywhere, broadcast, add,
//   subtract, multiply, square_root, minimum, maximum
//   lane_numbers()          0, 1, ...
//   nearest, lowest(v), highest(v)  whole numbers: round (ties to even), floor, ceiling; |v| < 2^51
//   where_less(a, b, v, other)      v in the lanes where a < b, else `other`
//   lanes_less(a, b)        the lanes where a < b, as the bits of an unsigned
//   Whole, to_whole(v)      64-bit integers modulo 2^64, of whole numbers below 2^51
//   split(v)                {whole, bits}: the nearest whole number, and that as an integer
//   to_nearest(v)           the latter alone; |v| < 2^51
//   load_whole64, store_whole, of aligned values
//   plus, minus             of them; times(v, k), 0 <= k < 2^32
//   to_double(whole), whole_of(k), whole_steps(k)  k, and k, k + 1, ... in the lanes
//
// For one source file each: everything is local to it. From here to the end of such a file products
// are not fused with sums.
#ifndef KESTREL_SIMD_SCANLINE_VECTOR_HPP
#define KESTREL_SIMD_SCANLINE_VECTOR_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "simd/isa/target.hpp"

#if KESTREL_X86
#include <immintrin.h>
#endif

// A fused product and sum is rounded once instead of twice: other bits, where there is one.
#if defined(__clang__)
KESTREL_PRAGMA(STDC FP_CONTRACT OFF)
#elif defined(__GNUC__)
KESTREL_PRAGMA(GCC optimize("fp-contract=off"))
#endif

namespace kestrel {
namespace simd {

namespace {

// Of lanes as bits, at least one.
inline std::size_t first_lane(unsigned lanes) {
#if defined(__GNUC__)
  return static_cast<std::size_t>(__builtin_ctz(lanes));
#else
  std::size_t lane = 0;
  for (; (lanes & 1) == 0; lanes >>= 1) ++lane;
  return lane;
#endif
}

namespace scalar {

using Vector = double;
constexpr std::size_t kWidth = 1;

inline Vector load(const double* p) { return *p; }
inline Vector load_anywhere(const double* p) { return *p; }
inline void store(double* p, Vector v) { *p = v; }
inline void store_anywhere(double* p, Vector v) { *p = v; }
inline Vector broadcast(double v) { return v; }
inline Vector lane_numbers() { return 0.0; }
inline Vector add(Vector a, Vector b) { return a + b; }
inline Vector subtract(Vector a, Vector b) { return a - b; }
inline Vector multiply(Vector a, Vector b) { return a * b; }
inline Vector square_root(Vector a) { return std::sqrt(a); }
inline Vector minimum(Vector a, Vector b) { return a < b ? a : b; }
inline Vector maximum(Vector a, Vector b) { return a > b ? a : b; }
inline Vector where_less(Vector a, Vector b, Vector v, Vector other) { return a < b ? v : other; }
inline unsigned lanes_less(Vector a, Vector b) { return a < b ? 1 : 0; }
// Beside this number doubles are whole numbers.
constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52
inline Vector nearest(Vector v) { return (v + kShift) - kShift; }
inline Vector lowest(Vector v) {
  const Vector whole = nearest(v);
  return whole > v ? whole - 1 : whole;
}
inline Vector highest(Vector v) {
  const Vector whole = nearest(v);
  return whole < v ? whole + 1 : whole;
}

using Whole = std::uint64_t;
struct Split {
  Vector whole;
  Whole bits;
};
inline Whole to_whole(Vector v) { return static_cast<Whole>(static_cast<std::int64_t>(v)); }
inline Split split(Vector v) {
  const Vector whole = nearest(v);
  return {whole, to_whole(whole)};
}
inline Whole to_nearest(Vector v) { return to_whole(nearest(v)); }
inline void store_whole(std::uint64_t* p, Whole v) { *p = v; }
inline Whole load_whole64(const std::uint64_t* p) { return *p; }
inline Whole plus(Whole a, Whole b) { return a + b; }
inline Whole minus(Whole a, Whole b) { return a - b; }
inline Whole times(Whole v, Whole k) { return v * k; }

inline Vector to_double(Whole v) { return static_cast<Vector>(static_cast<std::int64_t>(v)); }
inline Whole whole_of(std::size_t k) { return k; }
inline Whole whole_steps(std::size_t k) { return k; }

#include "simd/scanline/grid_index.inc"

}  // namespace scalar

#if KESTREL_X86

KESTREL_TARGET_BEGIN("avx2")
namespace avx2 {

using Vector = __m256d;
constexpr std::size_t kWidth = 4;

inline Vector load(const double* p) { return _mm256_load_pd(p); }
inline Vector load_anywhere(const double* p) { return _mm256_loadu_pd(p); }
inline void store(double* p, Vector v) { _mm256_store_pd(p, v); }
inline void store_anywhere(double* p, Vector v) { _mm256_storeu_pd(p, v); }
inline Vector broadcast(double v) { return _mm256_set1_pd(v); }
inline Vector lane_numbers() { return _mm256_set_pd(3, 2, 1, 0); }
inline Vector add(Vector a, Vector b) { return _mm256_add_pd(a, b); }
inline Vector subtract(Vector a, Vector b) { return _mm256_sub_pd(a, b); }
inline Vector multiply(Vector a, Vector b) { return _mm256_mul_pd(a, b); }
inline Vector square_root(Vector a) { return _mm256_sqrt_pd(a); }
inline Vector minimum(Vector a, Vector b) { return _mm256_min_pd(a, b); }
inline Vector maximum(Vector a, Vector b) { return _mm256_max_pd(a, b); }
inline Vector where_less(Vector a, Vector b, Vector v, Vector other) {
  return _mm256_blendv_pd(other, v, _mm256_cmp_pd(a, b, _CMP_LT_OQ));
}
inline unsigned lanes_less(Vector a, Vector b) {
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_LT_OQ)));
}
inline Vector nearest(Vector v) {
  return _mm256_round_pd(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline Vector lowest(Vector v) {
  return _mm256_round_pd(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
inline Vector highest(Vector v) {
  return _mm256_round_pd(v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
}

using Whole = __m256i;
struct Split {
  Vector whole;
  Whole bits;
};
// The bits of doubles beside 1.5 * 2^52 count by one.
inline Whole to_whole(Vector v) {
  const Vector shift = broadcast(6755399441055744.0);
  return _mm256_sub_epi64(_mm256_castpd_si256(add(v, shift)), _mm256_castpd_si256(shift));
}
inline Split split(Vector v) {
  const Vector shift = broadcast(6755399441055744.0), shifted = add(v, shift);
  return {subtract(shifted, shift),
          _mm256_sub_epi64(_mm256_castpd_si256(shifted), _mm256_castpd_si256(shift))};
}
inline Whole to_nearest(Vector v) { return to_whole(v); }
inline Whole load_whole64(const std::uint64_t* p) {
  return _mm256_load_si256(reinterpret_cast<const Whole*>(p));
}
inline void store_whole(std::uint64_t* p, Whole v) {
  _mm256_store_si256(reinterpret_cast<Whole*>(p), v);
}
inline Whole plus(Whole a, Whole b) { return _mm256_add_epi64(a, b); }
inline Whole minus(Whole a, Whole b) { return _mm256_sub_epi64(a, b); }
inline Whole times(Whole v, Whole k) {
  const Whole high = _mm256_mul_epu32(_mm256_srli_epi64(v, 32), k);
  return _mm256_add_epi64(_mm256_mul_epu32(v, k), _mm256_slli_epi64(high, 32));
}

// Both halves as the low digits of doubles (2^52 + low, 2^84 + 2^63 + 2^32 high): one rounding.
inline Vector to_double(Whole v) {
  const Whole low = _mm256_blend_epi32(v, _mm256_set1_epi64x(0x4330000000000000), 0xaa);
  const Whole high =
      _mm256_xor_si256(_mm256_srli_epi64(v, 32), _mm256_set1_epi64x(0x4530000080000000));
  const Vector shift = _mm256_castsi256_pd(_mm256_set1_epi64x(0x4530000080100000));
  return add(subtract(_mm256_castsi256_pd(high), shift), _mm256_castsi256_pd(low));
}
inline Whole whole_of(std::size_t k) { return _mm256_set1_epi64x(static_cast<long long>(k)); }
inline Whole whole_steps(std::size_t k) { return plus(whole_of(k), _mm256_set_epi64x(3, 2, 1, 0)); }

#include "simd/scanline/grid_index.inc"

}  // namespace avx2
KESTREL_TARGET_END

KESTREL_TARGET_BEGIN("avx512f,avx512dq,avx2")
namespace avx512 {

using Vector = __m512d;
constexpr std::size_t kWidth = 8;
constexpr __mmask8 kAll = 0xff;  // see avx512.cpp

inline Vector load(const double* p) { return _mm512_load_pd(p); }
inline Vector load_anywhere(const double* p) { return _mm512_loadu_pd(p); }
inline void store(double* p, Vector v) { _mm512_store_pd(p, v); }
inline void store_anywhere(double* p, Vector v) { _mm512_storeu_pd(p, v); }
inline Vector broadcast(double v) { return _mm512_set1_pd(v); }
inline Vector lane_numbers() { return _mm512_set_pd(7, 6, 5, 4, 3, 2, 1, 0); }
inline Vector add(Vector a, Vector b) { return _mm512_add_pd(a, b); }
inline Vector subtract(Vector a, Vector b) { return _mm512_sub_pd(a, b); }
inline Vector multiply(Vector a, Vector b) { return _mm512_mul_pd(a, b); }
inline Vector square_root(Vector a) { return _mm512_maskz_sqrt_pd(kAll, a); }
inline Vector minimum(Vector a, Vector b) { return _mm512_maskz_min_pd(kAll, a, b); }
inline Vector maximum(Vector a, Vector b) { return _mm512_maskz_max_pd(kAll, a, b); }
inline Vector where_less(Vector a, Vector b, Vector v, Vector other) {
  return _mm512_mask_mov_pd(other, _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ), v);
}
inline unsigned lanes_less(Vector a, Vector b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
inline Vector nearest(Vector v) { return _mm512_maskz_roundscale_pd(kAll, v, 0x08); }
inline Vector lowest(Vector v) { return _mm512_maskz_roundscale_pd(kAll, v, 0x09); }
inline Vector highest(Vector v) { return _mm512_maskz_roundscale_pd(kAll, v, 0x0a); }

using Whole = __m512i;
struct Split {
  Vector whole;
  Whole bits;
};
inline Whole to_whole(Vector v) { return _mm512_maskz_cvtpd_epi64(kAll, v); }
inline Split split(Vector v) {
  const Vector shift = broadcast(6755399441055744.0), shifted = add(v, shift);
  return {subtract(shifted, shift),
          _mm512_sub_epi64(_mm512_castpd_si512(shifted), _mm512_castpd_si512(shift))};
}
inline Whole to_nearest(Vector v) { return to_whole(v); }
inline void store_whole(std::uint64_t* p, Whole v) { _mm512_store_si512(p, v); }
inline Whole load_whole64(const std::uint64_t* p) { return _mm512_load_si512(p); }
inline Whole plus(Whole a, Whole b) { return _mm512_add_epi64(a, b); }
inline Whole minus(Whole a, Whole b) { return _mm512_sub_epi64(a, b); }
inline Whole times(Whole v, Whole k) { return _mm512_mullo_epi64(v, k); }

inline Vector to_double(Whole v) { return _mm512_maskz_cvtepi64_pd(kAll, v); }
inline Whole whole_of(std::size_t k) { return _mm512_set1_epi64(static_cast<long long>(k)); }
inline Whole whole_steps(std::size_t k) {
  return plus(whole_of(k), _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
}

#include "simd/scanline/grid_index.inc"

}  // namespace avx512
KESTREL_TARGET_END

#endif

}  // namespace

}  // namespace simd
}  // namespace kestrel

#endif
