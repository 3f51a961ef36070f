// How to run an engine.
#ifndef KESTREL_CORE_BASE_RUN_OPTIONS_HPP
#define KESTREL_CORE_BASE_RUN_OPTIONS_HPP

#include "core/base/parallel.hpp"
#include "simd/table.hpp"

namespace kestrel {

/// Which instruction set (simd::find_table; the fgt engine has none of its own and ignores it),
/// how many threads, whom to ask whether to go on.
struct RunOptions {
  const simd::Table* table = simd::scalar_table();
  ParallelOptions parallel;
};

}  // namespace kestrel

#endif
