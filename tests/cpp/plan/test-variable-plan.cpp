// Compact sums with a bandwidth for each sample or point by every engine, against sums in long
// double.
#include "common.hpp"
#include "core/base/error.hpp"
#include "core/plan/variable.hpp"
#include "oracle.hpp"
#include "points-expect.hpp"

using namespace kestrel;
using namespace common;
using oracle::real;

namespace {

/// Samples in the unit cube, some tied, some far away, and points in and about it.
struct Data {
  std::size_t n, m, d;
  std::vector<double> x, w, of_samples, points, of_points;

  Data(std::size_t samples, std::size_t count, std::size_t dimension, double offset, double widest)
      : n(samples), m(count), d(dimension) {
    std::mt19937_64 random(n + d);
    for (std::size_t i = 0; i < n * d; ++i) {
      const double at = i % 11 == 3 && i > 0 ? x.back() - offset : shapes::uniform(random);
      x.push_back(offset + (i % 97 == 50 ? 100 * at : at));
    }
    for (std::size_t i = 0; i < m * d; ++i) {
      points.push_back(offset + 1.2 * shapes::uniform(random) - 0.1);
    }
    for (std::size_t i = 0; i < n; ++i) w.push_back(static_cast<double>(i % 4) / 3);
    const auto width = [&] { return widest * std::pow(10.0, -2 * shapes::uniform(random)); };
    for (std::size_t i = 0; i < n; ++i) of_samples.push_back(width());
    for (std::size_t i = 0; i < m; ++i) of_points.push_back(width());
  }
  real wanted(Kernel kernel, bool by_point, std::size_t i) const {
    real sum = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const real width = by_point ? of_points[i] : of_samples[j];
      real square = 0;
      for (std::size_t k = 0; k < d; ++k) {
        const real u = (real{points[k * m + i]} - x[k * n + j]) / width;
        square += u * u;
      }
      if (square < 1 || (kernel == Kernel::uniform && square == 1)) {
        sum += w[j] * oracle::profile(kernel, std::sqrt(square)) /
               oracle::integer_power(width, static_cast<int>(d));
      }
    }
    return unit_scale(kernel, d) * sum;
  }
  void expect_sums(Kernel kernel) const {
    SCOPED_TRACE(std::string(kernel_name(kernel)) + ", d = " + std::to_string(d));
    EvaluationPoints at;
    at.matrix = {points.data(), m, d};
    for (const bool by_point : {false, true}) {
      const std::vector<double>& h = by_point ? of_points : of_samples;
      const VariableTask task{{x.data(), n, d}, {w.data(), n}, {h.data(), h.size()},
                              by_point,         kernel,        at};
      const std::vector<std::size_t> which = some_of(m);
      std::vector<real> sums;
      for (const std::size_t i : which) sums.push_back(wanted(kernel, by_point, i));
      for (const std::string engine : {"direct", "kdtree"}) {
        SCOPED_TRACE(engine);
        std::vector<double> found(m), again(m);
        const auto run = [&](int threads, std::vector<double>* out) {
          variable_sums(task, engine, run_on(simd::baseline_table(), threads).parallel,
                        {out->data(), m});
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
};

}  // namespace

TEST(CompactVariable, SumsForEveryKernel) {
  for (std::size_t d = 1; d <= 3; ++d) {
    for (const double offset : {0.0, 1e9}) {
      const Data data(1500, 60, d, offset, offset > 0 ? 2 : 5);
      for (const Kernel kernel : kernels_where([](Kernel one) { return is_compact(one); })) {
        data.expect_sums(kernel);
      }
    }
    for (const std::size_t n : {1, 2, 65}) Data(n, 7, d, 0, 3).expect_sums(Kernel::biweight);
    Data(500, 30, d, 0, 1e6).expect_sums(Kernel::triweight);
    Data(500, 30, d, 0, 1e-3).expect_sums(Kernel::epanechnikov);
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
  EXPECT_EQ(variable_engine(on_grid, "auto"), "scanline");
  EXPECT_EQ(variable_engine(on_grid, "scanline"), "scanline");
  EXPECT_EQ(variable_engine(on_grid, "kdtree"), "kdtree");
  const VariableTask at_points{x, w, h, false, Kernel::epanechnikov, at};
  EXPECT_EQ(variable_engine(at_points, "auto"), "kdtree");
  EXPECT_EQ(variable_engine(at_points, "direct"), "direct");
  EXPECT_THROW(variable_engine(at_points, "scanline"), error);
  axis[50] += 0.001;
  EXPECT_NE(variable_engine(on_grid, "auto"), "scanline");
  EXPECT_THROW(variable_engine(on_grid, "scanline"), error);
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
  EXPECT_EQ(variable_engine(of_few, "auto"), "direct");
  std::vector<double> out(3);
  EXPECT_THROW(variable_sums(of_few, "direct", {}, {out.data(), 3}), error);
  EXPECT_THROW(variable_sums(of_few, "kdtree", {}, {out.data(), 3}), error);
}
