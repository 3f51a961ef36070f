// Integrated squared errors of many estimates at once, compared with sums of every sample at every
// point.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/base/parallel.hpp"
#include "errors-oracle.hpp"

using namespace kestrel;
using errors_oracle::Case;
using errors_oracle::make;
using errors_oracle::real;
using errors_oracle::run_on;

std::vector<double> errors_of(const Case& c, const RunOptions& options) {
  const SquaredErrors errors(c.grid(), c.bandwidth(), c.bandwidths(), c.values());
  std::vector<SquaredErrors::Workspace> workspaces(
      static_cast<std::size_t>(parallel_threads(options.parallel)));
  std::vector<double> out(errors.bandwidths(), -1);
  errors.of(c.samples(), options, &workspaces, 0, {out.data(), out.size()});
  return out;
}

void expect_close(const Case& c, real tolerance = 1e-13L) {
  const std::vector<real> wanted = errors_oracle::errors(c);
  const std::vector<double> first = errors_of(c, run_on(common::tables()[0], 1));
  for (std::size_t j = 0; j < c.h.size(); ++j) {
    EXPECT_GT(wanted[j], 0);
    EXPECT_LE(std::fabs(first[j] - wanted[j]), tolerance * wanted[j]) << c.h[j];
  }
  for (const simd::Table* table : common::tables()) {
    EXPECT_TRUE(common::same_bits(errors_of(c, run_on(table, 1)), first)) << table->name;
  }
}

const std::vector<double> eleven = {0.8, 0.84, 0.88, 0.92, 0.96, 1, 1.04, 1.08, 1.12, 1.16, 1.2};

TEST(SquaredErrors, AreThoseOfThePlainSum) {
  expect_close(make(70, {61}, eleven));
  expect_close(make(70, {23, 17}, eleven));
  expect_close(make(70, {9, 11, 13}, eleven));
  expect_close(make(70, {5, 7, 6, 9}, eleven));
  expect_close(make(40, {4, 5, 3, 5, 4}, eleven));
  expect_close(make(40, {3, 4, 5, 3, 4, 3}, eleven));
}

TEST(SquaredErrors, OfOneAndOfTwoSamples) {
  for (const std::size_t n : {1u, 2u}) {
    expect_close(make(n, {50}, {0.5, 0.6}));
    expect_close(make(n, {20, 31}, {0.5, 0.6}));
    expect_close(make(n, {8, 9, 10}, {1, 1.1}));
    expect_close(make(n, {3, 4, 3, 4, 3, 3}, {2}));
  }
}

/// Rows shorter than a block, of whole blocks, of one point more, and of so many blocks that not
/// every block looks at all samples.
TEST(SquaredErrors, OnRowsOfEveryLength) {
  for (const std::size_t points :
       {2u, 3u, 7u, 8u, 9u, 15u, 16u, 17u, 33u, 64u, 65u, 128u, 129u, 301u}) {
    expect_close(make(50, {points}, eleven));
    expect_close(make(50, {6, points}, eleven));
    expect_close(make(50, {points, 6}, eleven));
  }
  expect_close(make(50, {2, 2, 2}, eleven));
}

TEST(SquaredErrors, ForEveryNumberOfBandwidths) {
  for (std::size_t count = 1; count <= 30; ++count) {
    std::vector<double> h;
    for (std::size_t j = 0; j < count; ++j) h.push_back(0.7 + 0.02 * static_cast<double>(j));
    expect_close(make(30, {14, 19}, h));
  }
}

/// Unsorted, some of them twice, and very different ones.
TEST(SquaredErrors, ForBandwidthsAsTheyCome) {
  expect_close(make(200, {23, 17}, {3, 0.01, 1, 0.02, 30, 1, 0.2, 1, 0.7, 1.5, 1e3}));
  expect_close(make(100, {7, 9, 11}, {1e-3, 0.1, 40, 1}));
  // No kernel reaches a point: the error is the target's square.
  const std::vector<double> none =
      errors_of(make(10, {7, 9}, {1e-6}), run_on(simd::baseline_table(), 1));
  const std::vector<double> nothing =
      errors_of(make(10, {7, 9}, {1e-7}), run_on(simd::baseline_table(), 1));
  EXPECT_EQ(none, nothing);
  EXPECT_GT(none[0], 0);
}

TEST(SquaredErrors, WithTiesAndSamplesOnPoints) {
  Case c = make(90, {25, 25, 9}, {1, 1.2});
  for (std::size_t i = 0; i < c.n; ++i) {
    for (std::size_t a = 0; a < 3; ++a) c.x[a * c.n + i] = c.axes[a][(i / 3 + a) % 9];
  }
  expect_close(c);
  // Points at the distance h: lattices with the gap h / 2, and L the identity.
  Case lattice = make(60, {13, 13}, {0.5, 0.75, 1});
  lattice.root = {1, 0, 0, 1};
  for (std::size_t a = 0; a < 2; ++a) {
    for (std::size_t i = 0; i < 13; ++i) lattice.axes[a][i] = 0.25 * static_cast<double>(i);
    lattice.widths[a] = errors_oracle::widths_of(lattice.axes[a]);
    for (std::size_t i = 0; i < lattice.n; ++i) {
      lattice.x[a * lattice.n + i] = 0.25 * static_cast<double>((i * (a + 3)) % 11);
    }
  }
  expect_close(lattice);
}

TEST(SquaredErrors, OnAxesThatAreNotRegular) {
  Case c = make(80, {21, 18, 19}, eleven);
  for (std::size_t a = 0; a < 3; ++a) {
    for (double& point : c.axes[a]) point = point * std::fabs(point) / 3;
    c.widths[a] = errors_oracle::widths_of(c.axes[a]);
  }
  expect_close(c);
}

TEST(SquaredErrors, WithSamplesThatTheGridDoesNotHave) {
  Case c = make(300, {16, 17, 18}, eleven);
  for (double& value : c.x) value *= 4;
  expect_close(c);
  c.x[5] = 1e300;
  c.x[c.n + 7] = -1e300;
  expect_close(c);
}

/// A standard deviation of one about 1e9: no digits are lost but those that the numbers lack.
TEST(SquaredErrors, FarFromZero) {
  expect_close(make(80, {31}, eleven, 1e9));
  expect_close(make(80, {9, 10, 11}, eleven, -1e9));
}

TEST(SquaredErrors, OfVariablesThatAreNearlyOne) {
  Case c = make(200, {30, 31}, eleven);
  c.root = {1, 0.999, 0, std::sqrt(1 - 0.999 * 0.999)};
  for (std::size_t i = 0; i < c.n; ++i) {
    c.x[c.n + i] = c.root[1] * c.x[i] + c.root[3] * c.x[c.n + i];
  }
  expect_close(c, 1e-12L);
}

TEST(SquaredErrors, RefuseWhatTheyCannot) {
  const Case seven = make(5, {2, 2, 2, 2, 2, 2, 2}, {1});
  EXPECT_THROW(errors_of(seven, run_on(simd::baseline_table(), 1)), error);
  Case flat = make(5, {4, 4}, {1});
  flat.root[3] = 0;
  EXPECT_THROW(errors_of(flat, run_on(simd::baseline_table(), 1)), error);
  Case far = make(5, {4, 4}, {1});
  far.axes[0].back() = std::numeric_limits<double>::max();
  far.root[0] = 1e-3;
  EXPECT_THROW(errors_of(far, run_on(simd::baseline_table(), 1)), error);
}

TEST(SquaredErrorsThreads, GiveTheSameBitsAndAreUsed) {
  for (const Case& c : {make(20000, {501}, eleven), make(4000, {60, 140}, eleven),
                        make(1500, {23, 20, 31}, eleven), make(400, {9, 9, 10, 9}, eleven)}) {
    const std::vector<double> one = errors_of(c, run_on(common::tables()[0], 1));
    for (const simd::Table* table : common::tables()) {
      for (const int threads : {1, 2, 3, 4, 5}) {
        EXPECT_TRUE(common::same_bits(errors_of(c, run_on(table, threads)), one)) << threads;
        EXPECT_TRUE(threads == 1 || threads_last_used() > 1) << c.d;
      }
    }
  }
}

/// A workspace keeps nothing of earlier samples.
TEST(SquaredErrors, OfOneSampleAfterAnother) {
  const Case large = make(500, {12, 13, 14}, eleven), small = make(9, {12, 13, 14}, eleven);
  const SquaredErrors errors(large.grid(), large.bandwidth(), large.bandwidths(), large.values());
  std::vector<SquaredErrors::Workspace> one(1), other(1);
  std::vector<double> first(11), second(11);
  const RunOptions options = run_on(simd::baseline_table(), 1);
  errors.of(large.samples(), options, &one, 0, {first.data(), 11});
  errors.of(small.samples(), options, &one, 0, {first.data(), 11});
  errors.of(small.samples(), options, &other, 0, {second.data(), 11});
  EXPECT_TRUE(common::same_bits(first, second));
}
