#include "simd/fourier/spread.hpp"

#define KESTREL_BODY "simd/fourier/spread.inc"
#include "simd/isa/each_set.inc"

namespace kestrel {
namespace simd {

const SpreadTable* const kSpreadTables[kSets] = KESTREL_TABLES(kSpreadTable);

}  // namespace simd
}  // namespace kestrel
