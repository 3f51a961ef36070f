// Binomial and multinomial numbers, and replicates on a lattice beside sums over their counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/bootstrap/lattice.hpp"
#include "core/bootstrap/multinomial.hpp"
#include "core/kernel/kernel.hpp"

using namespace kestrel;

namespace {

double log_chance(double n, double k, double p) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(p) +
         (n - k) * std::log1p(-p);
}

}  // namespace

/// The largest distance of the distribution functions, which is larger than 1.95 / sqrt(draws) with
/// a probability below 0.001.
TEST(Binomial, HasItsLaw) {
  struct Law {
    double n, p;
  };
  const std::size_t draws = 20000;
  // By inversion and by rejection, on both sides of ten expected successes; p above 1/2.
  for (const Law law : {Law{1, 0.3},
                        {5, 0.5},
                        {40, 0.9},
                        {99, 0.1},
                        {101, 0.1},
                        {25, 0.5},
                        {1e4, 0.004},
                        {3e3, 0.8},
                        {1e7, 3e-7},
                        {1e9, 1e-7}}) {
    std::vector<double> drawn;
    for (std::uint32_t i = 0; i < draws; ++i) {
      UniformStream uniform(5, 2, i);
      drawn.push_back(draw_binomial(&uniform, law.n, law.p));
      ASSERT_EQ(drawn.back(), std::floor(drawn.back()));
      ASSERT_TRUE(drawn.back() >= 0 && drawn.back() <= law.n);
    }
    std::sort(drawn.begin(), drawn.end());
    const double mean = law.n * law.p, wide = 12 * std::sqrt(mean * (1 - law.p)) + 20;
    double below = 0, worst = 0;
    for (double k = std::max(0.0, std::floor(mean - wide)); k <= std::min(law.n, mean + wide);
         ++k) {
      below += std::exp(log_chance(law.n, k, law.p));
      const auto up_to = std::upper_bound(drawn.begin(), drawn.end(), k) - drawn.begin();
      worst = std::max(worst, std::fabs(below - double(up_to) / double(draws)));
    }
    EXPECT_NEAR(below, 1, 1e-6) << law.n;
    EXPECT_LT(worst, 1.95 / std::sqrt(double(draws))) << law.n << " " << law.p;
  }
  UniformStream uniform(5, 2, 0);
  EXPECT_EQ(draw_binomial(&uniform, 7, 0), 0);
  EXPECT_EQ(draw_binomial(&uniform, 7, 1), 7);
  EXPECT_EQ(draw_binomial(&uniform, 0, 0.5), 0);
}

TEST(Multinomial, HasItsMomentsAndIsAFunctionOfItsPlace) {
  const std::vector<double> weight = {0, 3, 1, 0, 0, 2, 4, 0, 0, 0, 0};
  const Multinomial cells({weight.data(), weight.size()});
  const std::size_t draws = 4000;
  std::vector<double> counts(weight.size()), sum(weight.size(), 0.0), square(sum);
  double product = 0;
  for (std::uint32_t b = 0; b < draws; ++b) {
    cells.draw(50, 9, b, counts.data(), 1);
    double all = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      all += counts[i];
      sum[i] += counts[i];
      square[i] += counts[i] * counts[i];
    }
    ASSERT_EQ(all, 50);
    product += (counts[1] - 15) * (counts[6] - 20);
  }
  const double n = static_cast<double>(draws);
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const double p = weight[i] / 10, variance = 50 * p * (1 - p);
    EXPECT_NEAR(cells.share(i), p, 1e-15);
    EXPECT_NEAR(sum[i] / n, 50 * p, 4 * std::sqrt(variance / n)) << i;
    EXPECT_NEAR(square[i] / n - 2500 * p * p, variance,
                4 * variance * std::sqrt(2 / n) + 10 * variance / std::sqrt(n))
        << i;
  }
  EXPECT_NEAR(product / n, -50 * 0.3 * 0.4, 1.0);
  std::vector<double> again(counts), other(counts);
  cells.draw(50, 9, draws - 1, again.data(), 1);
  EXPECT_EQ(again, counts);
  cells.draw(50, 10, draws - 1, other.data(), 1);
  EXPECT_NE(other, counts);
  const std::vector<double> one = {2};
  Multinomial({one.data(), 1}).draw(3, 1, 1, again.data(), 1);
  EXPECT_EQ(again[0], 3);
  const std::vector<double> none = {0, 0};
  EXPECT_THROW(Multinomial({none.data(), 2}), error);
}

TEST(Lattice, SumsTheKernelsOfItsCounts) {
  const std::vector<double> weight = {1, 0, 5, 2, 9, 4, 1};
  // The third cell and the last are repeated.
  const std::vector<double> position = {-3, -1, 0, 0.5, 1, 2, 40, 41, 60};
  const std::vector<int> cell = {2, 0, 1, 2, 3, 4, 5, 6, 6};
  const std::vector<double> factor = {2, -1}, h = {0.5, 0.7};
  const std::vector<double> points = {0.4, -100, 1, 40.5, 200, -INFINITY, INFINITY, 2.5, 0, 0};
  const long double pi = kPi;
  const std::size_t replicates = 37, m = points.size();
  const Multinomial cells({weight.data(), weight.size()});
  for (const int order : {-1, 0, 1}) {
    const LatticeEstimate estimate{{factor.data(), 2}, {h.data(), 2}, order};
    const auto run = [&](int threads) {
      RunOptions options;
      options.parallel.threads = threads;
      std::vector<double> out(m * (replicates + 1));
      lattice_replicates(cells, {{position.data(), position.size()}, {cell.data(), cell.size()}},
                         estimate, {points.data(), m}, 100, 3, replicates, options,
                         {out.data(), out.size()});
      return out;
    };
    const std::vector<double> out = run(1);
    EXPECT_EQ(out, run(3));
    std::vector<double> counts(weight.size());
    for (std::size_t b = 0; b <= replicates; ++b) {
      if (b > 0) cells.draw(100, 3, static_cast<std::uint32_t>(b - 1), counts.data(), 1);
      for (std::size_t k = 0; k < m; ++k) {
        long double sum = 0;
        for (std::size_t j = 0; j < position.size(); ++j) {
          const std::size_t i = static_cast<std::size_t>(cell[j]);
          const long double share = b > 0 ? counts[i] / 100.0L : weight[i] / 22.0L;
          for (std::size_t t = 0; t < 2; ++t) {
            const long double u = (points[k] - position[j]) / static_cast<long double>(h[t]);
            const long double width = h[t], normal = std::exp(-u * u / 2) / std::sqrt(2 * pi);
            const long double of_order[] = {
                std::erfc(-u / std::sqrt(2.0L)) / 2, normal / width,
                std::isinf(points[k]) ? 0 : -u * normal / (width * width)};
            sum += share * factor[t] * of_order[order + 1];
          }
        }
        EXPECT_NEAR(out[b * m + k], static_cast<double>(sum), 1e-14) << b << " " << k;
      }
    }
  }
}
