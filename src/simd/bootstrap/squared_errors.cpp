#include "simd/bootstrap/squared_errors.hpp"

#include "simd/scanline/scanline.hpp"  // for vector.hpp
#include "simd/scanline/vector.hpp"

namespace kestrel {
namespace simd {

namespace {

namespace scalar {

inline unsigned first_lanes(std::size_t) { return 1; }
inline std::size_t count_of(unsigned lanes) { return lanes; }
struct Picked {
  explicit Picked(unsigned) {}
  void store(double* to, Vector v) const { *to = v; }
};

#include "simd/bootstrap/squared_errors.inc"

}  // namespace scalar

#if KESTREL_X86

KESTREL_TARGET_BEGIN("avx2,popcnt")
namespace avx2 {

// Halves of doubles, those of the lanes in a set first.
struct Orders {
  constexpr Orders() : half() {
    for (unsigned lanes = 0; lanes < 16; ++lanes) {
      unsigned next = 0;
      for (unsigned lane = 0; lane < 4; ++lane) {
        if ((lanes >> lane & 1) == 0) continue;
        half[lanes][next++] = static_cast<int>(2 * lane);
        half[lanes][next++] = static_cast<int>(2 * lane + 1);
      }
    }
  }
  alignas(32) int half[16][8];
};
constexpr Orders kOrders;

inline unsigned first_lanes(std::size_t count) { return (1u << count) - 1u; }
inline std::size_t count_of(unsigned lanes) {
  return static_cast<std::size_t>(__builtin_popcount(lanes));
}
// The lanes of a set, one after another.
struct Picked {
  explicit Picked(unsigned lanes)
      : order(_mm256_load_si256(reinterpret_cast<const __m256i*>(kOrders.half[lanes]))) {}
  void store(double* to, Vector v) const {
    const __m256i moved = _mm256_permutevar8x32_epi32(_mm256_castpd_si256(v), order);
    store_anywhere(to, _mm256_castsi256_pd(moved));
  }
  __m256i order;
};

#include "simd/bootstrap/squared_errors.inc"

}  // namespace avx2
KESTREL_TARGET_END

KESTREL_TARGET_BEGIN("avx512f,avx512dq,avx2,popcnt")
namespace avx512 {

inline unsigned first_lanes(std::size_t count) { return (1u << count) - 1u; }
inline std::size_t count_of(unsigned lanes) {
  return static_cast<std::size_t>(__builtin_popcount(lanes));
}
struct Picked {
  explicit Picked(unsigned lanes) : mask(static_cast<__mmask8>(lanes)) {}
  void store(double* to, Vector v) const { store_anywhere(to, _mm512_maskz_compress_pd(mask, v)); }
  __mmask8 mask;
};

#include "simd/bootstrap/squared_errors.inc"

}  // namespace avx512
KESTREL_TARGET_END

#endif

}  // namespace

const SquaredErrorTable* const kSquaredErrorTables[kSets] = {
#if KESTREL_X86
    &scalar::kSquaredErrorTable, &scalar::kSquaredErrorTable, &avx2::kSquaredErrorTable,
    &avx512::kSquaredErrorTable
#else
    &scalar::kSquaredErrorTable
#endif
};

}  // namespace simd
}  // namespace kestrel
