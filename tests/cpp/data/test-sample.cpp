// Properties of a sample: its covariance, its equal rows, the order of its values, and rows drawn
// from it.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/data/finite.hpp"
#include "core/data/order.hpp"
#include "core/data/passes.hpp"
#include "core/data/row_draws.hpp"
#include "core/data/sample_moments.hpp"
#include "core/data/ties.hpp"
#include "core/data/tiles.hpp"
#include "core/data/weights.hpp"
#include "core/fgt/cell_order.hpp"

using namespace kestrel;

namespace {

struct Sample {
  std::size_t n, d;
  std::vector<double> x, p;
  MatrixView view() const { return {x.data(), n, d}; }
  Span<const double> shares() const { return {p.data(), n}; }
};

/// Values, rounded to `step` unless that is zero.
Sample make(std::size_t n, std::size_t d, double offset, double step, bool uneven) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  Sample sample{n, d, {}, {}};
  for (std::size_t i = 0; i < n * d; ++i) {
    const double value = normal(random);
    sample.x.push_back(offset + (step > 0 ? step * std::round(value / step) : value));
  }
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sample.p.push_back(uneven ? std::exp(3 * normal(random)) : 1.0);
    sum += sample.p.back();
  }
  for (double& p : sample.p) p /= sum;
  return sample;
}

Ties by_all_pairs(const Sample& s) {
  Ties ties;
  for (std::size_t i = 0; i < s.n; ++i) {
    for (std::size_t j = 0; j < s.n; ++j) {
      bool same = i != j;
      for (std::size_t k = 0; k < s.d; ++k) same = same && s.view()(i, k) == s.view()(j, k);
      if (!same) continue;
      ties.pairs += 1;
      ties.weight += s.p[i] * s.p[j];
    }
  }
  return ties;
}

}  // namespace

TEST(Ties, AreThoseOfAllPairs) {
  for (const std::size_t d : {1, 2, 3, 16}) {
    for (const std::size_t n : {1, 2, 31, 32, 33, 700}) {
      for (const double step : {0.0, 0.5, 4.0}) {
        const Sample s = make(n, d, 0, step, true);
        const Ties got = count_ties(s.view(), s.shares(), {}), wanted = by_all_pairs(s);
        EXPECT_EQ(got.pairs, wanted.pairs) << "d = " << d << ", n = " << n << ", step " << step;
        EXPECT_NEAR(got.weight, wanted.weight, 1e-13 * wanted.weight);
      }
    }
  }
}

TEST(Ties, TakeBothZerosAsOneNumber) {
  const std::vector<double> x{0.0, -0.0, 1.0}, p{0.5, 0.25, 0.25};
  const Ties ties = count_ties({x.data(), 3, 1}, {p.data(), 3}, {});
  EXPECT_EQ(ties.pairs, 2);
  EXPECT_EQ(ties.weight, 0.25);
}

TEST(Ties, OfEqualSamplesAreAllPairs) {
  const std::size_t n = 100000;
  const std::vector<double> x(2 * n, 3.5), p(n, 1.0 / n);
  const Ties ties = count_ties({x.data(), n, 2}, {p.data(), n}, {});
  EXPECT_EQ(ties.pairs, 1.0 * n * (n - 1));
  EXPECT_NEAR(ties.weight, 1 - 1.0 / n, 1e-10);
}

// Runs of equal values that begin and end within parts, at their ends, and go over several.
TEST(Ties, OfASortedLineAreThoseInAnyOrder) {
  const std::size_t n = 3 * kSamplesOfPart + 7;
  for (const std::size_t run : {std::size_t{1}, std::size_t{3}, kSamplesOfPart, n}) {
    std::vector<double> x(n), p(n), mixed(n), shares(n);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = static_cast<double>(i / run) - 1;
      p[i] = static_cast<double>(1 + i % 5);
      if (x[i] == 0 && i % 2 == 0) x[i] = -0.0;
    }
    for (std::size_t i = 0; i < n; ++i) {  // 5 and n have no common divisor
      mixed[i] = x[(5 * i) % n];
      shares[i] = p[(5 * i) % n];
    }
    const Ties sorted = count_ties({x.data(), n, 1}, {p.data(), n}, {1, {}});
    const Ties wanted = count_ties({mixed.data(), n, 1}, {shares.data(), n}, {});
    EXPECT_EQ(sorted.pairs, wanted.pairs) << run;
    EXPECT_NEAR(sorted.weight, wanted.weight, 1e-12 * wanted.weight) << run;
    for (const int threads : common::thread_counts()) {
      EXPECT_EQ(count_ties({x.data(), n, 1}, {p.data(), n}, {threads, {}}).weight, sorted.weight);
    }
  }
}

// So many that they are divided into buckets.
TEST(Ties, AreThoseOfManyObservationsOnAnyNumberOfThreads) {
  const Sample s = make(40000, 2, 0, 0.02, true);
  std::map<std::pair<double, double>, std::pair<double, double>> groups;  // number, weight
  double pairs = 0, weight = 0;
  for (std::size_t i = 0; i < s.n; ++i) {
    auto& group = groups[{s.x[i], s.x[s.n + i]}];
    pairs += 2 * group.first;
    weight += 2 * group.second * s.p[i];
    group.first += 1;
    group.second += s.p[i];
  }
  const Ties one = count_ties(s.view(), s.shares(), {1, {}});
  EXPECT_EQ(one.pairs, pairs);
  EXPECT_NEAR(one.weight, weight, 1e-13 * weight);
  for (const int threads : common::thread_counts()) {
    const Ties ties = count_ties(s.view(), s.shares(), {threads, {}});
    EXPECT_EQ(ties.pairs, one.pairs);
    EXPECT_EQ(ties.weight, one.weight);
  }
}

TEST(Ties, AndCovarianceCheckSizes) {
  const std::vector<double> x(4, 1.0), p(3, 1.0);
  EXPECT_THROW(count_ties({x.data(), 2, 2}, {p.data(), 3}, {}), error);
  EXPECT_THROW(sample_covariance({x.data(), 2, 2}, {p.data(), 3}, {}), error);
}

TEST(SampleCovariance, IsThatOfLongDoublesFarFromTheOriginToo) {
  for (const std::size_t d : {1, 2, 3, 16}) {
    for (const std::size_t n : {1, 2, 5000}) {
      for (const double offset : {0.0, 1e9}) {
        const Sample s = make(n, d, offset, 0, true);
        const std::vector<double> got = sample_covariance(s.view(), s.shares(), {}).covariance;
        long double weight = 0;
        for (const double p : s.p) weight += p;
        std::vector<long double> mean(d, 0.0L);
        for (std::size_t k = 0; k < d; ++k) {
          for (std::size_t i = 0; i < n; ++i)
            mean[k] += s.p[i] / weight * (s.view()(i, k) - offset);
        }
        for (std::size_t k = 0; k < d; ++k) {
          for (std::size_t l = 0; l < d; ++l) {
            long double wanted = 0;
            for (std::size_t i = 0; i < n; ++i) {
              const long double a = s.view()(i, k) - offset - mean[k];
              const long double b = s.view()(i, l) - offset - mean[l];
              wanted += s.p[i] / weight * a * b;
            }
            EXPECT_NEAR(got[k * d + l], wanted, 1e-14) << d << " " << n << " " << offset;
          }
        }
      }
    }
  }
}

TEST(Order, IsThatOfTheStandardLibrary) {
  std::mt19937_64 random(11);
  const std::vector<double> special{0.0, -0.0, HUGE_VAL, -HUGE_VAL, 5e-324, -5e-324, 1e300, -1e300};
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{100}, 5 * kPolledItems}) {
    for (const std::uint64_t values : {1, 2, 50, 1 << 30}) {
      std::vector<double> x(n), then(n);
      for (std::size_t i = 0; i < n; ++i) {
        x[i] = values == 50 ? special[random() % special.size()]
                            : (static_cast<double>(random() % values) - 0.3) * 1e-5;
        then[i] = static_cast<double>(random() % 7);
      }
      for (const bool two : {false, true}) {
        std::vector<std::uint32_t> wanted(n);
        std::iota(wanted.begin(), wanted.end(), 0u);
        std::stable_sort(wanted.begin(), wanted.end(), [&](std::uint32_t a, std::uint32_t b) {
          return x[a] != x[b] ? x[a] < x[b] : two && then[a] < then[b];
        });
        const Span<const double> second{then.data(), two ? n : 0};
        EXPECT_EQ(order_of({x.data(), n}, second, {}), wanted) << n << " of " << values;
      }
    }
  }
}

TEST(RowDraws, GiveEachRowItsShare) {
  for (const std::size_t n : {1, 2, 1000}) {
    for (const bool uneven : {false, true}) {
      const Sample s = make(n, 1, 0, 0, uneven);
      const RowDraws draws(s.shares(), {});
      constexpr int kSteps = 1000;
      std::vector<double> share(n);
      for (std::size_t cell = 0; cell < n; ++cell) {
        for (int k = 0; k < kSteps; ++k) share[draws.row(cell, (k + 0.5) / kSteps)] += 1;
      }
      // A row's share of each cell is known up to one step.
      std::vector<double> cells(n, 1.0);
      for (std::size_t cell = 0; cell < n; ++cell) {
        const std::size_t other = draws.row(cell, 1 - 1e-9);
        if (other != cell) cells[other] += 1;
      }
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_NEAR(share[i] / kSteps, s.p[i] * static_cast<double>(n), cells[i] / kSteps);
      }
    }
  }
  const std::vector<double> none(3, 0.0);
  EXPECT_THROW(RowDraws({none.data(), 3}, {}), error);
}

TEST(SerialWork, IsPolledFor) {
  struct Interrupt {};
  // With outliers, which fgt's cells sort by comparison.
  Sample s = make(1000, 1, 0, 0, false);
  for (std::size_t i = 0; i < s.n; i += 2) s.x[i] *= 1e9;
  EvaluationPoints points;
  points.matrix = s.view();
  const double root = 1;
  const TileKernel kernel(*simd::baseline_table(), KernelChoice{}, 1, {&root, 1});
  const Span<const double> x{s.x.data(), s.n};
  const std::vector<std::function<void(const ParallelOptions&)>> works{
      [&](const ParallelOptions& how) { count_ties(s.view(), s.shares(), how); },
      [&](const ParallelOptions& how) { sample_covariance(s.view(), s.shares(), how); },
      [&](const ParallelOptions& how) { order_of(x, {}, how); },
      [&](const ParallelOptions& how) { RowDraws(s.shares(), how); },
      [&](const ParallelOptions& how) { cut_blocks(points, kernel, how); },
      [&](const ParallelOptions& how) {
        CellOrder(x, s.shares(), range_of(x, {}), -2, {simd::baseline_table(), how});
      },
  };
  for (std::size_t k = 0; k < works.size(); ++k) {
    ParallelOptions options;
    options.poll = [](double) { throw Interrupt(); };
    EXPECT_THROW(works[k](options), Interrupt) << "work " << k;
  }
}

TEST(AllFinite, SeesASingleValueThatIsNot) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{1} << 17, (std::size_t{1} << 18) + 1}) {
    std::vector<double> x(n, -1.5e308);
    const auto finite = [&](int threads) {
      ParallelOptions options;
      options.threads = threads;
      return all_finite({x.data(), n}, options);
    };
    EXPECT_TRUE(finite(1));
    for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
      for (const double value : {NAN, INFINITY, -INFINITY}) {
        x[at] = value;
        EXPECT_FALSE(finite(1));
        EXPECT_FALSE(finite(3));
        x[at] = 0;
      }
    }
  }
  EXPECT_TRUE(all_finite({nullptr, 0}, {}));
}

// Sums, ranges and products by their definitions, over n of one part of a pass and of several.
TEST(SamplePasses, AreTheirDefinitionsWithTheSameBitsOnManyThreads) {
  ParallelOptions one;
  one.threads = 1;
  for (const std::size_t n : {std::size_t{1}, kSamplesOfPart, 2 * kSamplesOfPart + 1}) {
    const std::size_t d = 2;
    Sample s = make(n, d, 1e9, 0, true);
    s.p[0] = n > 1 ? 0 : s.p[0];
    const std::vector<double> a{1, 0.5, -2, 3}, unit{3, 5};
    long double sum = 0, squares = 0;
    for (const double p : s.p) sum += p, squares += static_cast<long double>(p) * p;
    for (const int threads : {1, 3}) {
      ParallelOptions options;
      options.threads = threads;
      const WeightSums weights = weight_sums(s.shares(), options);
      EXPECT_NEAR(weights.sum, sum, 1e-15 * sum);
      EXPECT_NEAR(weights.squares, squares, 1e-15 * squares);
      EXPECT_EQ(weights.max, *std::max_element(s.p.begin(), s.p.end()));
      EXPECT_EQ(weights.positive, n > 1 ? n - 1 : 1);
      EXPECT_EQ(weights.min_positive, *std::min_element(s.p.begin() + (n > 1), s.p.end()));
      const std::vector<double> ranges = column_ranges(s.view(), options);
      const SampleMean mean = sample_covariance(s.view(), s.shares(), options).mean;
      std::vector<double> product(n * d), same(n * d);
      transform_rows(s.view(), mean, {a.data(), 4}, {product.data(), n * d}, options);
      divide_columns(s.view(), mean, {unit.data(), 2}, {same.data(), n * d}, options);
      for (std::size_t k = 0; k < d; ++k) {
        const Span<const double> column = s.view().column(k);
        EXPECT_EQ(ranges[2 * k], *std::min_element(column.begin(), column.end()));
        EXPECT_EQ(ranges[2 * k + 1], *std::max_element(column.begin(), column.end()));
        for (const std::size_t i : {std::size_t{0}, n / 2, n - 1}) {
          const double first = (s.x[i] - mean.first[0]) - mean.second[0],
                       second = (s.x[n + i] - mean.first[1]) - mean.second[1];
          EXPECT_EQ(product[k * n + i], first * a[k] + second * a[2 + k]);
          EXPECT_EQ(same[k * n + i], (k == 0 ? first : second) / unit[k]);
        }
      }
      const SampleMean on_one = sample_covariance(s.view(), s.shares(), one).mean;
      EXPECT_EQ(mean.first, on_one.first);
      EXPECT_EQ(mean.second, on_one.second);
      EXPECT_EQ(sample_covariance(s.view(), s.shares(), options).covariance,
                sample_covariance(s.view(), s.shares(), one).covariance);
    }
  }
  EXPECT_EQ(weight_sums({nullptr, 0}, one).positive, 0u);
}
