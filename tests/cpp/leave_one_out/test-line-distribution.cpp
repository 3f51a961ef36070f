// Distribution functions on the line at nodes, and their cross-validation, beside sums in long
// double.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "common.hpp"
#include "core/leave_one_out/line_distribution.hpp"
#include "lines.hpp"

using namespace kestrel;

namespace {

using real = long double;

MixedSample made(const std::vector<double>& x) {
  const MixedRows rows{{x.data(), x.size(), 1}, {}, {nullptr, x.size(), 0}, x.size(), 0};
  return MixedSample(rows, {}, {}, {}, {});
}

MixedKernel kernel_of(double h, int order) {
  MixedKernel kernel;
  kernel.h = {h};
  kernel.order = order;
  kernel.form = MixedForm::distribution;
  return kernel;
}

/// The integral of a Gaussian kernel up to u, and its derivative by log(h).
struct Step {
  real value, slope;
};

Step step(real u, int order) {
  const real v = u * u, root = std::sqrt(2 * std::acos(real{-1}));
  const real q = order == 2   ? 0
                 : order == 4 ? 0.5L
                 : order == 6 ? (7 - v) / 8
                              : (57 - 16 * v + v * v) / 48;
  const real k = order == 2   ? 1
                 : order == 4 ? (3 - v) / 2
                 : order == 6 ? (15 - 10 * v + v * v) / 8
                              : (105 - 105 * v + 21 * v * v - v * v * v) / 48;
  const real e = std::exp(-v / 2) / root;
  return {std::erfc(-u * std::sqrt(real{0.5})) / 2 + u * q * e, -u * k * e};
}

struct Wanted {
  real value = 0, by = 0;
};

Wanted criterion(const std::vector<double>& x, const std::vector<double>& grid, bool own,
                 const MixedKernel& kernel) {
  const std::size_t n = x.size();
  Wanted wanted;
  std::vector<Step> at(n);
  for (std::size_t g = 0; g < grid.size(); ++g) {
    // Upper tails, which have digits where errors of observations on the left are small.
    real lower = 0, upper = 0, slope = 0;
    std::vector<real> beyond(n);
    for (std::size_t i = 0; i < n; ++i) {
      const real u = (static_cast<real>(grid[g]) - x[i]) / kernel.h[0];
      at[i] = step(u, kernel.order);
      beyond[i] = step(-u, kernel.order).value;
      lower += at[i].value;
      upper += beyond[i];
      slope += at[i].slope;
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (own && i == g) continue;
      const real error =
          (x[i] <= grid[g] ? beyond[i] - upper : lower - at[i].value) / static_cast<real>(n - 1);
      wanted.value += error * error;
      wanted.by += 2 * error * (slope - at[i].slope) / static_cast<real>(n - 1);
    }
  }
  const real count = static_cast<real>(n) * grid.size();
  return {wanted.value / count, wanted.by / count};
}

void expect_criterion(const std::vector<double>& x, const std::vector<double>& grid, bool own,
                      const MixedKernel& kernel) {
  const MixedSample sample = made(x), points = made(grid);
  const MixedGrid at{own ? nullptr : &points};
  const Wanted wanted = criterion(x, grid, own, kernel);
  const double value = static_cast<double>(wanted.value), by = static_cast<double>(wanted.by);
  for (const simd::Table* table : common::tables()) {
    SCOPED_TRACE(table->name);
    const LeaveOneOut got = distribution_error(sample, at, kernel, true, common::run_on(table));
    EXPECT_EQ(got.engine, "nodes");
    EXPECT_NEAR(got.criterion.value, value, 1e-13 * value);
    EXPECT_NEAR(got.criterion.gradient[0], by, 1e-12 * (value + std::fabs(by)));
    for (const int threads : common::thread_counts_of(table)) {
      const MixedCriterion again =
          distribution_error(sample, at, kernel, true, common::run_on(table, threads)).criterion;
      EXPECT_EQ(again.value, got.criterion.value);
      EXPECT_EQ(again.gradient[0], got.criterion.gradient[0]);
    }
  }
}

void expect_values(const std::vector<double>& x, const std::vector<double>& points,
                   const MixedKernel& kernel) {
  const MixedSample sample = made(x), at = made(points);
  const real n = static_cast<real>(x.size());
  std::vector<double> value, variance;
  for (const double point : points) {
    real sum = 0, squares = 0;
    for (const double one : x) {
      sum += step((static_cast<real>(point) - one) / kernel.h[0], kernel.order).value;
    }
    for (const double one : x) {
      const real u = (static_cast<real>(point) - one) / kernel.h[0];
      const real off = step(u, kernel.order).value - sum / n;
      squares += off * off;
    }
    value.push_back(static_cast<double>(sum / n));
    variance.push_back(static_cast<double>(squares / (n * (n - 1))));
  }
  for (const simd::Table* table : common::tables()) {
    SCOPED_TRACE(table->name);
    const MixedDensities got =
        distribution_values(sample, at, kernel, {false}, false, common::run_on(table));
    for (std::size_t i = 0; i < points.size(); ++i) {
      // Values of higher orders change their signs.
      const double size = kernel.order == 2 ? std::fabs(value[i]) : 1.0;
      EXPECT_NEAR(got.density[i], value[i], 1e-12 * size) << points[i];
      EXPECT_NEAR(got.variance[i], variance[i],
                  1e-12 * (variance[i] + 0.1 / static_cast<double>(n)))
          << points[i];
    }
    for (const int threads : common::thread_counts_of(table)) {
      const MixedDensities again =
          distribution_values(sample, at, kernel, {false}, false, common::run_on(table, threads));
      EXPECT_TRUE(common::same_bits(got.density, again.density));
      EXPECT_TRUE(common::same_bits(got.variance, again.variance));
    }
  }
}

std::vector<double> between(double low, double high, std::size_t count) {
  std::vector<double> points;
  for (std::size_t k = 0; k < count; ++k) {
    points.push_back(low + (high - low) * static_cast<double>(k) / static_cast<double>(count - 1));
  }
  return points;
}

TEST(LineDistribution, LinesOfEveryKind) {
  for (const std::size_t n : {17, 130}) {
    for (const lines::Line& line : lines::of_every_kind(n)) {
      if (line.name.find("weight") != std::string::npos) continue;
      const auto ends = std::minmax_element(line.x.begin(), line.x.end());
      const double range = *ends.second - *ends.first;
      const double size = std::max(std::fabs(*ends.first), std::fabs(*ends.second));
      std::vector<double> grid = between(*ends.first, *ends.second, 9);
      grid.push_back(line.x[n / 2 % line.x.size()]);
      for (const double share : {1e-7, 1e-3, 0.02, 0.3, 10.0}) {
        SCOPED_TRACE(line.name + ", n = " + std::to_string(n) + ", " + std::to_string(share));
        const MixedKernel kernel = kernel_of((range > 0 ? range : size + 1) * share, 2);
        expect_criterion(line.x, grid, false, kernel);
        expect_criterion(line.x, line.x, true, kernel);
        expect_values(line.x, line.x, kernel);
      }
    }
  }
}

TEST(LineDistribution, OfEveryOrder) {
  const lines::Line line = lines::make("normal", 400, shapes::normal);
  const std::vector<double> grid = between(-2, 2, 9);
  for (const int order : {4, 6, 8}) {
    for (const double h : {1e-3, 0.2, 1.0}) {
      SCOPED_TRACE(std::to_string(order) + ", " + std::to_string(h));
      expect_criterion(line.x, grid, false, kernel_of(h, order));
      expect_values(line.x, line.x, kernel_of(h, order));
    }
  }
}

TEST(LineDistribution, TwoAndThreeObservations) {
  for (const double apart : {0.0, 1e-300, 1.0, 37.0, 1e3}) {
    SCOPED_TRACE(apart);
    for (const std::vector<double>& x :
         {std::vector<double>{-0.5, apart - 0.5}, std::vector<double>{-0.5, apart - 0.5, 2}}) {
      expect_criterion(x, {-1, 0.3}, false, kernel_of(1, 2));
      expect_criterion(x, x, true, kernel_of(1, 2));
      expect_values(x, {-3, -0.5, 0.5, 50}, kernel_of(1, 2));
    }
  }
}

/// Cells of many observations, and tails far outside, whose digits are kept.
TEST(LineDistribution, TailsOfManyObservations) {
  lines::Line line = lines::make("normal", 3000, shapes::normal);
  for (const double h : {0.3, 2.0}) {
    expect_values(line.x, between(-4 - 30 * h, 4 + 10 * h, 150), kernel_of(h, 2));
  }
  line.x[5] = -30;
  expect_values(line.x, between(-31, -2, 60), kernel_of(0.3, 2));
  expect_criterion(line.x, between(-31, 5, 12), false, kernel_of(0.3, 2));
}

/// Each cell has points enough to be interpolated.
TEST(LineDistribution, InterpolatesBetweenNodes) {
  const lines::Line line = lines::make("normal", 500, shapes::normal);
  for (const double h : {0.3, 5.0}) {
    expect_values(line.x, between(-5, 5, 2000), kernel_of(h, 2));
    expect_values(line.x, between(-5, 5, 2000), kernel_of(h, 8));
  }
}

TEST(LineDistribution, OtherKernelsPairByPair) {
  const std::vector<double> x = between(0, 1, 20);
  const MixedSample sample = made(x);
  MixedKernel kernel = kernel_of(0.3, 2);
  kernel.continuous = Kernel::epanechnikov;
  const RunOptions options = common::run_on(simd::find_table("auto"));
  EXPECT_EQ(distribution_error(sample, {}, kernel, false, options).engine, "direct");
}

}  // namespace
