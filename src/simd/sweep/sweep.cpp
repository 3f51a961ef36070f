#include "simd/sweep/sweep.hpp"

#define KESTREL_BODY "simd/sweep/sweep.inc"
#include "simd/isa/each_set.inc"

namespace kestrel {
namespace simd {

const SweepTable* const kSweepTables[kSets] = KESTREL_TABLES(kSweepTable);

}  // namespace simd
}  // namespace kestrel
