// What the tests of loops share: options, and items that take time.
#ifndef KESTREL_TOOLS_LOOPS_HPP
#define KESTREL_TOOLS_LOOPS_HPP

#include <chrono>
#include <thread>
#include <utility>

#include "core/base/parallel.hpp"

namespace kestrel {

inline void wait_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

inline ParallelOptions on(int threads, Poll poll = {}) {
  ParallelOptions options;
  options.threads = threads;
  options.poll = std::move(poll);
  return options;
}

}  // namespace kestrel

#endif
