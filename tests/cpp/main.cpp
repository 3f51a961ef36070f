// Runs all tests of a variant. With --cap it answers a test that has started this program with
// another environment.
#include <gtest/gtest.h>

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
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
