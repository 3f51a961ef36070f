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

/// The same with the progress from begin to end of the whole (core/base/parallel.hpp).
inline RunOptions part_of(const RunOptions& options, double begin, double end) {
  RunOptions part = options;
  part.parallel = part_of(options.parallel, begin, end);
  return part;
}

}  // namespace kestrel

#endif
