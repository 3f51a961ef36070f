// The direct engine at points: every instruction set and number of threads against the oracle.
#include "core/base/error.hpp"
#include "core/direct/direct.hpp"
#include "points-expect.hpp"

using namespace kestrel;
using namespace common;
using shapes::Shape;

namespace {

std::vector<double> density(const Shape& shape, const KernelChoice& choice,
                            const RunOptions& options) {
  return density_by(direct_density, shape, choice, options);
}

class Direct : public testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(Data, Direct, testing::ValuesIn(shapes::data_of_every_kind()), name_of);
INSTANTIATE_TEST_SUITE_P(Extremes, Direct, testing::ValuesIn(shapes::extremes_of_every_kind()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Sizes, Direct, testing::ValuesIn(shapes::sizes_of_every_kind()), name_of);
INSTANTIATE_TEST_SUITE_P(Dimensions, Direct, testing::ValuesIn(shapes::dimensions_of_every_kind()),
                         name_of);

class DirectThreads : public testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(Long, DirectThreads, testing::ValuesIn(shapes::work_for_three_threads()),
                         name_of);

}  // namespace

TEST_P(Direct, AgreesWithTheOracle) {
  const Shape& shape = GetParam();
  const std::vector<std::size_t> which = some_of(shape.m);
  for (const KernelChoice& choice : choices_for(shape)) {
    const oracle::ScaledKernel kernel(choice, shape.d, shape.root);
    const auto wanted =
        oracle::density(shape.samples(), shape.w, shape.evaluation(), which, kernel);
    for (const simd::Table* table : tables()) {
      SCOPED_TRACE(describe(choice) + ", " + table->name);
      const std::vector<double> one = density(shape, choice, run_on(table, 1));
      expect_close(one, which, wanted);
      for (const int threads : common::thread_counts()) {
        EXPECT_TRUE(same_bits(density(shape, choice, run_on(table, threads)), one))
            << threads << " threads";
      }
    }
  }
}

TEST_P(DirectThreads, GiveTheSameBitsAndAreUsed) {
  const Shape& shape = GetParam();
  const std::vector<std::size_t> which = some_of(shape.m);
  const KernelChoice gaussian;
  const auto wanted = oracle::density(shape.samples(), shape.w, shape.evaluation(), which,
                                      {gaussian, shape.d, shape.root});
  for (const simd::Table* table : tables()) {
    SCOPED_TRACE(table->name);
    const std::vector<double> one = density(shape, gaussian, run_on(table, 1));
    EXPECT_EQ(threads_last_used(), 1);
    expect_close(one, which, wanted);
    for (const int threads : common::thread_counts()) {
      EXPECT_TRUE(same_bits(density(shape, gaussian, run_on(table, threads)), one));
      EXPECT_EQ(threads_last_used(), threads);
    }
  }
}

TEST(DirectGrid, IsTheSameAsItsPoints) {
  Shape shape = shapes::tilted(shapes::make("grid", 300, 5 * 7 * 11, 3, 0.5));
  const std::vector<std::vector<double>> axes = axes_of_grid(shape);
  EvaluationPoints grid;
  for (const auto& axis : axes) grid.axes.push_back({axis.data(), axis.size()});
  for (const simd::Table* table : tables()) {
    std::vector<double> out(shape.m);
    direct_density(shape.samples(), shape.weights(), grid, {}, shape.bandwidth(), run_on(table, 2),
                   {out.data(), out.size()});
    EXPECT_TRUE(same_bits(out, density(shape, {}, run_on(table, 1)))) << table->name;
  }
}

TEST(DirectConstant, IsNoOverflowWhereTheSumsAreSmall) {
  // |H|^-1/2 is 1e372, and exp(-r^2 / 2) of the nearest sample 1e-518, r^2 = 62 * 6.2^2.
  const double pi = std::acos(-1.0);
  Shape shape = shapes::make("sixty-two", 20, 20, 62, 1e-6);
  for (std::size_t i = 0; i < shape.x.size(); ++i) shape.points[i] = shape.x[i] + 6.2e-6;
  const double wanted = -31 * std::log(2 * pi) + 62 * std::log(1e6) - 31 * 6.2 * 6.2;
  for (const simd::Table* table : tables()) {
    for (const double sum : density(shape, {}, run_on(table, 1))) {
      EXPECT_TRUE(sum == 0 || std::fabs(std::log(sum) - wanted) < 1e-6) << sum;
    }
  }
}

TEST(DirectErrors, SizesAndBandwidthsThatDoNotFit) {
  const auto kind_of = [](const Shape& shape, KernelChoice choice) {
    try {
      density(shape, choice, run_on(simd::baseline_table(), 1));
    } catch (const error& e) {
      return e.kind;
    }
    return ErrorKind::internal;
  };
  const Shape good = shapes::make("good", 10, 5, 2, 0.5);
  EXPECT_EQ(density(good, {}, run_on(simd::baseline_table(), 1)).size(), 5u);
  for (const double h : {0.0, -1.0, std::nan("")}) {
    Shape bad = good;
    bad.root[3] = h;
    EXPECT_EQ(kind_of(bad, {}), ErrorKind::input) << h;
  }
  const KernelChoice product{Kernel::biweight, KernelType::product};
  EXPECT_EQ(kind_of(shapes::tilted(good), product), ErrorKind::input);

  EvaluationPoints points;
  points.matrix = good.evaluation();
  std::vector<double> out(5);
  const auto run = [&](MatrixView x, std::size_t weights) {
    direct_density(x, {good.w.data(), weights}, points, {}, good.bandwidth(),
                   run_on(simd::baseline_table(), 1), {out.data(), out.size()});
  };
  EXPECT_THROW(run(good.samples(), 9), error);
  EXPECT_THROW(run({good.x.data(), 10, 1}, 10), error);
}

TEST(DirectPoll, StopsTheCallAndLeavesTheEngineUsable) {
  struct Interrupt {};
  Shape shape = shapes::make("endless", 20000, 2000, 2, 0.5);
  for (const int threads : {1, 2}) {
    RunOptions options = run_on(simd::baseline_table(), threads);
    double seen = -1;
    options.parallel.poll = [&](double fraction) {
      seen = fraction;
      if (fraction > 0) throw Interrupt();
    };
    const auto endless = [&] {
      for (;;) density(shape, {}, options);
    };
    EXPECT_THROW(endless(), Interrupt);
    EXPECT_GT(seen, 0);
    EXPECT_LT(seen, 1);
  }
  const Shape small = shapes::make("small", 50, 5, 2, 0.5);
  EXPECT_TRUE(same_bits(density(small, {}, run_on(simd::baseline_table(), 2)),
                        density(small, {}, run_on(simd::baseline_table(), 1))));
}
