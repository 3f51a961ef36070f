// The choice of an engine for sums over pairs: a pure function.
#include <gtest/gtest.h>

#include "core/plan/pair_plan.hpp"

using namespace kestrel;

namespace {

std::string engine_for(double n, std::size_t d, PairUse use) {
  PairTask task;
  task.n = n;
  task.d = d;
  task.use = use;
  return plan_pair_sums(task);
}

}  // namespace

TEST(PairPlan, OfMatrices) {
  struct Row {
    PairUse use;
    std::size_t d;
    double from;
  };
  for (const Row& row : {Row{PairUse::search, 2, 200},
                         {PairUse::search, 3, 5000},
                         {PairUse::functional, 2, 200},
                         {PairUse::functional, 3, 5000},
                         {PairUse::curve, 2, 900},
                         {PairUse::curve, 3, 7500},
                         {PairUse::once, 2, 2000},
                         {PairUse::once, 3, 2000}}) {
    EXPECT_EQ(engine_for(row.from, row.d, row.use), "fourier");
    EXPECT_EQ(engine_for(row.from - 1, row.d, row.use), "direct");
  }
  for (const PairUse use : {PairUse::search, PairUse::curve, PairUse::once, PairUse::functional}) {
    EXPECT_EQ(engine_for(1e9, 4, use), "direct");
  }
}

// Milliseconds of both engines, direct sums first, measured on one core with AVX-512.
TEST(PairPlan, OnALine) {
  PairTask task;
  task.d = 1;
  const auto engine = [&](PairUse use, double n, double spread, std::size_t lanes) {
    task.use = use;
    task.n = n;
    task.spread = spread;
    task.lanes = lanes;
    return plan_pair_sums(task);
  };
  EXPECT_EQ(engine(PairUse::curve, 400, 30, 8), "fgt");
  for (const PairUse use : {PairUse::once, PairUse::functional}) {
    EXPECT_EQ(engine(use, 400, 30, 8), "direct");  // 0.095, 0.33
    EXPECT_EQ(engine(use, 800, 4, 8), "fgt");      // 0.28, 0.042
    EXPECT_EQ(engine(use, 3200, 3000, 8), "fgt");  // 3.8, 1.9
    EXPECT_EQ(engine(use, 400, 30, 1), "fgt");     // 0.93, 0.31
  }
  task.kernel = Kernel::biweight;
  EXPECT_EQ(engine(PairUse::once, 400, 30, 8), "sweep");
  task.kernel = Kernel::gaussian;
  task.device = true;
  EXPECT_EQ(engine(PairUse::curve, 1e9, 0, 8), "direct");
}
