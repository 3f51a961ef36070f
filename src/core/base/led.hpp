// Loops of a few long items, whose threads have others to help them.
#ifndef KESTREL_CORE_BASE_LED_HPP
#define KESTREL_CORE_BASE_LED_HPP

#include <cstddef>
#include <functional>

#include "core/base/parallel.hpp"

namespace kestrel {

/// As parallel_for(), except that at most `leaders` threads take items, so `worker` is in [0,
/// leaders). The other threads, up to 15 for each of these, help with the loops that bodies run
/// by helped_for(), and so do leaders when no items are left. For pieces of work that threads of
/// the host start on devices, and whose results they then copy.
void parallel_led_for(std::size_t items, int leaders, const ParallelOptions& options,
                      const std::function<void(std::size_t item, int worker)>& body);

/// Runs body(item) once for each item, in any order. In a body of parallel_led_for() the threads
/// that help it take items, too, but not the first one; elsewhere this thread takes all of them.
/// `body` must not poll, except in the first item.
void helped_for(std::size_t items, const std::function<void(std::size_t item)>& body);

}  // namespace kestrel

#endif
