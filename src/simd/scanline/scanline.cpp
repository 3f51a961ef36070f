#include "simd/scanline/scanline.hpp"

#include "simd/isa/cosine.hpp"
#include "simd/scanline/rim.hpp"
#include "simd/scanline/vector.hpp"

namespace kestrel {
namespace simd {

namespace {

namespace scalar {

#include "simd/scanline/kernels.inc"
#include "simd/scanline/nest.inc"

template <int Limbs>
struct Events {
  void set(int limb, Whole a, Whole q, Whole p) {
    value[4 * limb] = a;
    value[4 * limb + 1] = q;
    value[4 * limb + 2] = p;
  }
  void finish() {}
  void add(std::size_t, std::uint64_t* to) const {
    for (std::size_t i = 0; i < kScanlineLimbLanes * Limbs; ++i) to[i] += value[i];
  }
  void take(std::size_t, std::uint64_t* from) const {
    for (std::size_t i = 0; i < kScanlineLimbLanes * Limbs; ++i) from[i] -= value[i];
  }
  std::uint64_t value[kScanlineLimbLanes * Limbs] = {};
};

template <int Limbs>
struct Cell {
  void add(std::uint64_t* from) {
    for (std::size_t i = 0; i < kScanlineLimbLanes * Limbs; ++i) {
      sum[i] += from[i];
      from[i] = 0;
    }
  }
  std::uint64_t sum[kScanlineLimbLanes * Limbs] = {};
};

template <int Limbs>
inline void columns(const Cell<Limbs>* cell, Whole* a, Whole* q, Whole* p) {
  for (int limb = 0; limb < Limbs; ++limb) {
    a[limb] = cell->sum[4 * limb];
    q[limb] = cell->sum[4 * limb + 1];
    p[limb] = cell->sum[4 * limb + 2];
  }
}

#include "simd/scanline/scanline.inc"
// After what it uses.
#include "simd/scanline/rows.inc"

const ScanlineTable kScanlineTable = {{add_events, scan}, {add_rows, write_rows}};

}  // namespace scalar

#if KESTREL_X86

KESTREL_TARGET_BEGIN("avx2")
namespace avx2 {

#include "simd/scanline/kernels.inc"
#include "simd/scanline/nest.inc"

template <int Limbs>
struct Events {
  void set(int limb, Whole a, Whole q, Whole p) {
    const Whole aq_even = _mm256_unpacklo_epi64(a, q), aq_odd = _mm256_unpackhi_epi64(a, q);
    const Whole p_even = _mm256_unpacklo_epi64(p, p), p_odd = _mm256_unpackhi_epi64(p, p);
    value[0][limb] = _mm256_permute2x128_si256(aq_even, p_even, 0x20);
    value[1][limb] = _mm256_permute2x128_si256(aq_odd, p_odd, 0x20);
    value[2][limb] = _mm256_permute2x128_si256(aq_even, p_even, 0x31);
    value[3][limb] = _mm256_permute2x128_si256(aq_odd, p_odd, 0x31);
  }
  void finish() {}
  void add(std::size_t lane, std::uint64_t* to) const {
    Whole* cell = reinterpret_cast<Whole*>(to);
    KESTREL_UNROLL
    for (int i = 0; i < Limbs; ++i) {
      _mm256_store_si256(cell + i, plus(_mm256_load_si256(cell + i), value[lane][i]));
    }
  }
  void take(std::size_t lane, std::uint64_t* from) const {
    Whole* cell = reinterpret_cast<Whole*>(from);
    KESTREL_UNROLL
    for (int i = 0; i < Limbs; ++i) {
      _mm256_store_si256(cell + i, minus(_mm256_load_si256(cell + i), value[lane][i]));
    }
  }
  Whole value[kWidth][Limbs];
};

template <int Limbs>
struct Cell {
  Cell() {
    KESTREL_UNROLL
    for (int i = 0; i < Limbs; ++i) limb[i] = _mm256_setzero_si256();
  }
  void add(std::uint64_t* from) {
    Whole* cell = reinterpret_cast<Whole*>(from);
    KESTREL_UNROLL
    for (int i = 0; i < Limbs; ++i) {
      limb[i] = plus(limb[i], _mm256_load_si256(cell + i));
      _mm256_store_si256(cell + i, _mm256_setzero_si256());
    }
  }
  Whole limb[Limbs];
};

template <int Limbs>
inline void columns(const Cell<Limbs>* cell, Whole* a, Whole* q, Whole* p) {
  KESTREL_UNROLL
  for (int i = 0; i < Limbs; ++i) {
    const Whole ap01 = _mm256_unpacklo_epi64(cell[0].limb[i], cell[1].limb[i]);
    const Whole ap23 = _mm256_unpacklo_epi64(cell[2].limb[i], cell[3].limb[i]);
    a[i] = _mm256_permute2x128_si256(ap01, ap23, 0x20);
    p[i] = _mm256_permute2x128_si256(ap01, ap23, 0x31);
    q[i] = _mm256_permute2x128_si256(_mm256_unpackhi_epi64(cell[0].limb[i], cell[1].limb[i]),
                                     _mm256_unpackhi_epi64(cell[2].limb[i], cell[3].limb[i]), 0x20);
  }
}

#include "simd/scanline/scanline.inc"
// After what it uses.
#include "simd/scanline/rows.inc"

const ScanlineTable kScanlineTable = {{add_events, scan}, {add_rows, write_rows}};

}  // namespace avx2
KESTREL_TARGET_END

KESTREL_TARGET_BEGIN("avx512f,avx512dq,avx2")
namespace avx512 {

#include "simd/scanline/kernels.inc"
#include "simd/scanline/nest.inc"

// Eight items' pairs of lanes, 128 bits each: lane l of out[i] is lane i of in[l], i and l < 4.
inline void transpose(const Whole in[4], Whole out[4]) {
  const Whole a = _mm512_maskz_shuffle_i64x2(kAll, in[0], in[1], 0x44);
  const Whole b = _mm512_maskz_shuffle_i64x2(kAll, in[0], in[1], 0xee);
  const Whole c = _mm512_maskz_shuffle_i64x2(kAll, in[2], in[3], 0x44);
  const Whole d = _mm512_maskz_shuffle_i64x2(kAll, in[2], in[3], 0xee);
  out[0] = _mm512_maskz_shuffle_i64x2(kAll, a, c, 0x88);
  out[1] = _mm512_maskz_shuffle_i64x2(kAll, a, c, 0xdd);
  out[2] = _mm512_maskz_shuffle_i64x2(kAll, b, d, 0x88);
  out[3] = _mm512_maskz_shuffle_i64x2(kAll, b, d, 0xdd);
}

// What a cell has of two limbs, or of the only one.
template <int Limbs>
struct Part {
  using Type = Whole;
  static Type of(Whole v) { return v; }
  static Whole whole(Type v) { return v; }
  static Type zero() { return _mm512_setzero_si512(); }
  static Type load(const std::uint64_t* p) { return _mm512_load_si512(p); }
  static void store(std::uint64_t* p, Type v) { _mm512_store_si512(p, v); }
  static Type plus(Type a, Type b) { return _mm512_add_epi64(a, b); }
  static Type minus(Type a, Type b) { return _mm512_sub_epi64(a, b); }
};
template <>
struct Part<1> {
  using Type = __m256i;
  static Type of(Whole v) { return _mm512_maskz_extracti64x4_epi64(0x0f, v, 0); }
  static Whole whole(Type v) {
    return _mm512_maskz_inserti64x4(kAll, _mm512_setzero_si512(), v, 0);
  }
  static Type zero() { return _mm256_setzero_si256(); }
  static Type load(const std::uint64_t* p) {
    return _mm256_load_si256(reinterpret_cast<const Type*>(p));
  }
  static void store(std::uint64_t* p, Type v) { _mm256_store_si256(reinterpret_cast<Type*>(p), v); }
  static Type plus(Type a, Type b) { return _mm256_add_epi64(a, b); }
  static Type minus(Type a, Type b) { return _mm256_sub_epi64(a, b); }
};

template <int Limbs>
struct Events {
  using Of = Part<Limbs>;
  void set(int limb, Whole a, Whole q, Whole p) {
    aq[0][limb] = _mm512_maskz_unpacklo_epi64(kAll, a, q);
    aq[1][limb] = _mm512_maskz_unpackhi_epi64(kAll, a, q);
    pp[0][limb] = _mm512_maskz_unpacklo_epi64(kAll, p, p);
    pp[1][limb] = _mm512_maskz_unpackhi_epi64(kAll, p, p);
  }
  void finish() {
    KESTREL_UNROLL
    for (int pair = 0; pair < kPairs; ++pair) {
      const int other = Limbs > 1 ? 2 * pair + 1 : 0;
      KESTREL_UNROLL
      for (int odd = 0; odd < 2; ++odd) {
        const Whole in[4] = {aq[odd][2 * pair], pp[odd][2 * pair], aq[odd][other], pp[odd][other]};
        Whole out[4];
        transpose(in, out);
        KESTREL_UNROLL
        for (int i = 0; i < 4; ++i) value[2 * i + odd][pair] = Of::of(out[i]);
      }
    }
  }
  void add(std::size_t lane, std::uint64_t* to) const {
    KESTREL_UNROLL
    for (int i = 0; i < kPairs; ++i) {
      Of::store(to + 8 * i, Of::plus(Of::load(to + 8 * i), value[lane][i]));
    }
  }
  void take(std::size_t lane, std::uint64_t* from) const {
    KESTREL_UNROLL
    for (int i = 0; i < kPairs; ++i) {
      Of::store(from + 8 * i, Of::minus(Of::load(from + 8 * i), value[lane][i]));
    }
  }
  static constexpr int kPairs = (Limbs + 1) / 2;
  Whole aq[2][Limbs], pp[2][Limbs];
  typename Of::Type value[kWidth][kPairs];
};

template <int Limbs>
struct Cell {
  using Of = Part<Limbs>;
  Cell() {
    KESTREL_UNROLL
    for (int i = 0; i < kPairs; ++i) pair[i] = Of::zero();
  }
  void add(std::uint64_t* from) {
    KESTREL_UNROLL
    for (int i = 0; i < kPairs; ++i) {
      pair[i] = Of::plus(pair[i], Of::load(from + 8 * i));
      Of::store(from + 8 * i, Of::zero());
    }
  }
  static constexpr int kPairs = (Limbs + 1) / 2;
  typename Of::Type pair[kPairs];
};

template <int Limbs>
inline void columns(const Cell<Limbs>* cell, Whole* a, Whole* q, Whole* p) {
  KESTREL_UNROLL
  for (int i = 0; i < Cell<Limbs>::kPairs; ++i) {
    Whole ap[4], of_q[4], out[4];
    KESTREL_UNROLL
    for (int k = 0; k < 4; ++k) {
      const Whole even = Part<Limbs>::whole(cell[2 * k].pair[i]);
      const Whole odd = Part<Limbs>::whole(cell[2 * k + 1].pair[i]);
      ap[k] = _mm512_maskz_unpacklo_epi64(kAll, even, odd);
      of_q[k] = _mm512_maskz_unpackhi_epi64(kAll, even, odd);
    }
    transpose(ap, out);
    a[2 * i] = out[0];
    p[2 * i] = out[1];
    if (Limbs > 1) a[2 * i + 1] = out[2];
    if (Limbs > 1) p[2 * i + 1] = out[3];
    const Whole first = _mm512_maskz_shuffle_i64x2(kAll, of_q[0], of_q[1], 0x88);
    const Whole second = _mm512_maskz_shuffle_i64x2(kAll, of_q[2], of_q[3], 0x88);
    q[2 * i] = _mm512_maskz_shuffle_i64x2(kAll, first, second, 0x88);
    if (Limbs > 1) q[2 * i + 1] = _mm512_maskz_shuffle_i64x2(kAll, first, second, 0xdd);
  }
}

#include "simd/scanline/scanline.inc"
// After what it uses.
#include "simd/scanline/rows.inc"

const ScanlineTable kScanlineTable = {{add_events, scan}, {add_rows, write_rows}};

}  // namespace avx512
KESTREL_TARGET_END

#endif

}  // namespace

const ScanlineTable* const kScanlineTables[kSets] = {
#if KESTREL_X86
    &scalar::kScanlineTable, &scalar::kScanlineTable, &avx2::kScanlineTable, &avx512::kScanlineTable
#else
    &scalar::kScanlineTable
#endif
};

}  // namespace simd
}  // namespace kestrel
