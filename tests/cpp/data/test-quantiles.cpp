// Quantiles of weighted samples, against a sort of the whole sample.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/data/quantiles.hpp"

using namespace kestrel;

namespace {

struct Sample {
  std::string name;
  std::vector<double> x;
};

/// Sizes at the ends of blocks and of the samples that are sorted as they are.
std::vector<Sample> samples() {
  const std::size_t least = std::size_t{1} << 13, block = std::size_t{1} << 16;
  std::vector<Sample> all;
  for (const std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{100},
                              least - 1, least, block + 1}) {
    std::mt19937_64 random(n);
    std::normal_distribution<double> normal;
    std::vector<double> x(n);
    for (double& value : x) value = normal(random);
    const auto add = [&](const char* name, const std::vector<double>& values) {
      all.push_back({std::to_string(n) + " " + name, values});
    };
    add("normal", x);
    std::vector<double> changed = x;
    for (double& value : changed) value = std::round(8 * value) / 8;
    add("ties", changed);
    changed = x;
    changed[0] = 1e6;
    add("an outlier", changed);
    changed = x;
    for (double& value : changed) value += 1e9;
    add("far", changed);
    changed = x;
    changed.front() = -1.5e308;
    changed.back() = 1.5e308;
    add("a range beyond the largest number", changed);
    changed.assign(n, 0.0);
    changed[n / 2] = 1e-320;
    add("a range below the smallest number", changed);
    add("one value", std::vector<double>(n, -3.25));
  }
  return all;
}

/// Zeros among them, and one weight that has most of the mass.
std::vector<double> weights(std::size_t n) {
  std::mt19937_64 random(n + 1);
  std::uniform_real_distribution<double> uniform;
  std::vector<double> w(n);
  for (double& weight : w) weight = uniform(random) < 0.2 ? 0.0 : 1e200 * uniform(random);
  w[n / 3] = 1e200 * (1 + static_cast<double>(n) / 100);
  return w;
}

const std::vector<double> kProbabilities = {0, 1e-9, 0.01, 0.25, 1.0 / 3, 0.5, 0.501, 0.99, 1};

Span<const double> span(const std::vector<double>& v) { return {v.data(), v.size()}; }

std::vector<double> compute(const std::vector<double>& x, const std::vector<double>& w,
                            int threads = 1) {
  ParallelOptions options;
  options.threads = threads;
  return quantiles(span(x), span(w), span(kProbabilities), options);
}

/// Hyndman & Fan 1996, type 7, of a sorted sample, as stats::quantile() has it.
double plain_quantile(const std::vector<double>& x, double p) {
  const double place = 1 + static_cast<double>(x.size() - 1) * p, low = std::floor(place);
  const double a = x[static_cast<std::size_t>(low) - 1];
  const double b = x[static_cast<std::size_t>(std::ceil(place)) - 1];
  return a == b ? a : (1 - (place - low)) * a + (place - low) * b;
}

/// Akinshin 2023: the mean of the weighted quantile function over a window. `order` sorts x.
double weighted_quantile(const std::vector<double>& x, const std::vector<double>& w,
                         const std::vector<std::size_t>& order, double p) {
  long double total = 0, squares = 0;
  for (const double weight : w) {
    total += weight;
    squares += static_cast<long double>(weight) * weight;
  }
  const long double n = total * total / squares, from = p * (n - 1) / n * total,
                    to = from + total / n;
  long double before = 0, sum = 0, held = 0;
  for (const std::size_t i : order) {
    const long double part = std::max(0.0L, std::min(before + w[i], to) - std::max(before, from));
    if (part > 0) sum += part / (total / n) * x[i];
    held += part;
    before += w[i];
  }
  return static_cast<double>(sum * (total / n / held));
}

}  // namespace

TEST(Quantiles, OfEqualWeightsAreThoseOfASort) {
  for (const Sample& s : samples()) {
    const std::vector<double> found = compute(s.x, {}),
                              same = compute(s.x, std::vector<double>(s.x.size(), 0.1));
    std::vector<double> sorted = s.x;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t k = 0; k < kProbabilities.size(); ++k) {
      EXPECT_EQ(found[k], plain_quantile(sorted, kProbabilities[k])) << s.name;
      EXPECT_EQ(found[k], same[k]) << s.name;
    }
  }
}

TEST(Quantiles, OfWeightsAreMeansOverWindows) {
  for (const Sample& s : samples()) {
    const std::vector<double> w = weights(s.x.size()), found = compute(s.x, w);
    std::vector<std::size_t> order(s.x.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return s.x[a] < s.x[b]; });
    // The ends of a window, which holds a mass of 1 / n_eff, have the rounding error of a mass.
    const double low = s.x[order.front()], high = s.x[order.back()];
    const double allowed = 4e-16 * static_cast<double>(s.x.size()) * (high / 2 - low / 2) +
                           4e-16 * std::max(std::fabs(low), std::fabs(high)) +
                           4 * std::numeric_limits<double>::denorm_min();
    for (std::size_t k = 0; k < kProbabilities.size(); ++k) {
      EXPECT_NEAR(found[k], weighted_quantile(s.x, w, order, kProbabilities[k]), allowed)
          << s.name << ", probability " << kProbabilities[k];
    }
  }
}

TEST(Quantiles, LeaveOutWeightsOfZero) {
  for (const Sample& s : samples()) {
    std::vector<double> x = s.x, w(s.x.size(), 2.0);
    x.push_back(std::numeric_limits<double>::max());
    w.push_back(0.0);
    EXPECT_EQ(compute(x, w), compute(s.x, {})) << s.name;
  }
}

TEST(Quantiles, HaveTheSameBitsOnThreads) {
  for (const Sample& s : samples()) {
    const std::vector<double> w = weights(s.x.size());
    for (const int threads : common::thread_counts()) {
      EXPECT_EQ(compute(s.x, {}, threads), compute(s.x, {})) << s.name;
      EXPECT_EQ(compute(s.x, w, threads), compute(s.x, w)) << s.name;
    }
  }
}

TEST(Quantiles, RefuseAnotherNumberOfWeights) { EXPECT_THROW(compute({1, 2}, {1}), error); }

TEST(Quantiles, OfSortedValuesAreTheSame) {
  for (const Sample& s : samples()) {
    std::vector<double> sorted = s.x;
    std::sort(sorted.begin(), sorted.end());
    for (const double p : kProbabilities) {
      EXPECT_EQ(quantile_of_sorted(span(sorted), p), plain_quantile(sorted, p)) << s.name;
    }
  }
}

TEST(MedianDistance, IsThatOfSortedDistances) {
  for (const Sample& s : samples()) {
    std::vector<double> sorted = s.x;
    std::sort(sorted.begin(), sorted.end());
    for (const double centre : {plain_quantile(sorted, 0.5), sorted.front(), sorted.back(), 0.3}) {
      std::vector<double> distance(sorted);
      for (double& value : distance) value = std::fabs(value - centre);
      std::sort(distance.begin(), distance.end());
      EXPECT_EQ(median_distance(span(sorted), centre), plain_quantile(distance, 0.5)) << s.name;
    }
  }
}

TEST(MedianOfEvery, IsTheUpperOneOfTheValuesItTakes) {
  const std::vector<double> x = {5, -100, 1, 100, 3, 0, 9};
  EXPECT_EQ(median_of_every(1, {x.data(), x.size()}), 3);
  EXPECT_EQ(median_of_every(2, {x.data(), x.size()}), 5);  // of 5, 1, 3, 9
  EXPECT_EQ(median_of_every(7, {x.data(), x.size()}), 5);
}
