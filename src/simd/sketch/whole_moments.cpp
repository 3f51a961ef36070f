#include "simd/sketch/whole_moments.hpp"

#define KESTREL_UNFUSED
#define KESTREL_BODY "simd/sketch/whole_moments.inc"
#include "simd/isa/each_set.inc"

namespace kestrel {
namespace simd {

const SketchTable* const kSketchTables[kSets] = KESTREL_TABLES(kSketchTable);

}  // namespace simd
}  // namespace kestrel
