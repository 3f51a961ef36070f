#include "simd/direct/direct.hpp"

#include "simd/direct/gaussian_pairs.hpp"

#define KESTREL_BODY "simd/direct/direct.inc"
#include "simd/isa/each_set.inc"

namespace kestrel {
namespace simd {

const DirectTable* const kDirectTables[kSets] = KESTREL_TABLES(kDirectTable);
const GaussianPairTable* const kGaussianPairTables[kSets] = KESTREL_TABLES(kGaussianPairTable);

}  // namespace simd
}  // namespace kestrel
