// The choice of an engine: a pure function of the task.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/plan/plan.hpp"

using namespace kestrel;

namespace {

DensityTask task(double n, double m, std::size_t d) {
  DensityTask made;
  made.n = n;
  made.m = m;
  made.d = d;
  return made;
}

}  // namespace

TEST(Plan, NamesAnEngineAndWhy) {
  for (const std::size_t d : {2, 3, 6, 62}) {
    const Plan plan = plan_density(task(1000, 151.0 * 151, d), "auto");
    EXPECT_EQ(plan.engine, "direct");
    EXPECT_LE(plan.tolerance, 1e-12);
    EXPECT_GE(plan.bytes, 8 * 151.0 * 151) << "less than its own result";
    EXPECT_GT(plan.seconds, 0);
    EXPECT_FALSE(plan.reason.empty());
    EXPECT_NE(plan_density(task(1000, 151.0 * 151, d), "direct").reason, plan.reason);
  }
}

TEST(Plan, TimeGrowsWithPairsAndDimensionAndFallsWithThreadsAndLanes) {
  const double base = plan_density(task(1000, 1000, 2), "auto").seconds;
  EXPECT_NEAR(plan_density(task(3000, 1000, 2), "auto").seconds / base, 3, 1e-9);
  EXPECT_NEAR(plan_density(task(1000, 5000, 2), "auto").seconds / base, 5, 1e-9);
  EXPECT_GT(plan_density(task(1000, 1000, 16), "auto").seconds, base);
  DensityTask threaded = task(1000, 1000, 2);
  threaded.threads = 4;
  EXPECT_NEAR(base / plan_density(threaded, "auto").seconds, 4, 1e-9);
  double before = HUGE_VAL;
  for (const std::size_t lanes : {1, 2, 4, 8}) {
    DensityTask wide = task(1000, 1000, 2);
    wide.lanes = lanes;
    const double seconds = plan_density(wide, "auto").seconds;
    EXPECT_LT(seconds, before) << lanes;
    before = seconds;
  }
}

TEST(Plan, IsPureAndKnowsGridsOfAnySize) {
  const DensityTask grid = task(1e6, std::pow(21.0, 20), 20);
  const Plan a = plan_density(grid, "auto"), b = plan_density(grid, "auto");
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_TRUE(std::isfinite(a.bytes));
  EXPECT_GE(a.bytes, 8 * grid.m);
}

TEST(Plan, KeepsAToleranceThatIsFinerThanItsOwn) {
  DensityTask fine = task(10, 10, 1);
  for (const double tolerance : {1e-3, 1e-12, 1e-15}) {
    fine.tolerance = tolerance;
    EXPECT_LE(plan_density(fine, "auto").tolerance, tolerance);
  }
}

TEST(Plan, UnknownEnginesAreRefusedWithTheKnownOnes) {
  for (const char* wrong : {"", "Direct", "magic"}) {
    try {
      plan_density(task(10, 10, 1), wrong);
      FAIL() << "nothing thrown";
    } catch (const error& e) {
      EXPECT_EQ(e.kind, ErrorKind::input);
      for (const char* known : {"auto", "direct"}) {
        EXPECT_NE(std::string(e.what()).find(known), std::string::npos) << e.what();
      }
    }
  }
}

TEST(Plan, LinearEnginesTakeOverInOneDimension) {
  DensityTask line = task(1e5, 1e5, 1);
  line.spread = 30;
  EXPECT_EQ(plan_density(line, "auto").engine, "fgt");
  line.kernel.kernel = Kernel::biweight;
  EXPECT_EQ(plan_density(line, "auto").engine, "sweep");
  line.kernel.kernel = Kernel::cosine;
  EXPECT_EQ(plan_density(line, "auto").engine, "direct");
  EXPECT_THROW(plan_density(line, "sweep"), error);
  EXPECT_THROW(plan_density(line, "fgt"), error);
  EXPECT_EQ(plan_density(task(10, 10, 1), "auto").engine, "direct");
}

// Tasks for which the chosen engine took less than half of the other's time. Milliseconds of both,
// direct first.
TEST(Plan, TheEngineIsTheOneThatMeasuredFaster) {
  const auto engine = [](Kernel kernel, double n, double m, double spread, std::size_t lanes) {
    DensityTask line = task(n, m, 1);
    line.kernel.kernel = kernel;
    line.spread = spread;
    line.lanes = lanes;
    return plan_density(line, "auto").engine;
  };
  EXPECT_EQ(engine(Kernel::gaussian, 1600, 400, 30, 8), "direct");       // 0.30 ms, 2.7
  EXPECT_EQ(engine(Kernel::gaussian, 1600, 400, 30, 1), "fgt");          // 6.0, 2.7
  EXPECT_EQ(engine(Kernel::gaussian, 1600, 1600, 4, 8), "fgt");          // 1.2, 0.15
  EXPECT_EQ(engine(Kernel::gaussian, 1600, 1600, 300, 8), "direct");     // 1.3, 5.2
  EXPECT_EQ(engine(Kernel::gaussian, 20000, 20000, 300, 8), "fgt");      // 179, 24
  EXPECT_EQ(engine(Kernel::gaussian, 1600, 400, 1e5, 8), "fgt");         // 3.0, 0.19
  EXPECT_EQ(engine(Kernel::epanechnikov, 20000, 100, 30, 8), "direct");  // 0.32, 1.9
  EXPECT_EQ(engine(Kernel::epanechnikov, 400, 100, 30, 1), "sweep");     // 0.060, 0.028
  EXPECT_EQ(engine(Kernel::epanechnikov, 3200, 3200, 30, 8), "sweep");   // 1.6, 0.63
  EXPECT_EQ(engine(Kernel::epanechnikov, 1600, 100, 30, 8), "direct");   // 0.034, 0.14
  EXPECT_EQ(engine(Kernel::epanechnikov, 20000, 400, 1e5, 8), "sweep");  // 18, 2.1
  EXPECT_EQ(plan_pairs(400, 30, 8), "direct");                           // 0.095, 0.33
  EXPECT_EQ(plan_pairs(800, 4, 8), "fgt");                               // 0.28, 0.042
  EXPECT_EQ(plan_pairs(3200, 3000, 8), "fgt");                           // 3.8, 1.9
  EXPECT_EQ(plan_pairs(400, 30, 1), "fgt");                              // 0.93, 0.31
}

namespace {

/// n samples and a grid of m points in a cube of this many bandwidths.
DataRange cube_extent(double n, double side_of_grid, std::size_t d, double spread) {
  DataRange extent;
  extent.n = extent.weight = n;
  extent.heaviest = 1;
  extent.m = std::pow(side_of_grid, static_cast<double>(d));
  extent.min_share = std::max(1 / n, std::pow(spread, -static_cast<double>(d)));
  extent.frame.resize(1);
  DensityFrame& frame = extent.frame[0];
  frame.geometry.d = d;
  frame.along_data = true;
  for (std::size_t a = 3 - d; a < 3; ++a) {
    extent.axis[a - (3 - d)] = side_of_grid;
    frame.h[4 * a] = 1;
    frame.samples[a] = frame.points[a] = {0, spread};
  }
  return extent;
}

}  // namespace

TEST(Plan, FourierTakesOverInTwoAndThreeDimensions) {
  for (const std::size_t d : {2, 3}) {
    const double side = d == 2 ? 151 : 51;
    const auto plan = [&](double n, double spread, const char* engine, double tolerance = 1e-12) {
      const DataRange extent = cube_extent(n, side, d, spread);
      DensityTask space = task(n, extent.m, d);
      space.lanes = 8;
      space.extent = &extent;
      space.tolerance = tolerance;
      return plan_density(space, engine);
    };
    EXPECT_EQ(plan(1e5, 40, "auto").engine, "fourier");
    EXPECT_EQ(plan(10, 40, "auto").engine, "direct");
    EXPECT_EQ(plan(10, 40, "fourier").engine, "fourier");
    EXPECT_GE(plan(1e5, 40, "fourier").bytes, 8 * 1e5);
    EXPECT_EQ(plan(1e5, 40, "auto", 1e-6).tolerance, 1e-6);
    EXPECT_EQ(plan(1e5, 40, "auto", 1e-15).engine, "direct");
    EXPECT_EQ(plan(1e5, 1e6, "auto").engine, "direct") << "more than 1 GB";
    try {
      plan(1e5, 1e6, "fourier");
      ADD_FAILURE() << "nothing thrown";
    } catch (const error& problem) {
      EXPECT_EQ(problem.kind, ErrorKind::memory);
      EXPECT_NE(std::string(problem.what()).find("GB"), std::string::npos);
    }
  }
  EXPECT_THROW(plan_density(task(10, 10, 1), "fourier"), error);
  EXPECT_THROW(plan_density(task(10, 10, 4), "fourier"), error);
}

TEST(Plan, TreesTakeOverWhereMostPairsAreOutOfReach) {
  const auto plan = [](double n, double m, double pairs, const char* engine) {
    DensityTask space = task(n, m, 2);
    space.kernel.kernel = Kernel::epanechnikov;
    space.tree_pairs = pairs;
    return plan_density(space, engine);
  };
  EXPECT_EQ(plan(1e6, 1e6, 0.01, "auto").engine, "kdtree");
  EXPECT_EQ(plan(1e6, 1e6, 1, "auto").engine, "direct") << "nothing is skipped";
  EXPECT_EQ(plan(1e6, 1e6, -1, "auto").engine, "direct") << "not measured";
  EXPECT_EQ(plan(1e6, 10, 0.01, "auto").engine, "direct") << "no time to sort";
  EXPECT_EQ(plan(100, 100, 0.01, "auto").engine, "direct");
  EXPECT_GT(plan(1e6, 1e6, -1, "kdtree").seconds, plan(1e6, 1e6, 0.01, "kdtree").seconds);
  EXPECT_GE(plan(1e6, 10, 0.01, "kdtree").bytes, 24e6) << "less than a copy of the samples";
  DensityTask gaussian = task(1e6, 1e6, 2);
  gaussian.tree_pairs = 0.01;
  EXPECT_EQ(plan_density(gaussian, "auto").engine, "direct");
  EXPECT_THROW(plan_density(gaussian, "kdtree"), error);
}

TEST(Plan, NothingToSumIsDirect) {
  for (const auto& [n, m] : {std::pair<double, double>{0, 0}, {0, 5}, {5, 0}}) {
    const Plan plan = plan_density(task(n, m, 1), "auto");
    EXPECT_EQ(plan.engine, "direct");
    EXPECT_TRUE(std::isfinite(plan_density(task(n, m, 1), "fgt").seconds));
  }
}

TEST(Plan, EngineDoesNotDependOnThreads) {
  for (double n = 16; n < 1e6; n *= 1.7) {
    DensityTask line = task(n, n, 1);
    line.spread = 30;
    const std::string alone = plan_density(line, "auto").engine;
    line.threads = 64;
    EXPECT_EQ(plan_density(line, "auto").engine, alone) << n;
  }
}

// Three engines compete here.
TEST(Plan, EngineOfAGridOnALineDoesNotDependOnThreads) {
  for (const double n : {200.0, 2000.0, 20000.0}) {
    for (const std::size_t m : {51, 401, 3001}) {
      for (const double h : {0.02, 0.2, 1.0}) {
        DensityTask line = task(n, static_cast<double>(m), 1);
        line.kernel.kernel = Kernel::triangular;
        line.spread = 1 / h;
        const double step = (1 + 2 * h) / static_cast<double>(m - 1);
        const RegularAxis axis{-h, step, m, {}};
        const ScanlineGeometry grid({&axis, 1}, {&h, 1});
        line.grid = &grid;
        const Plan alone = plan_density(line, "auto");
        for (const int threads : {2, 4, 16, 64}) {
          line.threads = threads;
          const Plan plan = plan_density(line, "auto");
          EXPECT_EQ(plan.engine, alone.engine) << n << " " << m << " " << h << " " << threads;
          EXPECT_LE(plan.seconds, alone.seconds);
        }
      }
    }
  }
}
