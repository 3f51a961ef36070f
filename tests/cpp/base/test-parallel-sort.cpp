// parallel_sort(): the order, and its polls.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/base/parallel_sort.hpp"

using namespace kestrel;

TEST(ParallelSort, IsThatOfTheStandardLibraryAndPolled) {
  std::mt19937 random(7);
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, kSortBlock - 1, kSortBlock,
                              kSortBlock + 1, 2 * kSortBlock, 5 * kSortBlock + 3}) {
    std::vector<std::pair<double, std::size_t>> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = {static_cast<double>(random() % 1000), i};
    auto wanted = values;
    std::sort(wanted.begin(), wanted.end());
    for (const int threads : {1, 2, 3}) {
      auto sorted = values;
      ParallelOptions options;
      options.threads = threads;
      parallel_sort(&sorted, options);
      EXPECT_EQ(sorted, wanted) << n << " values, " << threads << " threads";
    }
  }
  std::vector<int> down{1, 3, 2};
  parallel_sort(&down, {}, std::greater<int>());
  EXPECT_EQ(down, (std::vector<int>{3, 2, 1}));
  std::vector<double> many(2 * kSortBlock);
  for (double& value : many) value = static_cast<double>(random());
  ParallelOptions stopped;
  stopped.poll = [](double) { throw std::runtime_error("stop"); };
  EXPECT_THROW(parallel_sort(&many, stopped), std::runtime_error);
}
