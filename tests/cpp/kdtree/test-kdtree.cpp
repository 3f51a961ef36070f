// The kdtree engine against the oracle: every instruction set, number of threads and compact
// kernel.
#include "core/base/error.hpp"
#include "core/kdtree/kdtree.hpp"
#include "core/kdtree/reach.hpp"
#include "points-expect.hpp"

using namespace kestrel;
using namespace common;
using shapes::Shape;

namespace {

std::vector<double> density(const Shape& shape, const KernelChoice& choice,
                            const RunOptions& options) {
  return density_by(kdtree_density, shape, choice, options);
}

std::vector<KernelChoice> compact_choices(const Shape& shape) {
  std::vector<KernelChoice> all;
  for (const KernelChoice& choice : choices_for(shape)) {
    if (is_compact(choice.kernel)) all.push_back(choice);
  }
  return all;
}

/// Trees of several levels: a bandwidth at which some boxes are out of reach, some within reach and
/// some across the edge.
std::vector<Shape> trees_of_every_kind() {
  std::vector<Shape> all;
  const auto sparse = [](std::mt19937_64& random) {
    return shapes::normal(random) * (random() % 50 == 0 ? 1e6 : 1.0);
  };
  const std::vector<std::size_t> plane{2}, dimensions{1, 2, 3, 4, 6};
  for (const std::size_t d : under_tsan() ? plane : dimensions) {
    const std::string in = "_d" + std::to_string(d);
    const double h = 0.5 * std::sqrt(static_cast<double>(d));
    all.push_back(shapes::make("tree" + in, 1500, 300, d, h));
    all.push_back(shapes::tilted(shapes::make("tree_tilted" + in, 1500, 300, d, h)));
  }
  if (under_tsan()) return all;  // the others have different numbers in the same loops
  for (const std::size_t n : {63, 64, 65, 127, 128, 129, 191, 193}) {
    all.push_back(shapes::make("leaves" + std::to_string(n) + "_d2", n, n, 2, 0.4));
  }
  all.push_back(shapes::make("tree_outliers_d2", 1500, 300, 2, 0.4, sparse));
  all.push_back(shapes::make("tree_offset_d3", 1500, 300, 3, 0.7,
                             [](std::mt19937_64& random) { return 1e9 + shapes::normal(random); }));
  all.push_back(shapes::make("tree_clusters_d2", 1500, 300, 2, 3e-5, [](std::mt19937_64& random) {
    return 1000.0 * static_cast<double>(random() % 4) + 1e-4 * shapes::normal(random);
  }));
  all.push_back(shapes::make("tree_ties_d2", 1500, 300, 2, 1, [](std::mt19937_64& random) {
    return std::round(2 * shapes::normal(random));
  }));
  all.push_back(
      shapes::make("tree_equal_d2", 1500, 300, 2, 1, [](std::mt19937_64&) { return 3.25; }));
  all.push_back(shapes::make("tree_all_in_reach_d3", 1500, 300, 3, 1e3));
  all.push_back(shapes::make("tree_far_apart_d2", 1500, 300, 2, 1e-9));
  // Strongly correlated: whitened coordinates are small differences of large terms.
  Shape narrow = shapes::make("tree_correlated_d2", 1500, 300, 2, 1);
  narrow.diagonal = false;
  for (std::size_t i = 0; i < narrow.n; ++i) {
    narrow.x[narrow.n + i] = 100 * narrow.x[i] + 0.1 * narrow.x[narrow.n + i];
  }
  for (std::size_t i = 0; i < narrow.m; ++i) {
    narrow.points[narrow.m + i] = 100 * narrow.points[i] + 0.1 * narrow.points[narrow.m + i];
  }
  narrow.root = {0.5, 50, 0, 0.1};
  all.push_back(narrow);
  return all;
}

class KdTree : public testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(Data, KdTree, testing::ValuesIn(shapes::data_of_every_kind()), name_of);
INSTANTIATE_TEST_SUITE_P(Extremes, KdTree, testing::ValuesIn(shapes::extremes_of_every_kind()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Sizes, KdTree, testing::ValuesIn(shapes::sizes_of_every_kind()), name_of);
INSTANTIATE_TEST_SUITE_P(Dimensions, KdTree, testing::ValuesIn(shapes::dimensions_of_every_kind()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Trees, KdTree, testing::ValuesIn(trees_of_every_kind()), name_of);

class KdTreeThreads : public testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(Long, KdTreeThreads, testing::ValuesIn(shapes::work_for_three_threads()),
                         name_of);

}  // namespace

TEST_P(KdTree, AgreesWithTheOracle) {
  const Shape& shape = GetParam();
  const std::vector<std::size_t> which = some_of(shape.m);
  for (const KernelChoice& choice : compact_choices(shape)) {
    const oracle::ScaledKernel kernel(choice, shape.d, shape.root);
    const auto wanted =
        oracle::density(shape.samples(), shape.w, shape.evaluation(), which, kernel);
    for (const simd::Table* table : tables()) {
      SCOPED_TRACE(describe(choice) + ", " + table->name);
      const std::vector<double> one = density(shape, choice, run_on(table, 1));
      expect_close(one, which, wanted);
      for (const int threads : {2, 5}) {
        EXPECT_TRUE(same_bits(density(shape, choice, run_on(table, threads)), one))
            << threads << " threads";
      }
    }
  }
}

TEST_P(KdTreeThreads, GiveTheSameBitsAndAreUsed) {
  const Shape& shape = GetParam();
  const KernelChoice choice{Kernel::epanechnikov, KernelType::radial};
  for (const simd::Table* table : tables()) {
    SCOPED_TRACE(table->name);
    const std::vector<double> one = density(shape, choice, run_on(table, 1));
    EXPECT_EQ(threads_last_used(), 1);
    for (const int threads : common::thread_counts()) {
      EXPECT_TRUE(same_bits(density(shape, choice, run_on(table, threads)), one));
      EXPECT_EQ(threads_last_used(), threads);
    }
  }
}

TEST(KdTreeGrid, IsTheSameAsItsPoints) {
  Shape shape = shapes::tilted(shapes::make("grid", 300, 5 * 7 * 11, 3, 0.9));
  const std::vector<std::vector<double>> axes = axes_of_grid(shape);
  EvaluationPoints grid;
  for (const auto& axis : axes) grid.axes.push_back({axis.data(), axis.size()});
  const KernelChoice choice{Kernel::biweight, KernelType::radial};
  std::vector<double> out(shape.m);
  kdtree_density(shape.samples(), shape.weights(), grid, choice, shape.bandwidth(),
                 run_on(simd::baseline_table(), 2), {out.data(), out.size()});
  EXPECT_TRUE(same_bits(out, density(shape, choice, run_on(simd::baseline_table(), 1))));
}

TEST(KdTreeErrors, SizesKernelsAndBandwidthsThatDoNotFit) {
  const RunOptions options = run_on(simd::baseline_table(), 1);
  const Shape good = shapes::make("good", 10, 5, 2, 0.5);
  const KernelChoice product{Kernel::biweight, KernelType::product};
  EXPECT_EQ(density(good, product, options).size(), 5u);
  const auto kind_of = [&](const Shape& shape, KernelChoice choice) {
    try {
      density(shape, choice, options);
    } catch (const error& e) {
      return e.kind;
    }
    return ErrorKind::internal;
  };
  EXPECT_EQ(kind_of(good, {}), ErrorKind::input) << "the Gaussian kernel";
  EXPECT_EQ(kind_of(shapes::tilted(good), product), ErrorKind::input);
  Shape bad = good;
  bad.root[3] = 0;
  EXPECT_EQ(kind_of(bad, product), ErrorKind::input);
  bad = good;
  bad.w.pop_back();
  EXPECT_EQ(kind_of(bad, product), ErrorKind::internal) << "the view has n weights";
}

TEST(KdTreeEmpty, SumsAreZeroWithoutSamples) {
  const Shape shape = shapes::make("points", 10, 5, 2, 0.5);
  std::vector<double> out(5, -1.0);
  EvaluationPoints points;
  points.matrix = shape.evaluation();
  kdtree_density({shape.x.data(), 0, 2}, {}, points, {Kernel::biweight, KernelType::radial},
                 shape.bandwidth(), run_on(simd::baseline_table(), 1), {out.data(), 5});
  EXPECT_EQ(out, std::vector<double>(5, 0.0));
}

TEST(KdTreeReach, IsTheShareOfPairsAtTheEdgeOrInReach) {
  const auto share = [](const Shape& shape, Kernel kernel) {
    EvaluationPoints points;
    points.matrix = shape.evaluation();
    return share_of_pairs(shape.samples(), points, {kernel, KernelType::radial}, shape.bandwidth(),
                          run_on(simd::baseline_table(), 1));
  };
  const auto of = [](double h) {
    return shapes::make("spread", 20000, 20000, 2, h, shapes::uniform);
  };
  EXPECT_EQ(share(of(100), Kernel::triangular), 1) << "all in reach";
  EXPECT_LT(share(of(100), Kernel::epanechnikov), 0.01) << "no edge";
  // A disc of radius 0.1 in the unit square, and boxes of a side of about 0.06.
  EXPECT_GT(share(of(0.1), Kernel::triangular), 0.0314);
  EXPECT_LT(share(of(0.1), Kernel::triangular), 0.12);
  EXPECT_LE(share(of(0.1), Kernel::epanechnikov), share(of(0.1), Kernel::triangular));
  EXPECT_GT(share(of(1e-9), Kernel::epanechnikov), 0);
}

TEST(KdTreePoll, StopsTheCallAndLeavesTheEngineUsable) {
  struct Interrupt {};
  Shape shape = shapes::make("endless", 20000, 2000, 2, 5);
  const KernelChoice choice{Kernel::triangular, KernelType::radial};
  for (const int threads : {1, 2}) {
    RunOptions options = run_on(simd::baseline_table(), threads);
    double seen = -1;
    options.parallel.poll = [&](double fraction) {
      seen = fraction;
      if (fraction > 0) throw Interrupt();
    };
    const auto endless = [&] {
      for (;;) density(shape, choice, options);
    };
    EXPECT_THROW(endless(), Interrupt);
    EXPECT_GT(seen, 0);
    EXPECT_LT(seen, 1);
  }
  const Shape small = shapes::make("small", 50, 5, 2, 0.5);
  EXPECT_TRUE(same_bits(density(small, choice, run_on(simd::baseline_table(), 2)),
                        density(small, choice, run_on(simd::baseline_table(), 1))));
}
