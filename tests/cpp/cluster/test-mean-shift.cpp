// Mean shift on grids and by direct sums, against steps in long double.
#include "common.hpp"
#include "core/cluster/mean_shift.hpp"
#include "points-expect.hpp"
#include "shapes.hpp"

using namespace kestrel;
using namespace common;
using shapes::Shape;

namespace {

MeanShift shifted(const Shape& shape, const MeanShiftSettings& settings, const RunOptions& how) {
  return mean_shift(shape.samples(), shape.weights(), shape.evaluation(), shape.bandwidth(),
                    settings, how);
}

/// |L^-1 S_1 / S_0| at a point, in long double: the length of a step that is not Newton's.
long double slope_at(const Shape& shape, const std::vector<double>& end, std::size_t i) {
  const std::size_t d = shape.d;
  long double total = 0;
  std::vector<long double> first(d, 0);
  for (std::size_t j = 0; j < shape.n; ++j) {
    std::vector<long double> u(d);
    long double square = 0;
    for (std::size_t k = 0; k < d; ++k) {
      u[k] = static_cast<long double>(end[k * shape.m + i]) - shape.x[k * shape.n + j];
      for (std::size_t l = 0; l < k; ++l) u[k] -= shape.root[l * d + k] * u[l];
      u[k] /= shape.root[k * d + k];
      square += u[k] * u[k];
    }
    const long double term = shape.w[j] * std::exp(-square / 2);
    total += term;
    for (std::size_t k = 0; k < d; ++k) first[k] += term * u[k];
  }
  long double length = 0;
  for (const long double sum : first) length += (sum / total) * (sum / total);
  return std::sqrt(length);
}

/// Points are samples, so that all are within reach.
Shape from_samples(Shape shape, std::size_t m) {
  shape.m = m;
  shape.points.resize(m * shape.d);
  for (std::size_t k = 0; k < shape.d; ++k) {
    for (std::size_t i = 0; i < m; ++i) {
      shape.points[k * m + i] = shape.x[k * shape.n + i % shape.n];
    }
  }
  return shape;
}

std::vector<Shape> shapes_of_climbs() {
  std::vector<Shape> all;
  // 1500 times 700 pairs are enough for grids, 1500 times 20 are not.
  for (const std::size_t m : {20, 700}) {
    const std::string of = "_m" + std::to_string(m);
    for (const std::size_t d : {1, 2, 3}) {
      const std::string in = "_d" + std::to_string(d) + of;
      all.push_back(from_samples(shapes::tilted(shapes::make("normal" + in, 1500, 1, d, 0.4)), m));
      all.push_back(from_samples(shapes::make("outliers" + in, 1500, 1, d, 0.4,
                                              [](std::mt19937_64& random) {
                                                return shapes::normal(random) *
                                                       (random() % 50 == 0 ? 30.0 : 1.0);
                                              }),
                                 m));
    }
    // Weights so small that grids have no digits around their samples.
    all.push_back(
        from_samples(shapes::weighted(shapes::make("light" + of, 1500, 1, 2, 0.2),
                                      [](std::size_t i) { return i % 3 == 0 ? 1e-12 : 1.0; }),
                     m));
  }
  all.push_back(from_samples(shapes::make("d5", 300, 1, 5, 0.8), 20));
  return all;
}

class MeanShifts : public testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(Shapes, MeanShifts, testing::ValuesIn(shapes_of_climbs()), name_of);

}  // namespace

TEST_P(MeanShifts, EndAtStationaryPoints) {
  const Shape& shape = GetParam();
  const double h = shape.root[0];
  for (const simd::Table* table : tables()) {
    SCOPED_TRACE(table->name);
    const MeanShift found = shifted(shape, {1e-6 * h, 2000, false}, run_on(table, 1));
    EXPECT_EQ(found.moving, 0u);
    for (std::size_t i = 0; i < shape.m; i += 13) {
      ASSERT_LE(slope_at(shape, found.end, i), 1e-5) << i;
    }
    for (const int threads : thread_counts_of(table)) {
      EXPECT_TRUE(same_bits(shifted(shape, {1e-6 * h, 2000, false}, run_on(table, threads)).end,
                            found.end));
    }
  }
}

TEST(MeanShifts, TakeTheSameStepsOnGridsAndPairByPair) {
  const Shape many = from_samples(shapes::make("many", 1500, 1, 2, 0.3), 700);
  const Shape few = from_samples(many, 20);
  const MeanShiftSettings settings{1e-6, 500, true};
  const MeanShift grids = shifted(many, settings, run_on(tables()[0], 1));
  const MeanShift pairs = shifted(few, settings, run_on(tables()[0], 1));
  for (std::size_t i = 0; i < few.m; ++i) {
    EXPECT_EQ(grids.steps[i], pairs.steps[i]);
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_NEAR(grids.end[k * many.m + i], pairs.end[k * few.m + i], 1e-6);
    }
  }
  // The first step is to the weighted mean.
  ASSERT_EQ(grids.path[0].point.size(), many.m);
  for (std::size_t i = 0; i < 2 * few.m; ++i) {
    EXPECT_NEAR(grids.path[0].at[i], pairs.path[0].at[i], 1e-8);
  }
}

TEST(MeanShifts, CountPointsOutOfReachAndThoseThatStillMove) {
  Shape shape = from_samples(shapes::make("few", 30, 1, 2, 0.3), 30);
  EXPECT_EQ(shifted(shape, {1e-9, 1, false}, run_on(tables()[0], 1)).moving, 30u);
  shape.points[3] = 1e9;
  const MeanShift found = shifted(shape, {1e-9, 5, false}, run_on(tables()[0], 1));
  EXPECT_EQ(found.out_of_reach, 1u);
  EXPECT_EQ(found.end, shape.points);
}
