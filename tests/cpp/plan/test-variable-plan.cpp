// Compact sums with a bandwidth for each sample or point by every engine, against sums in long
// double.
#include "common.hpp"
#include "core/base/error.hpp"
#include "core/plan/variable.hpp"
#include "oracle.hpp"
#include "points-expect.hpp"
#include "variable-data.hpp"

using namespace kestrel;
using namespace common;
using oracle::real;
using variable_data::Data;

namespace {

void expect_sums(const Data& data, Kernel kernel) {
  SCOPED_TRACE(std::string(kernel_name(kernel)) + ", d = " + std::to_string(data.d));
  EvaluationPoints at;
  at.matrix = {data.points.data(), data.m, data.d};
  for (const bool by_point : {false, true}) {
    const VariableTask task = data.task(kernel, by_point, at);
    const std::vector<std::size_t> which = some_of(data.m);
    std::vector<real> sums;
    for (const std::size_t i : which) sums.push_back(data.wanted(kernel, by_point, i));
    for (const std::string engine : {"direct", "kdtree"}) {
      SCOPED_TRACE(engine);
      std::vector<double> found(data.m), again(data.m);
      const auto run = [&](int threads, std::vector<double>* out) {
        variable_sums(task, engine, run_on(simd::baseline_table(), threads).parallel,
                      {out->data(), data.m});
      };
      run(1, &found);
      expect_close(found, which, sums);
      for (const int threads : thread_counts()) {
        run(threads, &again);
        EXPECT_TRUE(same_bits(again, found));
      }
    }
  }
}

}  // namespace

TEST(CompactVariable, SumsForEveryKernel) {
  for (std::size_t d = 1; d <= 3; ++d) {
    for (const double offset : {0.0, 1e9}) {
      const Data data(1500, 60, d, offset, offset > 0 ? 2 : 5);
      for (const Kernel kernel : kernels_where([](Kernel one) { return is_compact(one); })) {
        expect_sums(data, kernel);
      }
    }
    for (const std::size_t n : {1, 2, 65}) expect_sums(Data(n, 7, d, 0, 3), Kernel::biweight);
    expect_sums(Data(500, 30, d, 0, 1e6), Kernel::triweight);
    expect_sums(Data(500, 30, d, 0, 1e-3), Kernel::epanechnikov);
  }
}

// Windows are closed: on a lattice with bandwidths of a step or two, in nodes and pair by pair.
TEST(CompactVariable, CountsTheEdgeOfUniformKernels) {
  std::vector<double> lattice, steps;
  for (int i = 0; i < 300; ++i) {
    lattice.push_back(i);
    steps.push_back(49 + i % 2);
  }
  EvaluationPoints at;
  at.matrix = {lattice.data(), 300, 1};
  for (const bool by_point : {false, true}) {
    const VariableTask task{{lattice.data(), 300, 1}, Weights::ones(300),
                            {steps.data(), 300},      by_point,
                            Kernel::uniform,          at};
    for (const std::string engine : {"direct", "kdtree"}) {
      std::vector<double> found(300);
      variable_sums(task, engine, {}, {found.data(), 300});
      for (int i = 0; i < 300; ++i) {
        double wanted = 0;
        for (int j = 0; j < 300; ++j) {
          const int h = 49 + (by_point ? i : j) % 2;
          if (std::abs(i - j) <= h) wanted += 0.5 / h;
        }
        EXPECT_NEAR(found[static_cast<std::size_t>(i)], wanted, 1e-14);
      }
    }
  }
}

TEST(CompactVariable, TakesTheEngineThatFits) {
  const Data data(4000, 2000, 2, 0, 0.05);
  EvaluationPoints at, grid;
  at.matrix = {data.points.data(), data.m, 2};
  std::vector<double> axis;
  for (int i = 0; i < 101; ++i) axis.push_back(0.01 * i);
  grid.axes = {{axis.data(), 101}, {axis.data(), 101}};
  const MatrixView x{data.x.data(), data.n, 2};
  const Span<const double> h{data.of_samples.data(), data.n};
  const Weights w = Weights::ones(data.n);
  const VariableTask on_grid{x, w, h, false, Kernel::epanechnikov, grid};
  EXPECT_EQ(plan_variable(on_grid, "auto").engine, "scanline");
  EXPECT_EQ(plan_variable(on_grid, "scanline").engine, "scanline");
  EXPECT_EQ(plan_variable(on_grid, "kdtree").engine, "kdtree");
  const VariableTask at_points{x, w, h, false, Kernel::epanechnikov, at};
  EXPECT_EQ(plan_variable(at_points, "auto").engine, "kdtree");
  EXPECT_EQ(plan_variable(at_points, "direct").engine, "direct");
  EXPECT_THROW(plan_variable(at_points, "scanline"), error);
  axis[50] += 0.001;
  EXPECT_NE(plan_variable(on_grid, "auto").engine, "scanline");
  EXPECT_THROW(plan_variable(on_grid, "scanline"), error);
  // A few samples are no tree.
  const VariableTask few{{data.x.data(), 20, 1},
                         Weights::ones(20),
                         {data.of_samples.data(), 20},
                         false,
                         Kernel::biweight,
                         at};
  EvaluationPoints line;
  line.matrix = {data.points.data(), data.m, 1};
  const VariableTask of_few{few.x, few.w, few.h, false, Kernel::biweight, line};
  EXPECT_EQ(plan_variable(of_few, "auto").engine, "direct");
  std::vector<double> out(3);
  EXPECT_THROW(variable_sums(of_few, "direct", {}, {out.data(), 3}), error);
  EXPECT_THROW(variable_sums(of_few, "kdtree", {}, {out.data(), 3}), error);
}
