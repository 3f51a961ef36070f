// Gaussian sums on grids with a bandwidth for each sample, against sums in long double.
#include "common.hpp"
#include "core/base/error.hpp"
#include "core/direct/variable.hpp"
#include "oracle.hpp"
#include "points-expect.hpp"
#include "shapes.hpp"

using namespace kestrel;
using namespace common;
using oracle::real;
using shapes::Shape;

namespace {

/// Bandwidths over three decades, and axes that reach beyond the samples.
struct Task {
  Shape shape;
  std::vector<double> h;
  std::vector<std::vector<double>> axis;
  std::vector<Span<const double>> axes;

  Task(const Shape& of, std::size_t length) : shape(of) {
    for (std::size_t j = 0; j < shape.n; ++j) {
      h.push_back(shape.root[0] * std::pow(10.0, static_cast<double>(j % 7) / 2 - 2));
    }
    for (std::size_t k = 0; k < shape.d; ++k) {
      const auto first = shape.x.begin() + static_cast<std::ptrdiff_t>(k * shape.n);
      const auto range = std::minmax_element(first, first + static_cast<std::ptrdiff_t>(shape.n));
      const double low = *range.first - 2 * shape.root[0];
      const double step = (*range.second - low + shape.root[0]) / static_cast<double>(length + k);
      std::vector<double> points;
      for (std::size_t i = 0; i < length + k; ++i) {
        points.push_back(low + step * static_cast<double>(i));
      }
      // One point is a sample, so that narrow kernels count, too.
      points[(length + k) / 2] =
          std::min(std::max(first[0], points[(length + k) / 2]), points[(length + k) / 2 + 1]);
      axis.push_back(points);
    }
    for (const std::vector<double>& points : axis) axes.push_back({points.data(), points.size()});
  }
  std::size_t size() const {
    std::size_t all = 1;
    for (const std::vector<double>& points : axis) all *= points.size();
    return all;
  }
  std::vector<double> run(const RunOptions& how) const {
    std::vector<double> out(size(), -1.0);
    variable_grid(shape.samples(), shape.weights(), {h.data(), h.size()}, axes, how,
                  {out.data(), out.size()});
    return out;
  }
  real wanted(std::size_t point) const {
    std::vector<real> at;
    for (const std::vector<double>& points : axis) {
      at.push_back(points[point % points.size()]);
      point /= points.size();
    }
    real sum = 0;
    for (std::size_t j = 0; j < shape.n; ++j) {
      real term = shape.w[j];
      for (std::size_t k = 0; k < shape.d; ++k) {
        const real u = (at[k] - shape.x[k * shape.n + j]) / h[j];
        term *= std::exp(-u * u / 2) / (h[j] * std::sqrt(2 * oracle::pi));
      }
      sum += term;
    }
    return sum;
  }
};

std::vector<Shape> shapes_of_grids() {
  std::vector<Shape> all;
  for (const Shape& shape : shapes::data_of_every_kind()) {
    if (shape.d <= 3) all.push_back(shape);
  }
  // Around the samples whose factors are kept at a time.
  for (const std::size_t n : {1, 2, 31, 33, 511, 512, 513, 1100}) {
    all.push_back(shapes::make("n" + std::to_string(n), n, 1, 2, 0.3));
  }
  return all;
}

class Variable : public testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(Shapes, Variable, testing::ValuesIn(shapes_of_grids()), name_of);

}  // namespace

void expect_grid(const Task& task) {
  std::vector<real> wanted(task.size());
  real largest = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    wanted[i] = task.wanted(i);
    largest = std::max(largest, wanted[i]);
  }
  for (const simd::Table* table : tables()) {
    SCOPED_TRACE(table->name);
    const std::vector<double> got = task.run(run_on(table, 1));
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_LE(std::fabs(got[i] - wanted[i]), 1e-12 * largest) << i;
    }
    for (const int threads : thread_counts_of(table)) {
      EXPECT_TRUE(same_bits(task.run(run_on(table, threads)), got));
    }
  }
}

TEST_P(Variable, GridsAgreeWithTheOracle) { expect_grid(Task(GetParam(), 9)); }

// Products of matrices. Axes have as many points as blocks of them, or one less or more.
TEST_P(Variable, WideKernelsAgreeWithTheOracle) {
  Task task(GetParam(), GetParam().d == 1 ? 47 : GetParam().d == 2 ? 24 : 6);
  for (std::size_t j = 0; j < task.h.size(); ++j) {
    task.h[j] = (task.axis[0].back() - task.axis[0][0]) * (j % 5 == 0 ? 0.02 : 0.3);
  }
  expect_grid(task);
}

TEST(Variable, RefusesSizesThatDoNotMatch) {
  Task task(shapes::make("few", 5, 1, 2, 0.3), 4);
  task.h.pop_back();
  EXPECT_THROW(task.run(run_on(tables()[0], 1)), error);
}
