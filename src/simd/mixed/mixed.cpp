#include "simd/mixed/mixed.hpp"

#include "simd/query/normal_tail.hpp"

#define KESTREL_BODY "simd/mixed/mixed.inc"
#include "simd/isa/each_set.inc"

namespace kestrel {
namespace simd {

const MixedTable* const kMixedTables[kSets] = KESTREL_TABLES(kMixedTable);

}  // namespace simd
}  // namespace kestrel
