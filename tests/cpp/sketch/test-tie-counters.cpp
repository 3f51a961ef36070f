// The ties of sketches, beside those of their samples.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/sketch/grid_sketch.hpp"
#include "core/sketch/sketch_sample.hpp"
#include "core/sketch/tie_counters.hpp"
#include "grown-sketch.hpp"
#include "shapes.hpp"

using namespace kestrel;

namespace {

RunOptions on_last() { return common::run_on(common::tables().back(), 1); }

struct Tied {
  std::string name;
  std::vector<double> x;
};

std::vector<double> made(std::size_t n, const std::function<double(std::size_t)>& value) {
  std::vector<double> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(value(i));
  return x;
}

std::vector<Tied> tied_samples() {
  static std::mt19937_64 random(11);
  const auto rounded = [](double step, double from) {
    return [=](std::size_t) { return from + std::round(shapes::normal(random) / step) * step; };
  };
  const auto steps = [](std::size_t distinct, double step) {
    return [=](std::size_t i) { return static_cast<double>(i % distinct) * step; };
  };
  return {{"continuous", made(100000, [](std::size_t) { return shapes::normal(random); })},
          {"equal", made(5000, [](std::size_t) { return 0.3; })},
          {"two", made(5000, [](std::size_t i) { return i % 3 == 0 ? 0.3 : -2.0; })},
          {"thousandths", made(100000, rounded(0.001, 0))},
          {"hundredths", made(100000, rounded(0.01, 0))},
          {"binary", made(100000, rounded(1.0 / 4096, 0))},
          {"offset", made(100000, rounded(1.0 / 1024, 1e9))},
          {"million", made(1000000, steps(1000000, 1e-5))},
          {"fives", made(500000, steps(100000, 1e-4))},
          {"thirds", made(500000, steps(20000, 1.0 / 3))}};
}

/// Ordered pairs of equal samples.
double pairs_of(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  double pairs = 0;
  for (std::size_t begin = 0, end; begin < x.size(); begin = end) {
    for (end = begin; end < x.size() && x[end] == x[begin];) ++end;
    pairs += static_cast<double>(end - begin) * static_cast<double>(end - begin - 1);
  }
  return pairs;
}

void expect_pairs(double got, double wanted, double n, const std::string& name) {
  const double error = std::sqrt(2.0 / 65536) * (wanted + n);
  if (wanted == 0) {
    EXPECT_EQ(got, 0) << name;
  } else {
    EXPECT_NEAR(got, wanted, 4 * error) << name;
  }
}

}  // namespace

TEST(TieCounters, EstimateThePairsOfALine) {
  for (const Tied& tied : tied_samples()) {
    for (const int exponent : {-7, -2, 3}) {
      LineSketch sketch({exponent, "x"});
      add_to(&sketch, {tied.x.data(), tied.x.size()}, Weights::ones(tied.x.size()), on_last());
      const Ties ties = ties_of_sketch(sketch);
      expect_pairs(ties.pairs, pairs_of(tied.x), static_cast<double>(tied.x.size()),
                   tied.name + ", " + std::to_string(exponent));
      EXPECT_EQ(ties.weight, ties.pairs);
    }
  }
}

// The second column is a function of the first one, so that the ties are those of the first one.
TEST(TieCounters, EstimateThePairsOfSeveralColumns) {
  for (const Tied& tied : tied_samples()) {
    const std::size_t n = std::min<std::size_t>(tied.x.size(), 100000);
    std::vector<double> rows(tied.x.begin(), tied.x.begin() + static_cast<std::ptrdiff_t>(n));
    const double wanted = pairs_of(rows);
    for (std::size_t i = 0; i < n; ++i) rows.push_back(1 - 2 * rows[i]);
    GridSketch sketch({{-1, 0}, {"x", "y"}});
    sketch.add({rows.data(), n, 2}, Weights::ones(n), on_last());
    sketch.settle(on_last());
    expect_pairs(ties_of_sketch(sketch).pairs, wanted, static_cast<double>(n), tied.name);
  }
}

// Samples that are kept are not counted.
TEST(TieCounters, AreOfFullCells) {
  const std::vector<double> few(LineSketch::kMostKept, 0.5), one{0.5}, far{9, 9, 9};
  LineSketch sketch({-2, "x"}), other({-2, "x"}), last({-2, "x"});
  add_to(&sketch, {few.data(), few.size()}, Weights::ones(few.size()), on_last());
  EXPECT_TRUE(sketch.ties().empty());
  EXPECT_EQ(ties_of_sketch(sketch).pairs, 240);
  add_to(&other, {one.data(), 1}, Weights::ones(1), on_last());
  add_to(&last, {far.data(), 3}, Weights::ones(3), on_last());
  sketch.merge(other, *on_last().table);
  sketch.merge(last, *on_last().table);
  const std::vector<std::int64_t>& counters = sketch.ties().samples;
  EXPECT_EQ(std::count(counters.begin(), counters.end(), 0), 65535);
  EXPECT_EQ(std::abs(std::accumulate(counters.begin(), counters.end(), std::int64_t{0})), 17);
  EXPECT_EQ(ties_of_sketch(sketch).pairs, 17 * 16 + 6);
}

// Weights that do not depend on the values, and weights that fall where there are ties.
TEST(TieCounters, EstimateTheWeightOfPairs) {
  std::mt19937_64 random(13);
  for (const bool light : {false, true}) {
    std::vector<double> x, w;
    for (int i = 0; i < 60000; ++i) {
      const bool tied = i % 2 == 0;
      x.push_back(tied ? std::round(100 * shapes::normal(random)) / 100 : shapes::normal(random));
      w.push_back(light && tied ? 1e-6 : 0.5 + 20 * std::fabs(shapes::normal(random)));
    }
    double all = 0, squares = 0;
    std::map<double, std::pair<double, double>> of_value;  // count and weight
    for (std::size_t i = 0; i < x.size(); ++i) {
      all += w[i];
      squares += w[i] * w[i];
      of_value[x[i]].first += 1;
      of_value[x[i]].second += w[i];
    }
    double pairs = 0, weight = 0;
    for (const auto& value : of_value) {
      pairs += value.second.first * value.second.first;
      weight += value.second.second * value.second.second;
    }
    const double n = static_cast<double>(x.size()), error = std::sqrt(2.0 / 65536);
    const Weights weights(w.data(), w.size());
    LineSketch line({-4, "x", "w", 3});
    add_to(&line, {x.data(), x.size()}, weights, on_last());
    std::vector<double> rows = x;
    rows.insert(rows.end(), x.begin(), x.end());
    GridSketch grid({{-1, -2}, {"x", "y"}, "w", 3});
    grid.add({rows.data(), x.size(), 2}, weights, on_last());
    grid.settle(on_last());
    for (const Ties& ties : {ties_of_sketch(line), ties_of_sketch(grid)}) {
      EXPECT_NEAR(ties.pairs, pairs - n, 4 * error * pairs);
      // Of weights that sum to n. Light ones are lost among the others, of which none are tied.
      const double unit = (n / all) * (n / all);
      const double wanted = light ? 0 : (weight - squares) * unit;
      EXPECT_NEAR(ties.weight, wanted, light ? 1e-9 * n : 4 * error * weight * unit);
    }
  }
}

TEST(TieCounters, AreRefusedIfNoSamplesHaveThem) {
  const TieCounters none;
  TieCounters some, weighted;
  some.open(false);
  some.samples[5] = -3;
  some.samples[9] = 1;
  weighted.open(true);
  weighted.samples = some.samples;
  weighted.weights[5] = WideInteger(-30);
  weighted.weights[7] = WideInteger(5);
  EXPECT_NO_THROW(check_counters(none, 0, false, {}));
  EXPECT_NO_THROW(check_counters(some, 4, false, {}));
  EXPECT_NO_THROW(check_counters(some, 6, false, {}));
  EXPECT_NO_THROW(check_counters(weighted, 4, true, 31));
  for (const std::uint64_t samples : {0, 2, 3, 5}) {
    EXPECT_THROW(check_counters(some, samples, false, {}), error) << samples;
  }
  EXPECT_THROW(check_counters(none, 4, false, {}), error);
  EXPECT_THROW(check_counters(some, 4, true, {}), error);
  EXPECT_THROW(check_counters(weighted, 4, false, {}), error);
  EXPECT_THROW(check_counters(weighted, 4, true, 30), error);
  for (const std::int64_t far : {INT64_MAX, INT64_MIN}) {
    some.samples[9] = far;
    EXPECT_THROW(check_counters(some, 100, false, {}), error);
    weighted.weights[9] = WideInteger(far, 0);
    EXPECT_THROW(check_counters(weighted, 4, true, 1000), error);
  }
}
