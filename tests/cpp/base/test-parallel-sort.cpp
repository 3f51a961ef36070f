// parallel_sort(): the order, and its polls.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/base/parallel_sort.hpp"

using namespace kestrel;

namespace {

/// Values that cells sort: even and skewed ones, many ties, few values in most of the range, all
/// signs and sizes of numbers, values in order and in reverse.
struct Kind {
  const char* name;
  std::function<double(std::mt19937& random, std::size_t i)> value;
};

double uniform(std::mt19937& random) { return static_cast<double>(random()) / 4294967296.0; }

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"uniform", [](std::mt19937& random, std::size_t) { return uniform(random); }},
      {"ties", [](std::mt19937& random, std::size_t) { return double(random() % 1000); }},
      {"two values", [](std::mt19937& random, std::size_t) { return double(random() % 2); }},
      {"one value", [](std::mt19937&, std::size_t) { return 3.0; }},
      {"mostly zeros",
       [](std::mt19937& random, std::size_t) {
         return random() % 200 == 0 ? uniform(random) - 0.5 : random() % 2 == 0 ? 0.0 : -0.0;
       }},
      {"skewed", [](std::mt19937& random, std::size_t) { return std::exp(9 * uniform(random)); }},
      {"of all sizes",
       [](std::mt19937& random, std::size_t) {
         return std::ldexp(uniform(random) - 0.5, static_cast<int>(random() % 2000) - 1000);
       }},
      {"clusters", [](std::mt19937& random,
                      std::size_t) { return double(random() % 3) * 1e9 + uniform(random); }},
      {"infinite",
       [](std::mt19937& random, std::size_t) {
         return random() % 5 == 0 ? HUGE_VAL : random() % 5 == 0 ? -HUGE_VAL : uniform(random);
       }},
      {"the largest",
       [](std::mt19937& random, std::size_t) { return 2 * (uniform(random) - 0.5) * 1.7e308; }},
      {"rising", [](std::mt19937&, std::size_t i) { return double(i); }},
      {"falling", [](std::mt19937&, std::size_t i) { return -double(i); }}};
  return all;
}

}  // namespace

TEST(ParallelSort, IsThatOfTheStandardLibrary) {
  std::mt19937 random(7);
  for (const Kind& kind : kinds()) {
    for (const std::size_t n :
         {std::size_t{0}, std::size_t{1}, kFewSorted, kFewSorted + 1, 3 * kSortCell, kSortBlock - 1,
          kSortBlock + 1, 5 * kSortBlock + 3}) {
      std::vector<std::pair<double, std::size_t>> values(n);
      for (std::size_t i = 0; i < n; ++i) values[i] = {kind.value(random, i), i};
      auto wanted = values;
      std::sort(wanted.begin(), wanted.end());
      for (const int threads : {1, 2, 3}) {
        auto sorted = values;
        ParallelOptions options;
        options.threads = threads;
        parallel_sort(&sorted, options);
        EXPECT_EQ(sorted, wanted) << n << " values, " << kind.name << ", " << threads << " threads";
        std::vector<std::pair<double, std::size_t>> other(n);
        parallel_sort(values.data(), n, other.data(), options);
        EXPECT_EQ(other, wanted) << n << " values, " << kind.name << ", " << threads << " threads";
      }
    }
  }
}

TEST(ParallelSort, TakesAnyTypeAndOrder) {
  std::mt19937 random(8);
  for (const std::size_t n : {std::size_t{3}, kSortBlock + 1, 3 * kSortBlock, 5 * kSortBlock + 3}) {
    std::vector<int> values(n);
    for (int& value : values) value = static_cast<int>(random() % 100000);
    auto wanted = values;
    std::sort(wanted.begin(), wanted.end(), std::greater<int>());
    parallel_sort(&values, {}, std::greater<int>());
    EXPECT_EQ(values, wanted) << n;
  }
}

TEST(ParallelSort, IsPolled) {
  std::mt19937 random(9);
  ParallelOptions stopped;
  stopped.poll = [](double) { throw std::runtime_error("stop"); };
  for (const Kind& kind : kinds()) {
    std::vector<double> many(2 * kSortBlock);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = kind.value(random, i);
    EXPECT_THROW(parallel_sort(&many, stopped), std::runtime_error) << kind.name;
    std::vector<double> other(many.size());
    EXPECT_THROW(parallel_sort(many.data(), many.size(), other.data(), stopped), std::runtime_error)
        << kind.name;
  }
  std::vector<int> any(2 * kSortBlock);
  EXPECT_THROW(parallel_sort(&any, stopped, std::greater<int>()), std::runtime_error);
}
