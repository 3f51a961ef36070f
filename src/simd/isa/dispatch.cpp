// Choice of the instruction set at run time.
#include <cstring>

#include "simd/isa/target.hpp"
#include "simd/table.hpp"

namespace kestrel {
namespace simd {

namespace {

bool machine_has_avx2() {
#if KESTREL_X86
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

bool machine_has_avx512() {
#if KESTREL_X86
  // DQ brings vreducepd, which the exponential is built on.
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
#else
  return false;
#endif
}

}  // namespace

std::size_t available_tables(const Table* tables[4]) {
  std::size_t n = 0;
  tables[n++] = scalar_table();
  if (sse2_table() != nullptr) tables[n++] = sse2_table();
  if (avx2_table() != nullptr && machine_has_avx2()) tables[n++] = avx2_table();
  if (avx512_table() != nullptr && machine_has_avx512()) tables[n++] = avx512_table();
  return n;
}

const Table* find_table(const char* name) {
  const Table* tables[4];
  const std::size_t n = available_tables(tables);
  if (std::strcmp(name, "auto") == 0) return tables[n - 1];
  for (std::size_t i = 0; i < n; ++i) {
    if (std::strcmp(tables[i]->name, name) == 0) return tables[i];
  }
  return nullptr;
}

}  // namespace simd
}  // namespace kestrel
