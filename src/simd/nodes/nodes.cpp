#include "simd/nodes/nodes.hpp"

#define KESTREL_BODY "simd/nodes/nodes.inc"
#include "simd/isa/each_set.inc"

namespace kestrel {
namespace simd {

const NodeTable* const kNodeTables[kSets] = KESTREL_TABLES(kNodeTable);

}  // namespace simd
}  // namespace kestrel
