// Counter-based random numbers against published values, and the smoothed bootstrap.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "common.hpp"
#include "core/base/parallel.hpp"
#include "core/base/random.hpp"
#include "core/bootstrap/bootstrap.hpp"
#include "errors-oracle.hpp"

using namespace kestrel;
using errors_oracle::Case;
using errors_oracle::run_on;

/// From kat_vectors of Random123 1.09 (Salmon et al. 2011).
TEST(Philox, HasThePublishedValues) {
  using Block = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, 0), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t max = 0xffffffff;
  EXPECT_EQ(philox({max, max, max, max}, ~std::uint64_t{0}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(UniformStream, IsAFunctionOfItsPlace) {
  UniformStream one(7, 3, 11), same(7, 3, 11), item(7, 3, 12), stream(7, 4, 11), key(8, 3, 11);
  for (int i = 0; i < 100; ++i) {
    const double value = one.next();
    EXPECT_EQ(value, same.next());
    EXPECT_NE(value, item.next());
    EXPECT_NE(value, stream.next());
    EXPECT_NE(value, key.next());
    EXPECT_GT(value, 0);
    EXPECT_LT(value, 1);
  }
}

/// The largest distance between the values' distribution function and another one.
template <class Distribution>
double distance(std::vector<double> values, const Distribution& of) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double at = of(values[i]), rank = static_cast<double>(i);
    worst = std::max({worst, at - rank / n, (rank + 1) / n - at});
  }
  return worst;
}

TEST(UniformStream, IsUniform) {
  std::vector<double> first, second;
  for (std::uint32_t item = 0; item < 20000; ++item) {
    UniformStream uniform(99, 1, item);
    first.push_back(uniform.next());
    second.push_back(uniform.next());
  }
  double product = 0;
  for (std::size_t i = 0; i < first.size(); ++i) product += (first[i] - 0.5) * (second[i] - 0.5);
  const double n = static_cast<double>(first.size());
  EXPECT_LT(distance(first, [](double u) { return u; }), 1.95 / std::sqrt(n));  // P = 0.001
  EXPECT_LT(distance(second, [](double u) { return u; }), 1.95 / std::sqrt(n));
  EXPECT_LT(std::fabs(product / n), 4 / (12 * std::sqrt(n)));
}

/// P(r^2 <= t) = d (d + 2) / 2 int_0^r s^(d-1) (1 - s^2) ds, which is Beta(d/2, 2).
double law_of_square(double t, double d) {
  return (d + 2) / 2 * std::pow(t, d / 2) - d / 2 * std::pow(t, d / 2 + 1);
}

TEST(SmoothedSample, HasTheLawOfTheKernel) {
  const std::size_t size = 20000;
  const double n = static_cast<double>(size);
  for (std::size_t d = 1; d <= 6; ++d) {
    const std::vector<double> x(d, 3.0), w = {1};
    std::vector<double> root(d * d, 0.0), drawn(size * d);
    for (std::size_t k = 0; k < d; ++k) root[k * d + k] = 1;
    const SmoothedSample samples({x.data(), 1, d}, {w.data(), 1}, {root.data(), d * d}, 2, size, d);
    samples.draw(0, {}, {drawn.data(), drawn.size()});
    std::vector<double> squares(size, 0.0), mean(d, 0.0);
    for (std::size_t i = 0; i < size * d; ++i) {
      const double u = (drawn[i] - 3) / 2;
      squares[i % size] += u * u;
      mean[i / size] += u / n;
    }
    EXPECT_LT(*std::max_element(squares.begin(), squares.end()), 1 + 1e-12);
    const auto law = [&](double t) { return law_of_square(std::min(t, 1.0), double(d)); };
    EXPECT_LT(distance(squares, law), 1.95 / std::sqrt(n)) << d;
    // Each coordinate has variance 1 / (d + 4).
    for (const double m : mean) EXPECT_LT(std::fabs(m) * std::sqrt(n * double(d + 4)), 4) << d;
  }
}

TEST(SmoothedSample, HasItsDirectionsAlike) {
  const std::size_t size = 20000;
  const std::vector<double> x = {0, 0}, w = {1}, root = {1, 0, 0, 1};
  const SmoothedSample samples({x.data(), 1, 2}, {w.data(), 1}, {root.data(), 4}, 1, size, 17);
  std::vector<double> drawn(2 * size), angles;
  samples.draw(5, {}, {drawn.data(), drawn.size()});
  for (std::size_t i = 0; i < size; ++i) {
    angles.push_back(std::atan2(drawn[size + i], drawn[i]) / (2 * kPi) + 0.5);
  }
  EXPECT_LT(distance(angles, [](double u) { return u; }), 1.95 / std::sqrt(double(size)));
}

TEST(SmoothedSample, LiesWithinKernelsOfRowsThatHaveAWeight) {
  const std::vector<double> x = {-100, 0, 100, 200, 300, 0, 0, 0, 0, 0}, w = {0, 1, 0, 3, 0},
                            root = {2, 1, 0, 0.5};
  const std::size_t size = 4000;
  const SmoothedSample samples({x.data(), 5, 2}, {w.data(), 5}, {root.data(), 4}, 0.5, size, 5);
  std::vector<double> drawn(2 * size);
  samples.draw(0, {}, {drawn.data(), drawn.size()});
  double heavy = 0, squares = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double row = drawn[i] > 100 ? 200 : 0;
    heavy += row > 0;
    const double first = (drawn[i] - row) / (0.5 * 2);
    const double second = (drawn[size + i] / 0.5 - first) / 0.5;
    const double r2 = first * first + second * second;
    ASSERT_LE(r2, 1 + 1e-12);
    squares += r2;
  }
  const double n = static_cast<double>(size);
  // Beta(1, 2) has mean 1/3 and variance 1/18.
  EXPECT_NEAR(squares / n, 1.0 / 3, 5 * std::sqrt(1.0 / 18 / n));
  EXPECT_NEAR(heavy / n, 0.75, 5 * std::sqrt(0.75 * 0.25 / n));
}

/// Weights that differ so much that the search skips many rows.
TEST(SmoothedSample, DrawsRowsByTheirWeights) {
  const std::size_t n = 300, size = 60000;
  std::vector<double> x(n), w(n), drawn(size), often(n, 0.0);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<double>(i);
    w[i] = i % 3 == 1 ? 0 : i < 150 ? 1e-7 : i < 290 ? 1 : 20;
    sum += w[i];
  }
  const std::vector<double> root = {1};
  const SmoothedSample samples({x.data(), n, 1}, {w.data(), n}, {root.data(), 1}, 0.25, size, 3);
  samples.draw(1, {}, {drawn.data(), size});
  for (const double value : drawn) ++often[static_cast<std::size_t>(std::lround(value))];
  for (std::size_t i = 0; i < n; ++i) {
    const double expected = static_cast<double>(size) * w[i] / sum;
    EXPECT_NEAR(often[i], expected, 5 * std::sqrt(expected + 0.1) * (w[i] > 0)) << i;
  }
}

TEST(SmoothedSample, DrawsAnotherSampleForEachReplicateAndKey) {
  const std::vector<double> x = {0}, w = {1}, root = {1};
  const auto sample = [&](std::uint64_t key, std::uint32_t replicate) {
    std::vector<double> drawn(1000);
    SmoothedSample({x.data(), 1, 1}, {w.data(), 1}, {root.data(), 1}, 1, 1000, key)
        .draw(replicate, {}, {drawn.data(), drawn.size()});
    std::sort(drawn.begin(), drawn.end());
    return drawn;
  };
  const std::vector<double> one = sample(1, 0), high = sample(std::uint64_t{1} << 32 | 1, 0);
  EXPECT_EQ(one, sample(1, 0));
  for (const auto& other : {sample(1, 1), sample(2, 0), high}) {
    std::vector<double> both;
    std::set_intersection(one.begin(), one.end(), other.begin(), other.end(),
                          std::back_inserter(both));
    EXPECT_TRUE(both.empty());
  }
}

std::vector<double> bootstrap(const Case& c, std::size_t size, std::size_t replicates,
                              const RunOptions& options) {
  const SmoothedSample samples(c.samples(), c.weights(), c.bandwidth(), 1.1, size, 12);
  const SquaredErrors errors(c.grid(), c.bandwidth(), c.bandwidths(), c.values());
  std::vector<double> out(replicates * c.h.size(), -1);
  bootstrap_errors(samples, errors, replicates, options, {out.data(), out.size()});
  return out;
}

TEST(BootstrapErrors, AreThoseOfTheReplicatesSamples) {
  for (std::size_t d = 1; d <= 3; ++d) {
    Case c = errors_oracle::make(40, std::vector<std::size_t>(d, 19 - 4 * d), {1, 0.9, 1.2});
    for (std::size_t i = 0; i < c.n; ++i) c.w[i] = static_cast<double>(i % 3);
    const std::size_t size = 33, replicates = 5;
    const std::vector<double> got = bootstrap(c, size, replicates, run_on(common::tables()[0], 1));
    const SmoothedSample samples(c.samples(), c.weights(), c.bandwidth(), 1.1, size, 12);
    for (std::uint32_t b = 0; b < replicates; ++b) {
      Case of_sample = c;
      of_sample.n = size;
      of_sample.x.resize(size * d);
      samples.draw(b, {}, {of_sample.x.data(), of_sample.x.size()});
      const std::vector<errors_oracle::real> wanted = errors_oracle::errors(of_sample);
      for (std::size_t j = 0; j < c.h.size(); ++j) {
        const double want = static_cast<double>(wanted[j]);
        EXPECT_NEAR(got[j * replicates + b], want, 1e-13 * want) << d << " " << b << " " << j;
      }
    }
  }
}

/// Replicates side by side and, if there are few, one after another with threads in each.
TEST(BootstrapThreads, GiveTheSameBitsAndAreUsed) {
  const Case c = errors_oracle::make(2000, {23, 21, 30}, {0.8, 1, 1.2});
  const std::vector<int> both{2, 3}, all{1, 2, 3, 4, 5}, counts = common::under_tsan() ? both : all;
  for (const std::size_t replicates : {1u, 5u, 24u}) {
    const std::vector<double> one = bootstrap(c, 1000, replicates, run_on(common::tables()[0], 1));
    for (const simd::Table* table : common::tables()) {
      for (const int threads : counts) {
        EXPECT_TRUE(common::same_bits(bootstrap(c, 1000, replicates, run_on(table, threads)), one))
            << table->name << " " << replicates << " " << threads;
        EXPECT_TRUE(threads == 1 || threads_last_used() > 1) << replicates;
      }
    }
  }
}

TEST(BootstrapPoll, IsAskedAndStopsTheWork) {
  const Case c = errors_oracle::make(2000, {23, 21, 30}, {0.8, 1, 1.2});
  for (const std::size_t replicates : {3u, 3000u}) {
    RunOptions options = run_on(common::tables()[0], 2);
    int polls = 0;
    double last = 0;
    options.parallel.poll = [&](double fraction) {
      EXPECT_GE(fraction, last);
      EXPECT_LE(fraction, 1);
      last = fraction;
      if (++polls == 2) throw std::runtime_error("enough");
    };
    const auto work = [&] {
      for (int i = 0; i < 1000; ++i, last = 0) bootstrap(c, 1000, replicates, options);
    };
    EXPECT_THROW(work(), std::runtime_error);
    EXPECT_EQ(polls, 2);
  }
}

/// There are polls within a replicate of many pairs.
TEST(BootstrapPoll, IsAskedWithinALongReplicate) {
  const std::vector<std::vector<std::size_t>> grids = {{40, 40, 40}, {300, 300}};
  for (const std::vector<std::size_t>& points : grids) {
    const Case c = errors_oracle::make(2000, points, {0.9, 1.1});
    for (const int threads : {1, 2}) {
      const std::size_t replicates = 4;
      RunOptions options = run_on(common::tables()[0], threads);
      options.parallel.poll = [&](double fraction) {
        const double done = fraction * static_cast<double>(replicates);
        if (done > 0 && done < 0.9) throw std::runtime_error("within the first");
      };
      EXPECT_THROW(bootstrap(c, 200000, replicates, options), std::runtime_error) << threads;
    }
  }
}

/// Rows are drawn in blocks, and a part of a grid of two axes is one block.
TEST(BootstrapThreads, GiveTheSameBitsForManySamples) {
  const std::vector<std::vector<std::size_t>> grids = {{400}, {95, 90}};
  for (const std::vector<std::size_t>& points : grids) {
    const Case c = errors_oracle::make(2000, points, {0.4, 0.5});
    const std::vector<double> one = bootstrap(c, 250000, 2, run_on(common::tables()[0], 1));
    for (const int threads : common::thread_counts()) {
      EXPECT_TRUE(
          common::same_bits(bootstrap(c, 250000, 2, run_on(common::tables()[0], threads)), one));
    }
  }
}
