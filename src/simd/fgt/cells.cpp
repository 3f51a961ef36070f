#include "simd/fgt/cells.hpp"

#define KESTREL_BODY "simd/fgt/cells.inc"
#include "simd/isa/each_set.inc"

namespace kestrel {
namespace simd {

const CellTable* const kCellTables[kSets] = KESTREL_TABLES(kCellTable);

}  // namespace simd
}  // namespace kestrel
