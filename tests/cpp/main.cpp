// Runs all tests of a variant. With one of the arguments of `answers` it answers a test that has
// started this program because it needs a process of its own.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "core/base/parallel.hpp"
#include "core/base/thread_pool.hpp"
#include "loops.hpp"

using namespace kestrel;

namespace {

// The cap on threads of this process, and how many threads a loop gets that asks for three.
void say_cap() { std::printf("%d %d", thread_cap(), parallel_threads(on(3))); }

// The cap after this thread, which may run on several processors, has been given one.
void say_cap_on_one_processor() {
  (void)thread_cap();
  cpu_set_t all, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  int processor = 0;
  while (!CPU_ISSET(processor, &all)) ++processor;
  CPU_SET(processor, &one);
  if (sched_setaffinity(0, sizeof one, &one) == 0) std::printf("%d", thread_cap());
}

// A loop for three threads in a process whose memory has no room for the stack of another one.
void run_without_threads() {
  const rlimit none{1, 1};
  setrlimit(RLIMIT_AS, &none);
  std::atomic<int> items{0};
  parallel_for(10, on(3), [&](std::size_t, int) { ++items; });
  std::printf("%d items on %d", items.load(), threads_last_used());
}

// R may leave in a signal handler, at any instruction of its thread. What is registered here first
// runs last. A process that hangs is killed.
void leave_while_locked() {
  alarm(60);
  std::atexit([] { std::printf("left"); });
  parallel_for(10, on(3), [](std::size_t, int) {});  // starts the pool's threads
  call_while_locked([] { std::exit(0); });
  parallel_for(10, on(3), [](std::size_t, int) {});
}

std::atomic<int> items_of_helpers{0};

// The same while helpers work, who go on until the process is gone.
void leave_in_item() {
  alarm(60);
  std::atexit([] {
    // Of three items of two helpers one has begun since.
    for (const int now = items_of_helpers; items_of_helpers < now + 3;) std::this_thread::yield();
    std::printf("left");
  });
  parallel_for(static_cast<std::size_t>(-1), on(3), [](std::size_t, int worker) {
    if (worker == 0) std::exit(0);
    parallel_for(2, on(3), [](std::size_t, int) { ++items_of_helpers; });
  });
}

const struct {
  const char* argument;
  void (*answer)();
} answers[] = {{"--cap", say_cap},
               {"--cap-on-one-processor", say_cap_on_one_processor},
               {"--no-threads", run_without_threads},
               {"--leave-while-locked", leave_while_locked},
               {"--leave-in-item", leave_in_item}};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& known : answers) {
    if (argc != 2 || std::string(argv[1]) != known.argument) continue;
    known.answer();
    return 0;
  }
  // Every poll is due, so that no test has to wait for one.
  kestrel::set_poll_interval(0);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
