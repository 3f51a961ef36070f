// The table of leaves of each instruction set, and the choice of one at run time.
#include <cstring>

#include "simd/bootstrap/squared_errors.hpp"
#include "simd/direct/direct.hpp"
#include "simd/direct/gaussian_pairs.hpp"
#include "simd/fgt/cells.hpp"
#include "simd/fourier/spread.hpp"
#include "simd/isa/target.hpp"
#include "simd/mixed/mixed.hpp"
#include "simd/nodes/nodes.hpp"
#include "simd/product/product.hpp"
#include "simd/query/query.hpp"
#include "simd/scanline/line.hpp"
#include "simd/scanline/scanline.hpp"
#include "simd/sketch/whole_moments.hpp"
#include "simd/sweep/sweep.hpp"
#include "simd/table.hpp"

namespace kestrel {
namespace simd {

namespace {

bool is_built(Set set) { return kDirectTables[static_cast<std::size_t>(set)] != nullptr; }

bool machine_has(Set set) {
  if (set == Set::scalar) return true;
#if KESTREL_X86
  if (set == Set::sse2) return true;
  // The pragmas of each_set.inc enable these.
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("popcnt");
  if (set == Set::avx2) return avx2;
  // DQ has vreducepd, which the exponential uses.
  if (set == Set::avx512) {
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
  }
#endif
  return false;
}

Table make_table(Set set, const char* name, std::size_t lanes) {
  const std::size_t s = static_cast<std::size_t>(set);
  return {name,
          lanes,
          kDirectTables[s],
          kGaussianPairTables[s],
          kSweepTables[s],
          kCellTables[s],
          kNodeTables[s],
          kSpreadTables[s],
          kScanlineTables[s],
          kScanlineLineTables[s],
          kSquaredErrorTables[s],
          kQueryTables[s],
          kMixedTables[s],
          kProductTables[s],
          kSketchTables[s]};
}

const Table& table_of(Set set) {
  static const Table tables[kSets] = {
      make_table(Set::scalar, "scalar", 1), make_table(Set::sse2, "sse2", 2),
      make_table(Set::avx2, "avx2", 4), make_table(Set::avx512, "avx512", 8)};
  return tables[static_cast<std::size_t>(set)];
}

}  // namespace

std::size_t available_tables(const Table* tables[kSets]) {
  std::size_t n = 0;
  for (std::size_t s = 0; s < kSets; ++s) {
    const Set set = static_cast<Set>(s);
    if (is_built(set) && machine_has(set)) tables[n++] = &table_of(set);
  }
  return n;
}

const Table* baseline_table() {
  const Table* tables[kSets];
  available_tables(tables);
  return tables[0];
}

const Table* find_table(const char* name) {
  const Table* tables[kSets];
  const std::size_t n = available_tables(tables);
  if (std::strcmp(name, "auto") == 0) return tables[n - 1];
  for (std::size_t i = 0; i < n; ++i) {
    if (std::strcmp(tables[i]->name, name) == 0) return tables[i];
  }
  return nullptr;
}

}  // namespace simd
}  // namespace kestrel
