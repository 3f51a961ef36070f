// Distances of observations, against those of all pairs.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <vector>

#include "common.hpp"
#include "core/regression/pair_distances.hpp"
#include "lines.hpp"

using namespace kestrel;
using lines::Line;

namespace {

/// |x_i - x_j| of all pairs in (lower, upper].
std::set<double> all_distances(const Line& line, double lower, double upper) {
  std::set<double> all;
  for (const double a : line.x) {
    for (const double b : line.x) {
      if (a - b > lower && a - b <= upper) all.insert(a - b);
    }
  }
  return all;
}

/// For each position the distances to its two nearest others.
std::set<double> two_nearest(const Line& line, double lower, double upper) {
  const std::set<double> positions(line.x.begin(), line.x.end());
  std::set<double> nearest;
  for (const double a : positions) {
    std::multiset<double> from;
    for (const double b : positions) {
      if (a != b) from.insert(std::fabs(a - b));
    }
    std::size_t rank = 0;
    for (const double distance : from) {
      if (rank++ < 2 && distance > lower && distance <= upper) nearest.insert(distance);
    }
  }
  return nearest;
}

}  // namespace

TEST(PairDistances, TheMostIsolatedObservationIsTheFarthestFromAllOthers) {
  for (const Line& line : lines::of_every_kind(100)) {
    const std::size_t n = line.x.size();
    if (n < 2) continue;
    SCOPED_TRACE(line.name);
    const SortedSample sample(line.samples(), {}, {}, {});
    const auto from_others = [&](std::size_t i) {
      double nearest = HUGE_VAL;
      for (std::size_t j = 0; j < n; ++j) {
        if (j != i) nearest = std::min(nearest, std::fabs(line.x[i] - line.x[j]));
      }
      return nearest;
    };
    double wanted = 0;
    for (std::size_t i = 0; i < n; ++i) wanted = std::max(wanted, from_others(i));
    const Isolated found = most_isolated(sample, sample.size(), {});
    EXPECT_EQ(found.distance, wanted);
    EXPECT_EQ(from_others(sample.given(found.number)), wanted);
  }
}

TEST(PairDistances, AreThoseOfAllPairs) {
  for (const Line& line : lines::of_every_kind(100)) {
    SCOPED_TRACE(line.name);
    const SortedSample sample(line.samples(), {}, {}, {});
    const std::set<double> every = all_distances(line, 0, HUGE_VAL);
    const double middle = every.empty() ? 1 : *std::next(every.begin(), every.size() / 2);
    const double ends[][2] = {{0, HUGE_VAL}, {0, middle}, {middle, 2 * middle}, {middle, middle}};
    for (const auto& [lower, upper] : ends) {
      const auto found = pair_distances(sample, lower, upper, PairsOf::all);
      const std::set<double> wanted = all_distances(line, lower, upper);
      ASSERT_TRUE(found);
      EXPECT_EQ(*found, std::vector<double>(wanted.begin(), wanted.end()));
      const auto nearest = pair_distances(sample, lower, upper, PairsOf::nearest);
      ASSERT_TRUE(nearest);
      for (const double distance : two_nearest(line, lower, upper)) {
        EXPECT_TRUE(std::binary_search(nearest->begin(), nearest->end(), distance)) << distance;
      }
      EXPECT_LE(nearest->size(), 2 * line.x.size());
      EXPECT_TRUE(std::includes(wanted.begin(), wanted.end(), nearest->begin(), nearest->end()));
    }
  }
}

TEST(PairDistances, NoneIfTheyAreTooMany) {
  std::vector<double> x;
  for (int i = 0; i < 1500; ++i) x.push_back(i);
  const SortedSample sample({x.data(), x.size()}, {}, {}, {});
  EXPECT_FALSE(pair_distances(sample, 0, 1500, PairsOf::all));
  EXPECT_EQ(pair_distances(sample, 0, 1500, PairsOf::nearest), (std::vector<double>{1, 2}));
  EXPECT_EQ(pair_distances(sample, 9, 11, PairsOf::all), (std::vector<double>{10, 11}));
}
