// Regressions of sketches, beside those of all samples.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/sketch/sketch_bytes.hpp"
#include "core/sketch/sketch_regression.hpp"
#include "core/sketch/sketch_sample.hpp"
#include "grown-sketch.hpp"
#include "lines.hpp"

using namespace kestrel;
using common::name_of;
using common::run_on;

namespace {

struct Pairs {
  std::string name;
  std::vector<double> x, y;
  int exponent;

  RegressionSample sample() const {
    return {{x.data(), x.size()}, {y.data(), y.size()}, Weights::ones(x.size())};
  }
};

void PrintTo(const Pairs& pairs, std::ostream* out) { *out << pairs.name; }

/// Responses about a wave of some bandwidths' length.
Pairs with_responses(const lines::Line& line) {
  std::vector<double> x = line.x;
  std::sort(x.begin(), x.end());
  const double spread = x[x.size() * 3 / 4] - x[x.size() / 4], middle = x[x.size() / 2];
  Pairs pairs{line.name, line.x, {}, std::ilogb(spread) - 4};
  std::mt19937_64 random(7);
  for (const double value : line.x) {
    pairs.y.push_back(40 + std::sin(3 * (value - middle) / spread) + 0.3 * shapes::normal(random));
  }
  return pairs;
}

std::vector<Pairs> pairs_of_every_kind() {
  std::vector<Pairs> all;
  for (const lines::Line& line : lines::of_every_kind(1500)) {
    const bool weighted =
        std::any_of(line.w.begin(), line.w.end(), [](double w) { return w != 1; });
    if (!weighted && line.name != "equal") all.push_back(with_responses(line));
  }
  Pairs far = all[1];
  far.name = "far_responses";
  for (double& y : far.y) y += 1e9;
  for (std::size_t i = 0; i < far.y.size(); i += 300) far.y[i] += 1e4;
  all.push_back(far);
  return all;
}

RunOptions on_best(int threads = 1) { return run_on(common::tables().back(), threads); }

SketchPlan plan_of(const Pairs& pairs) {
  SketchPlan plan{pairs.exponent, "x"};
  plan.response = "y";
  plan.response_exponent = 2;
  plan.response_origin = std::round(pairs.y[0]);
  return plan;
}

void add(const Pairs& pairs, const std::vector<std::size_t>& rows, const RunOptions& options,
         LineSketch* sketch) {
  std::vector<double> x, y;
  for (const std::size_t i : rows) {
    x.push_back(pairs.x[i]);
    y.push_back(pairs.y[i]);
  }
  add_to(sketch, {x.data(), x.size()}, Weights(y.data(), y.size()), options);
}

std::vector<std::size_t> all_rows(const Pairs& pairs) {
  std::vector<std::size_t> rows(pairs.x.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

LineSketch sketch_of_pairs(const Pairs& pairs) {
  LineSketch sketch(plan_of(pairs));
  add(pairs, all_rows(pairs), on_best(), &sketch);
  return sketch;
}

class RegressionSketch : public testing::TestWithParam<Pairs> {};

INSTANTIATE_TEST_SUITE_P(Lines, RegressionSketch, testing::ValuesIn(pairs_of_every_kind()),
                         name_of);

}  // namespace

TEST_P(RegressionSketch, HasTheSameBytesForEveryPartitionAndSet) {
  const Pairs& pairs = GetParam();
  const std::vector<unsigned char> whole = bytes_of(sketch_of_pairs(pairs));
  std::mt19937_64 random(1);
  for (const simd::Table* table : common::tables()) {
    std::vector<std::size_t> rows = all_rows(pairs);
    std::shuffle(rows.begin(), rows.end(), random);
    std::vector<std::vector<std::size_t>> parts(1 + random() % 40);
    for (const std::size_t i : rows) parts[random() % parts.size()].push_back(i);
    LineSketch sum(plan_of(pairs));
    for (const std::vector<std::size_t>& part : parts) {
      LineSketch one(plan_of(pairs));
      add(pairs, part, run_on(table, 1), &one);
      sum.merge(one, *table);
    }
    EXPECT_EQ(bytes_of(sum), whole);
  }
  EXPECT_EQ(bytes_of(sketch_of({whole.data(), whole.size()})), whole);
}

TEST_P(RegressionSketch, HasTheCurveAndTheFitsOfItsSamples) {
  const Pairs& pairs = GetParam();
  const LineSketch sketch = sketch_of_pairs(pairs);
  ASSERT_FALSE(keeps_all(sketch));
  const RunOptions options = on_best(2);
  const SketchRegression regression(sketch, options);
  const LocalRegression wanted(pairs.sample(), options.parallel);
  const double width = std::ldexp(1.0, pairs.exponent), least = regression.least_bandwidth();
  const double support = wanted.min_supporting_bandwidth(Kernel::gaussian);
  EXPECT_GE(least, support);
  EXPECT_LE(least, std::max(width, (38 * support + width) / 36.99));
  std::vector<double> h;
  for (const double times : {8.0, 11.0, 30.0, 200.0, 1e4, 1e9}) h.push_back(times * width);
  for (const double times : {1.0, 3.0, 10.0}) h.push_back(std::max(8 * width, times * least));
  h.push_back(0.9 * least);
  for (const bool linear : {false, true}) {
    const LocalKernel kernel{Kernel::gaussian, 1, linear};
    const CrossValidation curve = regression.cross_validate({h.data(), h.size()}, kernel, options),
                          exact = wanted.cross_validate({h.data(), h.size()}, kernel, options);
    EXPECT_TRUE(std::isnan(curve.squares.back()));
    std::size_t served = 0;
    for (std::size_t k = 0; k + 1 < h.size(); ++k) {
      if (h[k] < least) continue;
      if (std::isnan(curve.squares[k])) continue;
      ++served;
      EXPECT_NEAR(curve.squares[k] / exact.squares[k], 1, 2e-12) << h[k] / width << linear;
      EXPECT_NEAR(curve.in_sample[k] / exact.in_sample[k], 1, 2e-12) << h[k] / width << linear;
      EXPECT_NEAR(curve.trace[k] / exact.trace[k], 1, 2e-12) << h[k] / width << linear;
    }
    EXPECT_GE(served, 3u);
    std::vector<double> points;
    for (std::size_t i = 0; i < 40; ++i)
      points.push_back(pairs.x[i] + (i % 2 == 0 ? 0 : 0.7 * width));
    for (const double times : {8.0, 100.0}) {
      const LocalKernel at{Kernel::gaussian, times * width, linear};
      const std::vector<double> got = regression.fits({points.data(), points.size()}, at, options);
      const Fits fits = wanted.fits({points.data(), points.size()}, {}, at, options);
      for (std::size_t i = 0; i < points.size(); ++i) {
        EXPECT_EQ(std::isnan(got[i]), std::isnan(fits.mean[i])) << i;
        if (std::isnan(got[i])) continue;
        EXPECT_NEAR(got[i], fits.mean[i], 1e-11 * (1 + std::fabs(fits.mean[i]))) << i << linear;
      }
    }
  }
}

TEST(RegressionSketch, CurvesHaveTheSameBitsOnEveryNumberOfThreads) {
  const LineSketch sketch = sketch_of_pairs(pairs_of_every_kind()[1]);
  const double h = std::ldexp(10.0, sketch.plan().exponent);
  const auto squares = [&](int threads) {
    const RunOptions options = on_best(threads);
    return SketchRegression(sketch, options)
        .cross_validate({&h, 1}, {Kernel::gaussian, 1, true}, options)
        .squares[0];
  };
  EXPECT_EQ(squares(1), squares(3));
}

TEST(RegressionSketch, RefusesPartsThatNoSamplesHave) {
  const Pairs pairs = pairs_of_every_kind()[1];
  const LineSketch sketch = sketch_of_pairs(pairs);
  std::vector<WideInteger> sums;
  for (std::size_t k = 0; k < sketch.full().size(); ++k) {
    sums.insert(sums.end(), sketch.sums(k), sketch.sums(k) + sketch.row());
  }
  const auto with = [&](std::size_t at, const WideInteger& value, ValueRange range) {
    std::vector<WideInteger> changed = sums;
    changed[at] = value;
    LineSketch::of_parts(sketch.plan(), sketch.range(), range, sketch.kept(), sketch.full(),
                         changed, sketch.ties());
  };
  EXPECT_NO_THROW(with(0, sums[0], sketch.second_range()));
  const std::size_t first_of_squares = 2 * static_cast<std::size_t>(LineSketch::kMoments);
  EXPECT_THROW(with(first_of_squares, WideInteger(-1), sketch.second_range()), error);
  EXPECT_THROW(with(first_of_squares / 2, WideInteger(INT64_MAX, 0), sketch.second_range()), error);
  EXPECT_THROW(with(0, sums[0], {41, 41.5}), error);
  EXPECT_THROW(with(0, sums[0], {-1e30, 1e30}), error);
  LineSketch empty(plan_of(pairs));
  const double x = 1, y = 1e9;
  EXPECT_THROW(add_to(&empty, {&x, 1}, Weights(&y, 1), on_best()), error);
  SketchPlan other = plan_of(pairs);
  other.response_origin += 1;
  EXPECT_THROW(empty.merge(LineSketch(other), *common::tables().back()), error);
}
