// The choice of an engine: costs as functions of numbers, and plans of tasks with their data.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.hpp"
#include "core/direct/engine.hpp"
#include "core/fgt/engine.hpp"
#include "core/kdtree/engine.hpp"
#include "core/plan/engines.hpp"
#include "core/plan/plan.hpp"
#include "core/scanline/engine.hpp"
#include "core/sweep/engine.hpp"
#include "plan/density-tasks.hpp"

using namespace kestrel;
using density_tasks::Task;

namespace {

std::string engine_of(const Task& task) { return plan_density(task.view(), "auto")->engine->name; }

}  // namespace

TEST(Plan, NamesAnEngineAndWhy) {
  for (const std::size_t d : {4, 6, 62}) {
    const Task task = Task(100, d, 3).at_points(200);
    const DensityPlan plan = *plan_density(task.view(), "auto");
    EXPECT_EQ(plan.engine, &direct_engine);
    EXPECT_LE(plan.tolerance, 1e-12);
    EXPECT_GE(plan.bytes, 8 * 200.0) << "less than its own result";
    EXPECT_GT(plan.seconds, 0);
    EXPECT_EQ(plan.reason, direct_engine.reason);
    EXPECT_EQ(plan_density(task.view(), "direct")->reason, "asked for");
  }
}

TEST(Plan, TimeOfDirectSumsGrowsWithPairsAndDimensionAndFallsWithLanes) {
  const double base = direct_seconds({}, 2, 1000, 1000, 0, 8);
  EXPECT_NEAR(direct_seconds({}, 2, 3000, 1000, 0, 8) / base, 3, 1e-9);
  EXPECT_NEAR(direct_seconds({}, 2, 1000, 5000, 0, 8) / base, 5, 1e-9);
  EXPECT_GT(direct_seconds({}, 16, 1000, 1000, 0, 8), base);
  double before = HUGE_VAL;
  for (const std::size_t lanes : {1, 2, 4, 8}) {
    const double seconds = direct_seconds({}, 2, 1000, 1000, 0, lanes);
    EXPECT_LT(seconds, before) << lanes;
    before = seconds;
  }
}

TEST(Plan, IsPureAndKnowsGridsOfAnySize) {
  const Task grid = Task(100, 20, 3).on_grid(21, 0, 3);
  const DensityPlan a = *plan_density(grid.view(), "auto"), b = *plan_density(grid.view(), "auto");
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_TRUE(std::isfinite(a.bytes));
  EXPECT_GE(a.bytes, 8 * std::pow(21.0, 20));
}

TEST(Plan, KeepsAToleranceThatIsFinerThanItsOwn) {
  Task fine = Task(10, 1, 3).at_points(10);
  for (const double tolerance : {1e-3, 1e-12, 1e-15}) {
    fine.tolerance = tolerance;
    EXPECT_LE(plan_density(fine.view(), "auto")->tolerance, tolerance);
  }
}

TEST(Plan, UnknownEnginesAreRefusedWithTheKnownOnes) {
  const Task task = Task(10, 1, 3).at_points(10);
  for (const char* wrong : {"", "Direct", "magic"}) {
    try {
      plan_density(task.view(), wrong);
      FAIL() << "nothing thrown";
    } catch (const error& e) {
      EXPECT_EQ(e.kind, ErrorKind::input);
      EXPECT_NE(std::string(e.what()).find("auto"), std::string::npos) << e.what();
      for (const DensityEngine* known : density_engines()) {
        EXPECT_NE(std::string(e.what()).find(known->name), std::string::npos) << e.what();
      }
    }
  }
}

TEST(Plan, EnginesThatDoNotTakeATaskSayWhatTheyTake) {
  const Task gaussian = Task(10, 1, 3).at_points(10);
  const Task compact = Task(10, 4, 3).at_points(10).with_kernel(Kernel::cosine);
  const auto refused = [](const Task& task, const char* engine) {
    try {
      plan_density(task.view(), engine);
    } catch (const error& e) {
      return std::string(e.what()).find(density_engine(engine).takes()) != std::string::npos;
    }
    return false;
  };
  for (const char* engine : {"sweep", "kdtree", "fourier", "scanline"}) {
    EXPECT_TRUE(refused(gaussian, engine)) << engine;
  }
  for (const char* engine : {"sweep", "fgt", "fourier", "scanline"}) {
    EXPECT_TRUE(refused(compact, engine)) << engine;
  }
}

TEST(Plan, AGridThatAnEngineDoesNotTakeHasNoPlan) {
  const Task uneven = Task(10, 2, 3).on_grid(10, 0, 3, 2).with_kernel(Kernel::biweight);
  EXPECT_FALSE(plan_density(uneven.view(), "scanline"));
  EXPECT_NE(engine_of(uneven), "scanline");
  const Task coarse = Task(10, 2, 3, 1e-4).on_grid(10, 0, 3).with_kernel(Kernel::biweight);
  EXPECT_FALSE(plan_density(coarse.view(), "scanline")) << "steps of thousands of bandwidths";
}

TEST(Plan, LinearEnginesTakeOverInOneDimension) {
  Task line = Task(100000, 1, 30).at_points(100000);
  EXPECT_EQ(engine_of(line), "fgt");
  EXPECT_EQ(engine_of(line.with_kernel(Kernel::biweight)), "sweep");
  // Its kernel reaches all points: nothing is skipped.
  Task near = Task(3000, 1, 0.5).at_points(3000).with_kernel(Kernel::cosine);
  EXPECT_EQ(engine_of(near), "direct");
  EXPECT_EQ(engine_of(Task(10, 1, 3).at_points(10)), "direct");
}

// Tasks for which the chosen engine took less than half of the other's time. Milliseconds of both,
// direct first.
TEST(Plan, TheCheaperEngineIsTheOneThatMeasuredFaster) {
  const auto gaussian = [](double n, double m, double spread, std::size_t lanes) {
    const double direct = direct_seconds({}, 1, n, m, spread, lanes);
    return fgt_density_seconds(n, m, spread) < direct ? "fgt" : "direct";
  };
  const auto parabola = [](double n, double m, double spread, std::size_t lanes) {
    const KernelChoice kernel{Kernel::epanechnikov, KernelType::radial};
    return sweep_seconds(n, m) < direct_seconds(kernel, 1, n, m, spread, lanes) ? "sweep"
                                                                                : "direct";
  };
  EXPECT_STREQ(gaussian(1600, 400, 30, 8), "direct");    // 0.30 ms, 2.7
  EXPECT_STREQ(gaussian(1600, 400, 30, 1), "fgt");       // 6.0, 2.7
  EXPECT_STREQ(gaussian(1600, 1600, 4, 8), "fgt");       // 1.2, 0.15
  EXPECT_STREQ(gaussian(1600, 1600, 300, 8), "direct");  // 1.3, 5.2
  EXPECT_STREQ(gaussian(20000, 20000, 300, 8), "fgt");   // 179, 24
  EXPECT_STREQ(gaussian(1600, 400, 1e5, 8), "fgt");      // 3.0, 0.19
  EXPECT_STREQ(parabola(20000, 100, 30, 8), "direct");   // 0.32, 1.9
  EXPECT_STREQ(parabola(400, 100, 30, 1), "sweep");      // 0.060, 0.028
  EXPECT_STREQ(parabola(3200, 3200, 30, 8), "sweep");    // 1.6, 0.63
  EXPECT_STREQ(parabola(1600, 100, 30, 8), "direct");    // 0.034, 0.14
  EXPECT_STREQ(parabola(20000, 400, 1e5, 8), "sweep");   // 18, 2.1
}

TEST(Plan, FourierTakesOverInTwoAndThreeDimensions) {
  for (const std::size_t d : {2, 3}) {
    const std::size_t side = d == 2 ? 151 : 51;
    const auto plan = [&](std::size_t n, double range, const char* engine,
                          double tolerance = 1e-12) {
      Task space = Task(n, d, range).on_grid(side, 0, range);
      space.tolerance = tolerance;
      return *plan_density(space.view(), engine);
    };
    EXPECT_STREQ(plan(100000, 40, "auto").engine->name, "fourier");
    EXPECT_STREQ(plan(10, 40, "auto").engine->name, "direct");
    EXPECT_STREQ(plan(10, 40, "fourier").engine->name, "fourier");
    EXPECT_GE(plan(100000, 40, "fourier").bytes, 8 * 1e5);
    EXPECT_EQ(plan(100000, 40, "auto", 1e-6).tolerance, 1e-6);
    EXPECT_STREQ(plan(100000, 40, "auto", 1e-15).engine->name, "direct");
    EXPECT_STREQ(plan(100000, 1e6, "auto").engine->name, "direct") << "more than 1 GB";
    try {
      plan(100000, 1e6, "fourier");
      ADD_FAILURE() << "nothing thrown";
    } catch (const error& problem) {
      EXPECT_EQ(problem.kind, ErrorKind::memory);
      EXPECT_NE(std::string(problem.what()).find("GB"), std::string::npos);
    }
  }
}

TEST(Plan, TreesTakeOverWhereMostPairsAreOutOfReach) {
  const KernelChoice kernel{Kernel::epanechnikov, KernelType::radial};
  const auto trees = [&](double n, double m, double share) {
    return kdtree_seconds(kernel, 2, n, m, share, 1) < direct_seconds(kernel, 2, n, m, 0, 1);
  };
  EXPECT_TRUE(trees(1e6, 1e6, 0.01));
  EXPECT_FALSE(trees(1e6, 1e6, 1)) << "nothing is skipped";
  EXPECT_FALSE(trees(1e6, 10, 0.01)) << "no time to sort";
  EXPECT_FALSE(trees(100, 100, 0.01));
  const auto task = [&](double h) {
    return Task(100000, 2, 100, h).at_points(100000).with_kernel(Kernel::epanechnikov);
  };
  EXPECT_EQ(engine_of(task(1)), "kdtree");
  EXPECT_EQ(engine_of(task(1000).with_kernel(Kernel::cosine)), "direct") << "all are in reach";
  EXPECT_GE(plan_density(task(1).view(), "kdtree")->bytes, 16e5) << "less than a copy";
  // A grid with equal steps is for scanline, and others are not.
  const auto grid = [&](double power) {
    return Task(100000, 2, 100).on_grid(300, 0, 100, power).with_kernel(Kernel::epanechnikov);
  };
  EXPECT_EQ(engine_of(grid(1)), "scanline");
  EXPECT_EQ(engine_of(grid(2)), "kdtree");
}

TEST(Plan, NothingToSumTakesNoTime) {
  const Task none = Task(5, 1, 3).at_points(0);
  EXPECT_TRUE(std::isfinite(plan_density(none.view(), "auto")->seconds));
  EXPECT_TRUE(std::isfinite(fgt_density_seconds(0, 0, 0)));
  EXPECT_TRUE(std::isfinite(sweep_seconds(0, 0)));
}

// Three engines compete here.
TEST(Plan, NeitherEngineNorTimeOnOneThreadDependsOnThreads) {
  for (const std::size_t n : {200, 2000, 20000}) {
    for (const std::size_t m : {51, 401, 3001}) {
      for (const double h : {0.02, 0.2, 1.0}) {
        Task line = Task(n, 1, 1, h).on_grid(m, -h, 1 + h).with_kernel(Kernel::triangular);
        line.how.parallel.threads = 1;
        const DensityPlan alone = *plan_density(line.view(), "auto");
        for (const int threads : {2, 4, 16, 64}) {
          line.how.parallel.threads = threads;
          const DensityPlan plan = *plan_density(line.view(), "auto");
          EXPECT_EQ(plan.engine, alone.engine) << n << " " << m << " " << h << " " << threads;
          EXPECT_EQ(plan.seconds, alone.seconds);
        }
      }
    }
  }
}
