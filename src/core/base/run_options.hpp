// How to run an engine.
#ifndef KESTREL_CORE_BASE_RUN_OPTIONS_HPP
#define KESTREL_CORE_BASE_RUN_OPTIONS_HPP

#include "core/base/parallel.hpp"
#include "simd/table.hpp"

namespace kestrel {

/// The instruction set (simd::find_table), the number of threads, and the poll.
struct RunOptions {
  const simd::Table* table = simd::baseline_table();
  ParallelOptions parallel;
};

}  // namespace kestrel

#endif
