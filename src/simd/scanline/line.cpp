#include "simd/scanline/line.hpp"

#include "simd/scanline/vector.hpp"

namespace kestrel {
namespace simd {

namespace {

namespace scalar {

inline void store_pairs(std::uint64_t* to, Whole a, Whole b) {
  to[0] = a;
  to[1] = b;
}
inline void add_pair(std::uint64_t* to, const std::uint64_t* from) {
  to[0] += from[0];
  to[1] += from[1];
}
inline void take_pair(std::uint64_t* from, const std::uint64_t* what) {
  from[0] -= what[0];
  from[1] -= what[1];
}

#include "simd/scanline/line.inc"

}  // namespace scalar

#if KESTREL_X86

// Of 128 bits in every instruction set.
KESTREL_INLINE void add_pair(std::uint64_t* to, const std::uint64_t* from) {
  __m128i* cell = reinterpret_cast<__m128i*>(to);
  const __m128i* event = reinterpret_cast<const __m128i*>(from);
  _mm_store_si128(cell, _mm_add_epi64(_mm_load_si128(cell), _mm_load_si128(event)));
}
KESTREL_INLINE void take_pair(std::uint64_t* from, const std::uint64_t* what) {
  __m128i* cell = reinterpret_cast<__m128i*>(from);
  const __m128i* event = reinterpret_cast<const __m128i*>(what);
  _mm_store_si128(cell, _mm_sub_epi64(_mm_load_si128(cell), _mm_load_si128(event)));
}

KESTREL_TARGET_BEGIN("avx2")
namespace avx2 {

inline void store_pairs(std::uint64_t* to, Whole a, Whole b) {
  store_whole(to, _mm256_unpacklo_epi64(a, b));
  store_whole(to + 4, _mm256_unpackhi_epi64(a, b));
}

#include "simd/scanline/line.inc"

}  // namespace avx2
KESTREL_TARGET_END

KESTREL_TARGET_BEGIN("avx512f,avx512dq,avx2")
namespace avx512 {

inline void store_pairs(std::uint64_t* to, Whole a, Whole b) {
  store_whole(to, _mm512_maskz_unpacklo_epi64(kAll, a, b));
  store_whole(to + 8, _mm512_maskz_unpackhi_epi64(kAll, a, b));
}

#include "simd/scanline/line.inc"

}  // namespace avx512
KESTREL_TARGET_END

#endif

}  // namespace

const ScanlineLineTable* const kScanlineLineTables[kSets] = {
#if KESTREL_X86
    &scalar::kScanlineLineTable, &scalar::kScanlineLineTable, &avx2::kScanlineLineTable,
    &avx512::kScanlineLineTable
#else
    &scalar::kScanlineLineTable
#endif
};

}  // namespace simd
}  // namespace kestrel
