#include "simd/scanline/line.hpp"

#define KESTREL_UNFUSED
#define KESTREL_BODY "simd/scanline/line.inc"
#include "simd/isa/each_set.inc"

namespace kestrel {
namespace simd {

const ScanlineLineTable* const kScanlineLineTables[kSets] = KESTREL_TABLES(kScanlineLineTable);

}  // namespace simd
}  // namespace kestrel
