// Runs all tests of a variant. With --cap or --no-threads it answers a test that has started this
// program with another environment.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "core/base/parallel.hpp"

int main(int argc, char** argv) {
  // The cap on threads of this process, and how many threads a loop gets that asks for three.
  if (argc == 2 && std::strcmp(argv[1], "--cap") == 0) {
    kestrel::ParallelOptions three;
    three.threads = 3;
    std::printf("%d %d", kestrel::thread_cap(), kestrel::parallel_threads(three));
    return 0;
  }
  // A loop for three threads in a process whose memory has no room for the stack of another one.
  if (argc == 2 && std::strcmp(argv[1], "--no-threads") == 0) {
    const rlimit none{1, 1};
    setrlimit(RLIMIT_AS, &none);
    kestrel::ParallelOptions three;
    three.threads = 3;
    std::atomic<int> items{0};
    kestrel::parallel_for(10, three, [&](std::size_t, int) { ++items; });
    std::printf("%d items on %d", items.load(), kestrel::threads_last_used());
    return 0;
  }
  // Every poll is due, so that no test has to wait for one.
  kestrel::set_poll_interval(0);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
