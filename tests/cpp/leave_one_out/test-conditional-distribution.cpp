// The cross-validation of conditional distribution functions at nodes, beside sums in long double
// and those of mixed data, which are pair by pair.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "common.hpp"
#include "core/leave_one_out/conditional_distribution.hpp"
#include "lines.hpp"

using namespace kestrel;

namespace {

using real = long double;

/// Columns of y and a last one of x, which is given.
struct Data {
  Data(std::vector<std::vector<double>> all, const std::vector<std::vector<double>>& grid)
      : columns(std::move(all)), points(grid), sample(made(columns)), at(made(points)) {}

  static MixedSample made(const std::vector<std::vector<double>>& columns) {
    std::vector<double> x;
    for (const std::vector<double>& one : columns) x.insert(x.end(), one.begin(), one.end());
    const std::size_t n = columns[0].size();
    const MixedRows rows{{x.data(), n, columns.size()}, {}, {nullptr, n, 0}, n, 0};
    return MixedSample(rows, {}, {}, {}, {});
  }
  std::size_t n() const { return columns[0].size(); }
  std::size_t responses() const { return columns.size() - 1; }

  std::vector<std::vector<double>> columns, points;
  MixedSample sample, at;
};

LeaveOneOut found(const Data& data, bool at_grid, const std::vector<double>& h, bool gradient,
                  const simd::Table* table, int threads = 1) {
  MixedKernel kernel;
  kernel.h = h;
  MixedGiven given(h.size(), false);
  given.back() = true;
  const MixedGrid grid{at_grid ? &data.at : nullptr};
  return conditional_distribution_error(data.sample, grid, kernel, given, gradient,
                                        common::run_on(table, threads));
}

struct Wanted {
  real value = 0;
  std::vector<real> by;
  std::size_t unsupported = 0;
};

Wanted oracle(const Data& data, bool at_grid, const std::vector<double>& h) {
  const std::vector<std::vector<double>>& points = at_grid ? data.points : data.columns;
  const std::size_t n = data.n(), m = points[0].size(), q = data.responses();
  const std::vector<double>& x = data.columns[q];
  const real root = std::sqrt(2 * std::acos(real{-1}));
  Wanted wanted;
  wanted.by.assign(q + 1, 0);
  // By point of the grid and observation: the integrated kernel, and its derivatives.
  std::vector<std::vector<real>> value(q + 1, std::vector<real>(m * n));
  for (std::size_t g = 0; g < m; ++g) {
    for (std::size_t j = 0; j < n; ++j) {
      std::vector<real> c(q), by(q);
      value[q][g * n + j] = 1;
      for (std::size_t k = 0; k < q; ++k) {
        const real u = (static_cast<real>(points[k][g]) - data.columns[k][j]) / h[k];
        c[k] = std::erfc(-u * std::sqrt(real{0.5})) / 2;
        by[k] = -u * std::exp(-u * u / 2) / root;
        value[q][g * n + j] *= c[k];
      }
      for (std::size_t k = 0; k < q; ++k) {
        real all = by[k];
        for (std::size_t other = 0; other < q; ++other) all *= other == k ? 1 : c[other];
        value[k][g * n + j] = all;
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    // Relative to the nearest neighbour.
    std::vector<real> u(n), weight(n, 0);
    real least = HUGE_VALL, all = 0, squares = 0;
    for (std::size_t j = 0; j < n; ++j) {
      u[j] = std::isinf(h[q]) ? 0 : (static_cast<real>(x[j]) - x[i]) / h[q];
      if (j != i) least = std::min(least, u[j] * u[j]);
    }
    const bool supported = least < 38 * 38;
    if (!supported) ++wanted.unsupported;
    for (std::size_t j = 0; j < n && supported; ++j) {
      if (j != i) weight[j] = std::exp((least - u[j] * u[j]) / 2);
      all += weight[j];
      squares += weight[j] * u[j] * u[j];
    }
    for (std::size_t g = 0; g < m; ++g) {
      if (!at_grid && g == i) continue;
      bool reached = true;
      for (std::size_t k = 0; k < q; ++k) reached = reached && data.columns[k][i] <= points[k][g];
      std::vector<real> sum(q + 1, 0);
      real by_h = 0;
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k <= q; ++k) sum[k] += weight[j] * value[k][g * n + j];
        by_h += weight[j] * u[j] * u[j] * value[q][g * n + j];
      }
      const real fit = supported ? sum[q] / all : 0, error = fit - (reached ? 1 : 0);
      wanted.value += error * error;
      if (!supported) continue;
      wanted.by[q] += 2 * error * (by_h - fit * squares) / all;
      for (std::size_t k = 0; k < q; ++k) wanted.by[k] += 2 * error * sum[k] / all;
    }
  }
  wanted.value /= static_cast<real>(n) * m;
  for (real& by : wanted.by) by /= static_cast<real>(n) * m;
  return wanted;
}

void expect_oracle(const Data& data, bool at_grid, const std::vector<double>& h) {
  const Wanted wanted = oracle(data, at_grid, h);
  const double value = static_cast<double>(wanted.value);
  for (const simd::Table* table : common::tables()) {
    SCOPED_TRACE(table->name);
    const LeaveOneOut answer = found(data, at_grid, h, true, table);
    EXPECT_EQ(answer.engine, "nodes");
    const MixedCriterion& got = answer.criterion;
    EXPECT_EQ(got.unsupported, wanted.unsupported);
    // Errors of distribution functions are relative to 1.
    EXPECT_NEAR(got.value, value, 1e-13 * std::sqrt(value) + 1e-13 * value);
    for (std::size_t k = 0; k < h.size(); ++k) {
      const double by = static_cast<double>(wanted.by[k]);
      EXPECT_NEAR(got.gradient[k], by, 1e-12 * (std::sqrt(value) + std::fabs(by))) << k;
    }
    EXPECT_EQ(found(data, at_grid, h, false, table).criterion.value, got.value);
    for (const int threads : common::thread_counts_of(table)) {
      const MixedCriterion again = found(data, at_grid, h, true, table, threads).criterion;
      EXPECT_EQ(got.value, again.value);
      EXPECT_TRUE(common::same_bits(got.gradient, again.gradient));
    }
  }
}

/// y depends on x, but for noise.
Data of_line(const lines::Line& line, std::size_t points) {
  std::mt19937_64 random(line.x.size());
  std::vector<double> y, grid;
  const auto ends = std::minmax_element(line.x.begin(), line.x.end());
  const double range = std::max(1e-300, *ends.second - *ends.first);
  for (const double x : line.x) {
    y.push_back(std::sin(5 * (x - *ends.first) / range) + 0.3 * shapes::normal(random));
  }
  for (std::size_t g = 0; g < points; ++g) {
    grid.push_back(3.0 * static_cast<double>(g) / static_cast<double>(points) - 1.5);
  }
  return Data({y, line.x}, {grid, std::vector<double>(points, 0.0)});
}

TEST(ConditionalDistribution, LinesOfEveryKind) {
  for (const std::size_t n : {17, 150}) {
    for (const lines::Line& line : lines::of_every_kind(n)) {
      if (line.name.find("weight") != std::string::npos) continue;
      const auto ends = std::minmax_element(line.x.begin(), line.x.end());
      const double range = *ends.second - *ends.first;
      const double size = std::max(std::fabs(*ends.first), std::fabs(*ends.second));
      const Data data = of_line(line, 11);
      for (const double share : {1e-7, 1e-3, 0.02, 0.3, 10.0}) {
        SCOPED_TRACE(line.name + ", n = " + std::to_string(n) + ", " + std::to_string(share));
        expect_oracle(data, true, {0.4, (range > 0 ? range : size + 1) * share});
      }
    }
  }
}

TEST(ConditionalDistribution, WithTheGapOfALattice) {
  lines::Line line{"lattice", {}, {}};
  for (int i = 0; i < 500; ++i) line.x.push_back(0.25 * (i % 100));
  const Data data = of_line(line, 9);
  for (const double h : {1e-3, 0.25, 2.0}) expect_oracle(data, true, {1e-3, h});
}

TEST(ConditionalDistribution, TwoAndThreeObservations) {
  for (const double apart : {0.0, 1e-300, 1.0, 37.0, 39.0, 1e3}) {
    SCOPED_TRACE(apart);
    for (const bool at_grid : {true, false}) {
      expect_oracle(Data({{0.5, 1}, {-0.5, apart - 0.5}}, {{0, 2}, {0, 0}}), at_grid, {0.7, 1});
      expect_oracle(Data({{2, 0.5, 1}, {-0.5, apart - 0.5, 3}}, {{0.8}, {0}}), at_grid, {0.7, 1});
    }
  }
}

TEST(ConditionalDistribution, AtTheObservationsWhichDoNotCountAtThemselves) {
  const Data data = of_line(lines::make("normal", 200, shapes::normal), 1);
  expect_oracle(data, false, {0.2, 0.3});
  expect_oracle(data, false, {0.2, 1e-3});
  const Data tied = of_line(lines::of_every_kind(200)[4], 1);
  expect_oracle(tied, false, {0.2, 0.02});
}

TEST(ConditionalDistribution, OfSeveralVariables) {
  std::mt19937_64 random(7);
  std::vector<std::vector<double>> columns(3), points(3);
  for (int i = 0; i < 300; ++i) {
    columns[2].push_back(shapes::normal(random));
    columns[0].push_back(columns[2].back() + shapes::normal(random));
    columns[1].push_back(shapes::uniform(random));
  }
  for (int g = 0; g < 10; ++g) {
    points[0].push_back(0.3 * g - 1);
    points[1].push_back(0.1 * g);
    points[2].push_back(0);
  }
  const Data data(columns, points);
  expect_oracle(data, true, {0.4, 0.2, 0.5});
  expect_oracle(data, false, {0.4, 0.2, 1e-2});
}

/// A column that is smoothed out does not matter.
TEST(ConditionalDistribution, InfiniteBandwidths) {
  const Data data = of_line(lines::make("normal", 100, shapes::normal), 5);
  expect_oracle(data, true, {0.4, HUGE_VAL});
  expect_oracle(data, false, {0.4, 1e150});
}

/// Cells of many observations, some of which are far from all others, beside the sums of mixed
/// data.
TEST(ConditionalDistribution, AsPairByPair) {
  lines::Line line = lines::make("normal", 2000, shapes::normal);
  line.x[5] = 1e6;
  line.x[6] = 1e6 + 1;
  line.x[7] = -9;
  const Data data = of_line(line, 20);
  const RunOptions options = common::run_on(simd::find_table("auto"));
  for (const double h : {1e-4, 0.05, 0.5, 1e3}) {
    MixedKernel kernel;
    kernel.h = {0.3, h};
    const MixedCriterion wanted = mixed_conditional_distribution_error(
        data.sample, {&data.at}, kernel, {false, true}, true, options);
    const MixedCriterion got = found(data, true, kernel.h, true, options.table).criterion;
    EXPECT_EQ(got.unsupported, wanted.unsupported);
    EXPECT_NEAR(got.value, wanted.value, 1e-12 * wanted.value);
    for (int k = 0; k < 2; ++k) {
      EXPECT_NEAR(got.gradient[k], wanted.gradient[k], 1e-12 * wanted.value);
    }
  }
}

/// All that is not columns of numbers with one given is for the sums of mixed data.
TEST(ConditionalDistribution, OtherKernelsPairByPair) {
  const Data data = of_line(lines::make("normal", 30, shapes::normal), 5);
  const RunOptions options = common::run_on(simd::find_table("auto"));
  MixedKernel kernel;
  kernel.h = {0.3, 0.5};
  kernel.order = 4;
  EXPECT_EQ(
      conditional_distribution_error(data.sample, {}, kernel, {false, true}, false, options).engine,
      "direct");
}

}  // namespace
