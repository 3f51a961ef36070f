#include "simd/product/product.hpp"

#define KESTREL_BODY "simd/product/product.inc"
#include "simd/isa/each_set.inc"

namespace kestrel {
namespace simd {

const ProductTable* const kProductTables[kSets] = KESTREL_TABLES(kProductTable);

}  // namespace simd
}  // namespace kestrel
