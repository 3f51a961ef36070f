#include "simd/query/query.hpp"

#include "simd/isa/cosine.hpp"
#include "simd/isa/exp2.hpp"
#include "simd/isa/target.hpp"
#include "simd/query/normal_tail.hpp"

namespace kestrel {
namespace simd {

namespace {

namespace baseline {
constexpr int kWidth = 2;
#include "simd/query/query.inc"
#include "simd/query/query_rule.inc"
}  // namespace baseline

#if KESTREL_X86

KESTREL_TARGET_BEGIN("avx2,fma")
namespace avx2 {
constexpr int kWidth = 4;
#include "simd/query/query.inc"
#include "simd/query/query_rule.inc"
}  // namespace avx2
KESTREL_TARGET_END

KESTREL_TARGET_BEGIN("avx512f,avx512dq,avx2,fma")
namespace avx512 {
constexpr int kWidth = 8;
#include "simd/query/query.inc"
#include "simd/query/query_rule.inc"
}  // namespace avx512
KESTREL_TARGET_END

#endif

}  // namespace

const QueryTable* const kQueryTables[kSets] = {
#if KESTREL_X86
    &baseline::kQueryTable, &baseline::kQueryTable, &avx2::kQueryTable, &avx512::kQueryTable
#else
    &baseline::kQueryTable
#endif
};

}  // namespace simd
}  // namespace kestrel
