#include "simd/query/query.hpp"

#include "simd/query/normal_tail.hpp"

#define KESTREL_BODY "simd/query/query_rule.inc"
#include "simd/isa/each_set.inc"

namespace kestrel {
namespace simd {

const QueryTable* const kQueryTables[kSets] = KESTREL_TABLES(kQueryTable);

}  // namespace simd
}  // namespace kestrel
