// The least and the largest of columns of numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "core/data/ends.hpp"

using namespace kestrel;

TEST(Ends, AreThoseOfTheStandardLibrary) {
  std::mt19937_64 random(1);
  std::vector<std::vector<double>> columns;
  for (const std::size_t n : {1, 2, 7, 8, 9, 100, 131072, 131073, 300001}) {
    columns.emplace_back(n);
    for (double& value : columns.back()) {
      value = static_cast<double>(random()) / 1e18 - 9 + 1e9 * static_cast<double>(n % 2);
    }
  }
  columns.push_back({-1e308, 1e308});
  columns.push_back({-INFINITY, 2.0, INFINITY});
  columns.emplace_back();
  std::vector<Span<const double>> spans;
  for (const auto& column : columns) spans.push_back({column.data(), column.size()});
  const std::vector<Ends> ends = ends_of(spans, {});
  ASSERT_EQ(ends.size(), columns.size());
  for (std::size_t c = 0; c + 1 < columns.size(); ++c) {
    const auto wanted = std::minmax_element(columns[c].begin(), columns[c].end());
    EXPECT_EQ(ends[c].least, *wanted.first) << c;
    EXPECT_EQ(ends[c].largest, *wanted.second) << c;
  }
  EXPECT_EQ(ends.back().least, 0.0);
  EXPECT_EQ(ends.back().largest, 0.0);
}
