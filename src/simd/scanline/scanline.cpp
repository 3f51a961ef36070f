#include "simd/scanline/scanline.hpp"

#define KESTREL_UNFUSED
#define KESTREL_BODY "simd/scanline/scanline.inc"
#include "simd/isa/each_set.inc"

namespace kestrel {
namespace simd {

const ScanlineTable* const kScanlineTables[kSets] = KESTREL_TABLES(kScanlineTable);

}  // namespace simd
}  // namespace kestrel
