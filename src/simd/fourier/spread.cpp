#include "simd/fourier/spread.hpp"

#include "simd/isa/target.hpp"

namespace kestrel {
namespace simd {

namespace {

namespace baseline {
constexpr int kWidth = 2;
#include "simd/fourier/spread.inc"
}  // namespace baseline

#if KESTREL_X86

KESTREL_TARGET_BEGIN("avx2,fma")
namespace avx2 {
constexpr int kWidth = 4;
#include "simd/fourier/spread.inc"
}  // namespace avx2
KESTREL_TARGET_END

KESTREL_TARGET_BEGIN("avx512f,avx512dq,avx2,fma")
namespace avx512 {
constexpr int kWidth = 8;
#include "simd/fourier/spread.inc"
}  // namespace avx512
KESTREL_TARGET_END

#endif

}  // namespace

const SpreadTable* const kSpreadTables[kSets] = {
#if KESTREL_X86
    &baseline::kSpreadTable, &baseline::kSpreadTable, &avx2::kSpreadTable, &avx512::kSpreadTable
#else
    &baseline::kSpreadTable
#endif
};

}  // namespace simd
}  // namespace kestrel
