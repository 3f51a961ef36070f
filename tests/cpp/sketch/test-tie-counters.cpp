// The ties of sketches, beside those of their samples.
#include <algorithm>
#include <functional>
#include <map>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/sketch/grid_sketch.hpp"
#include "core/sketch/line_sketch.hpp"
#include "core/sketch/sketch_sample.hpp"
#include "core/sketch/tie_counters.hpp"
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
      sketch.add({tied.x.data(), tied.x.size()}, Weights::ones(tied.x.size()), on_last());
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
  sketch.add({few.data(), few.size()}, Weights::ones(few.size()), on_last());
  EXPECT_TRUE(sketch.ties().empty());
  EXPECT_EQ(ties_of_sketch(sketch).pairs, 240);
  other.add({one.data(), 1}, Weights::ones(1), on_last());
  last.add({far.data(), 3}, Weights::ones(3), on_last());
  sketch.merge(other, *on_last().table);
  sketch.merge(last, *on_last().table);
  ASSERT_EQ(sketch.ties().size(), simd::kTieCounters);
  EXPECT_EQ(std::abs(*std::max_element(
                sketch.ties().begin(), sketch.ties().end(),
                [](std::int64_t a, std::int64_t b) { return std::abs(a) < std::abs(b); })),
            17);
  EXPECT_EQ(ties_of_sketch(sketch).pairs, 17 * 16 + 6);
}

TEST(TieCounters, AreRefusedIfNoSamplesHaveThem) {
  const TieCounters none;
  TieCounters some(simd::kTieCounters, 0);
  some[5] = -3;
  some[9] = 1;
  EXPECT_NO_THROW(check_counters(none, 0));
  EXPECT_NO_THROW(check_counters(some, 4));
  EXPECT_NO_THROW(check_counters(some, 6));
  for (const std::uint64_t samples : {0, 2, 3, 5}) {
    EXPECT_THROW(check_counters(some, samples), error) << samples;
  }
  EXPECT_THROW(check_counters(none, 4), error);
  for (const std::int64_t far : {INT64_MAX, INT64_MIN}) {
    some[9] = far;
    EXPECT_THROW(check_counters(some, 100), error);
  }
}
