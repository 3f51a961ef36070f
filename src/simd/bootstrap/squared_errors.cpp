#include "simd/bootstrap/squared_errors.hpp"

#define KESTREL_UNFUSED
#define KESTREL_BODY "simd/bootstrap/squared_errors.inc"
#include "simd/isa/each_set.inc"

namespace kestrel {
namespace simd {

const SquaredErrorTable* const kSquaredErrorTables[kSets] = KESTREL_TABLES(kSquaredErrorTable);

}  // namespace simd
}  // namespace kestrel
