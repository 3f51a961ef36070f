// Leave-one-out likelihoods of densities by engines: on the line beside sums in long double, in the
// plane and in space beside the sums of mixed data, which are pair by pair.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/criteria/direct_pairs.hpp"
#include "core/leave_one_out/likelihood.hpp"
#include "core/leave_one_out/squared_error.hpp"
#include "lines.hpp"

using namespace kestrel;

namespace {

struct Data {
  Data(std::size_t rows, std::size_t d, std::vector<double> values)
      : x(std::move(values)),
        sample({x.data(), rows, d}, Weights::ones(rows)),
        mixed({{x.data(), rows, d}, {}, {}, rows, 0}, {}, {}, {}, {}) {}

  std::vector<double> x;
  Sample sample;
  MixedSample mixed;
};

MixedCriterion found(const Data& data, const std::vector<double>& h, bool gradient,
                     const simd::Table* table, int threads = 1) {
  return log_likelihood(data.sample, data.mixed, {h.data(), h.size()}, gradient,
                        common::run_on(table, threads))
      .criterion;
}

MixedCriterion pair_by_pair(const Data& data, const std::vector<double>& h,
                            const simd::Table* table) {
  MixedKernel kernel;
  kernel.h = h;
  return mixed_log_likelihood(data.mixed, kernel, MixedGiven(h.size(), false), true,
                              common::run_on(table));
}

struct Wanted {
  long double value = 0, by = 0;
  std::size_t unsupported = 0;
};

Wanted oracle(const std::vector<double>& x, double h) {
  const std::size_t n = x.size();
  const long double least = std::numeric_limits<double>::min();
  const long double constant = 1 / (h * std::sqrt(2 * 3.141592653589793238462643383279502884L));
  Wanted wanted;
  for (std::size_t i = 0; i < n; ++i) {
    long double sum = 0, squares = 0;
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      const long double u = (static_cast<long double>(x[i]) - x[j]) / h, k = std::exp(-u * u / 2);
      sum += k;
      squares += k * u * u;
    }
    if (sum * constant < least) {
      wanted.value += std::log(least);
      ++wanted.unsupported;
    } else {
      wanted.value += std::log(sum * constant / (n - 1));
      wanted.by += squares / sum - 1;
    }
  }
  return wanted;
}

/// Allowances are relative to the sum over observations of the parts of a term.
void expect_oracle(const Data& data, double h) {
  const Wanted wanted = oracle(data.x, h);
  const double n = static_cast<double>(data.x.size());
  const double terms = n * (1 + std::fabs(std::log(h)));
  const double value = static_cast<double>(wanted.value), by = static_cast<double>(wanted.by);
  for (const simd::Table* table : common::tables()) {
    SCOPED_TRACE(table->name);
    const MixedCriterion got = found(data, {h}, true, table);
    EXPECT_EQ(got.unsupported, wanted.unsupported);
    EXPECT_NEAR(got.value, value, 1e-13 * (terms + std::fabs(value)));
    EXPECT_NEAR(got.gradient[0], by, 1e-12 * (n + std::fabs(by)));
    for (const int threads : common::thread_counts_of(table)) {
      const MixedCriterion again = found(data, {h}, true, table, threads);
      EXPECT_EQ(got.value, again.value);
      EXPECT_EQ(got.gradient[0], again.gradient[0]);
    }
  }
}

TEST(LineLikelihood, LinesOfEveryKind) {
  for (const std::size_t n : {17, 300}) {
    for (const lines::Line& line : lines::of_every_kind(n)) {
      const auto ends = std::minmax_element(line.x.begin(), line.x.end());
      const double range = *ends.second - *ends.first;
      const double size = std::max(std::fabs(*ends.first), std::fabs(*ends.second));
      const Data data(line.x.size(), 1, line.x);
      for (const double share : {1e-7, 1e-3, 0.02, 0.3, 10.0}) {
        SCOPED_TRACE(line.name + ", n = " + std::to_string(n) + ", " + std::to_string(share));
        const double h = (range > 0 ? range : size + 1) * share;
        expect_oracle(data, h);
      }
    }
  }
}

TEST(LineLikelihood, TwoObservations) {
  for (const double apart : {0.0, 1e-300, 1.0, 37.0, 39.0, 1e3}) {
    SCOPED_TRACE(apart);
    expect_oracle(Data(2, 1, {-0.5, apart - 0.5}), 1);
  }
}

/// Kernels below the least normal number count if 1 / h makes a density of them that is not.
TEST(LineLikelihood, NeighboursJustBeyondReach) {
  const double h = 1e-8;
  const Data data(5, 1, {0, 38.05 * h, -38.06 * h, 100 * h, -75.9 * h});
  expect_oracle(data, h);
  EXPECT_EQ(found(data, {h}, true, simd::find_table("auto")).unsupported, 1u);
}

std::vector<double> draws(std::size_t n, std::size_t d, const shapes::Draw& draw) {
  std::mt19937_64 random(n + d);
  std::vector<double> x;
  for (std::size_t i = 0; i < n * d; ++i) x.push_back(draw(random));
  return x;
}

bool takes_engine(const Data& data, const std::vector<double>& h) {
  const RunOptions options = common::run_on(simd::find_table("auto"));
  const Span<const double> all{h.data(), h.size()};
  return log_likelihood(data.sample, data.mixed, all, true, options).engine == "fourier";
}

void expect_pairs(const Data& data, const std::vector<double>& h) {
  const simd::Table* widest = simd::find_table("auto");
  const MixedCriterion wanted = pair_by_pair(data, h, widest);
  const double n = static_cast<double>(data.sample.n());
  for (const simd::Table* table : common::tables()) {
    SCOPED_TRACE(table->name);
    const MixedCriterion got = found(data, h, true, table);
    EXPECT_EQ(got.unsupported, wanted.unsupported);
    EXPECT_NEAR(got.value, wanted.value, 1e-11 * (n + std::fabs(wanted.value)));
    for (std::size_t k = 0; k < h.size(); ++k) {
      EXPECT_NEAR(got.gradient[k], wanted.gradient[k], 1e-10 * n);
    }
    EXPECT_EQ(got.value, found(data, h, false, table).value);
    for (const int threads : common::thread_counts_of(table)) {
      const MixedCriterion again = found(data, h, true, table, threads);
      EXPECT_EQ(got.value, again.value);
      EXPECT_TRUE(common::same_bits(got.gradient, again.gradient));
    }
  }
}

TEST(Likelihood, ByTheEnginesOfTwoAndThreeDimensions) {
  const std::size_t n = common::under_tsan() ? 3000 : 8000;
  const Data plane(n, 2, draws(n, 2, shapes::normal));
  ASSERT_TRUE(takes_engine(plane, {0.3, 0.5}));
  expect_pairs(plane, {0.3, 0.5});
  const Data space(n, 3, draws(n, 3, shapes::normal));
  ASSERT_TRUE(takes_engine(space, {0.5, 0.8, 0.6}));
  expect_pairs(space, {0.5, 0.8, 0.6});
}

/// Observations whose densities are far below the error of the engine.
TEST(Likelihood, LoneObservationsAreSummedPairByPair) {
  const std::size_t n = 4000;
  std::vector<double> x = draws(n, 2, shapes::normal);
  x[7] = 9;
  x[11] = -30;
  x[n + 11] = 25;
  const Data data(n, 2, x);
  ASSERT_TRUE(takes_engine(data, {0.5, 0.5}));
  expect_pairs(data, {0.5, 0.5});
  const MixedCriterion got = found(data, {0.5, 0.5}, true, simd::find_table("auto"));
  EXPECT_EQ(got.unsupported, 1u);
}

TEST(Likelihood, TiesAndNarrowBandwidths) {
  const std::size_t n = 4000;
  std::vector<double> x = draws(n, 2, shapes::normal);
  for (double& value : x) value = std::floor(8 * value) / 8;
  const Data data(n, 2, x);
  expect_pairs(data, {0.125, 0.25});
  expect_pairs(data, {1e-6, 1e-6});
  expect_pairs(data, {1e-6, 3.0});
}

TEST(Likelihood, InMoreDimensionsPairByPair) {
  const Data data(200, 4, draws(200, 4, shapes::uniform));
  expect_pairs(data, {0.3, 0.2, 0.4, 0.3});
}

/// Direct sums of the rows with each column divided by its unit, which count how often they served,
/// and without memory refuse.
class CountedPairs : public DirectPairs {
 public:
  CountedPairs(const Data& data, Span<const double> axes, bool memory)
      : DirectPairs(data.sample, axes, no_mean(data.sample.d()), common::run_on(widest())),
        memory_(memory) {}
  Both both(Span<const double> H, bool gradient, const RunOptions& options) override {
    ++served;
    if (!memory_) throw error(ErrorKind::memory, "none left");
    return DirectPairs::both(H, gradient, options);
  }
  static SampleMean no_mean(std::size_t d) {
    return {std::vector<double>(d, 0.0), std::vector<double>(d, 0.0)};
  }
  static const simd::Table* widest() { return simd::find_table("auto"); }

  int served = 0;

 private:
  const bool memory_;
};

/// Returns how often the pairs served.
int expect_squared_error(const Data& data, const std::vector<double>& h,
                         const std::vector<double>& unit, bool memory = true) {
  const std::size_t d = h.size();
  std::vector<double> axes(d * d, 0.0);
  for (std::size_t k = 0; k < d; ++k) axes[k * d + k] = 1 / unit[k];
  CountedPairs pairs(data, {axes.data(), axes.size()}, memory);
  MixedKernel kernel;
  kernel.h = h;
  const RunOptions options = common::run_on(CountedPairs::widest());
  const MixedCriterion wanted = mixed_squared_error(data.mixed, kernel, true, options);
  const LeaveOneOut found =
      squared_error(pairs, data.sample, data.mixed, {h.data(), d}, {unit.data(), d}, true, options);
  EXPECT_EQ(found.engine, "direct");
  const MixedCriterion& got = found.criterion;
  // Both are differences of sums of about this size.
  double size = 1;
  for (const double one : h) size /= one * std::sqrt(2 * kPi);
  size /= static_cast<double>(data.sample.n());
  size += std::fabs(wanted.value);
  EXPECT_NEAR(got.value, wanted.value, 1e-11 * size);
  for (std::size_t k = 0; k < d; ++k) {
    EXPECT_NEAR(got.gradient[k], wanted.gradient[k], 1e-11 * size);
  }
  return pairs.served;
}

TEST(SquaredError, OfColumnsInOtherUnits) {
  const Data line(500, 1, draws(500, 1, shapes::normal));
  EXPECT_EQ(expect_squared_error(line, {0.3}, {1}), 1);
  std::vector<double> x = draws(3000, 2, shapes::normal);
  for (std::size_t i = 3000; i < 6000; ++i) x[i] = 1e150 * x[i];
  const Data plane(3000, 2, x);
  EXPECT_EQ(expect_squared_error(plane, {0.3, 0.5e150}, {1, std::ldexp(1.0, 498)}), 1);
}

TEST(SquaredError, NarrowBandwidthsNeedNoGrid) {
  const Data plane(3000, 2, draws(3000, 2, shapes::normal));
  EXPECT_EQ(expect_squared_error(plane, {1e-6, 0.3}, {1, 1}), 0);
  EXPECT_EQ(expect_squared_error(plane, {1e-3, 1e-3}, {1, 1}), 0);
}

TEST(SquaredError, WithoutMemoryForAGrid) {
  const Data plane(3000, 2, draws(3000, 2, shapes::normal));
  EXPECT_EQ(expect_squared_error(plane, {0.3, 0.3}, {1, 1}, false), 1);
}

}  // namespace
