// The skeleton of an engine works, and this is the test of an engine to copy: every shape against
// the oracle, and the same bits for any number of threads.
#include "points-expect.hpp"
#include "skeleton/engine.hpp"

using namespace kestrel;
using namespace common;
using shapes::Shape;

namespace {

class Skeleton : public testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(Data, Skeleton, testing::ValuesIn(shapes::data_of_every_kind()), name_of);
INSTANTIATE_TEST_SUITE_P(Sizes, Skeleton, testing::ValuesIn(shapes::sizes_of_every_kind()),
                         name_of);

std::vector<double> density(const Shape& shape, const RunOptions& how) {
  const Sample sample(shape.samples(), shape.weights());
  const EvaluationPoints at{shape.evaluation(), {}};
  const DensityTask task{sample, at, {}, shape.bandwidth(), 1e-12, how};
  EXPECT_TRUE(skeleton_engine.fits(task.kernel, shape.d, false));
  const DensityPlan plan = *skeleton_engine.plan(task, true, false);
  std::vector<double> out(shape.m);
  skeleton_engine.run(task, plan, how, {out.data(), out.size()});
  return out;
}

}  // namespace

TEST_P(Skeleton, AgreesWithTheOracle) {
  const Shape& shape = GetParam();
  const std::vector<std::size_t> which = some_of(shape.m);
  const auto wanted = oracle::density(shape.samples(), shape.w, shape.evaluation(), which,
                                      {KernelChoice(), shape.d, shape.root});
  const std::vector<double> one = density(shape, run_on(tables().back(), 1));
  expect_close(one, which, wanted);
  for (const int threads : thread_counts()) {
    EXPECT_TRUE(same_bits(density(shape, run_on(tables().back(), threads)), one)) << threads;
  }
}
