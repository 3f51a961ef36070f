// Cross-validation of regression on a device: its sums of powers, compiled for the host in an
// object that needs no CUDA (fake-cuda-regression.cpp), against weighted least squares at every
// observation.
#include <cstdlib>

#include "core/base/error.hpp"
#include "gpu/loader.hpp"
#include "gpu/regression.hpp"
#include "regression-expect.hpp"

using namespace kestrel;
using common::run_on;
using lines::Data;
using lines::Line;
using oracle::real;
using namespace fits;

namespace {

class GpuRegression : public testing::TestWithParam<Line> {
 protected:
  void SetUp() override { set_gpu_object(FAKE_CUDA_GOOD, ""); }
};

INSTANTIATE_TEST_SUITE_P(Lines, GpuRegression, testing::ValuesIn(lines_to_fit()), name_of);

RunOptions plain() { return run_on(simd::find_table("auto")); }

CrossValidation on_device(const Line& line, const std::vector<double>& y,
                          const LocalKernel& kernel) {
  return gpu_cross_validate(sample_of(line, y), {&kernel.h, 1}, kernel.kernel, kernel.local_linear,
                            plain());
}

void expect_same(const CrossValidation& got, const CrossValidation& wanted) {
  EXPECT_EQ(got.unsupported, wanted.unsupported);
  for (std::size_t k = 0; k < wanted.squares.size(); ++k) {
    expect_near(got.squares[k], wanted.squares[k], 1e-12 * wanted.squares[k], "squares");
    expect_near(got.in_sample[k], wanted.in_sample[k], 1e-12 * wanted.in_sample[k] + 1e-24,
                "squares in the sample");
    expect_near(got.trace[k], wanted.trace[k], 1e-12 * wanted.trace[k], "trace");
  }
}

}  // namespace

TEST_P(GpuRegression, SumsOfResiduals) {
  const Line& line = GetParam();
  const std::vector<double> y = lines::response(line);
  const Data data = lines::sorted(line, y);
  for_every_fit(line, [&](const LocalKernel& kernel) {
    expect_sums(on_device(line, y, kernel), wanted_residuals(data, kernel), line);
  });
}

/// Like the test of that name in test-regression-cases.cpp.
TEST(GpuRegressionCurve, ATrendCostsNoDigits) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  const Line line = lines::make("trend", 200, shapes::normal);
  const std::vector<double> y = steep_response(line);
  for (const Kernel kernel : kernels) {
    const LocalKernel choice{kernel, 5.4, true};
    SCOPED_TRACE(describe(choice));
    const real wanted = wanted_residuals(lines::sorted(line, y), choice).squares;
    expect_near(on_device(line, y, choice).squares[0], wanted, 2e-13 * wanted, "squares");
  }
}

/// Like the test of that name in test-regression.cpp.
TEST_P(GpuRegression, LargeResponses) {
  const Line& line = GetParam();
  for (const bool trend : {false, true}) {
    SCOPED_TRACE(trend ? "trend" : "offset");
    const std::vector<double> y = large_response(line, trend);
    const Data data = lines::sorted(line, y);
    std::size_t next = 0;
    for_every_fit(line, [&](const LocalKernel& kernel) {
      if (++next % 3 != 0) return;
      const oracle::Residuals wanted = wanted_residuals(data, kernel);
      const CrossValidation got = on_device(line, y, kernel);
      EXPECT_EQ(got.unsupported[0], wanted.unsupported);
      expect_near(got.squares[0], wanted.squares, std::max(1e-12 * wanted.squares, wanted.rounding),
                  "squares");
    });
  }
}

TEST(GpuRegressionCurve, IsThatOfTheCpuForManyObservations) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  for (const Kernel kernel : kernels) {
    for (const Line& line : lines::of_every_kind(kernel == Kernel::gaussian ? 400 : 1000)) {
      if (line.name.find("zero") != std::string::npos) continue;
      SCOPED_TRACE(line.name);
      const std::vector<double> y = lines::response(line);
      const std::vector<double> h = lines::bandwidths(line, 4);
      for (const bool local_linear : {false, true}) {
        SCOPED_TRACE(describe({kernel, 0.0, local_linear}));
        expect_same(
            gpu_cross_validate(sample_of(line, y), lines::span(h), kernel, local_linear, plain()),
            cross_validate(sample_of(line, y), lines::span(h), kernel, local_linear, plain()));
      }
    }
  }
}

TEST(GpuRegressionCurve, TurnsCodesIntoProblemsAndCarriesOutWhatThePollThrows) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  const Line line = lines::make("normal", 50, shapes::normal);
  const std::vector<double> y = lines::response(line);
  setenv("FAKE_CUDA_REGRESSION", "2", 1);
  GpuProblem problem = GpuProblem::failed;
  try {
    on_device(line, y, {Kernel::epanechnikov, 1.0, false});
  } catch (const gpu_error& thrown) {
    problem = thrown.problem;
  }
  unsetenv("FAKE_CUDA_REGRESSION");
  EXPECT_EQ(problem, GpuProblem::memory);
  RunOptions options = plain();
  options.parallel.poll = [](double fraction) {
    if (fraction > 0.5) throw std::runtime_error("enough");
  };
  const std::vector<double> h(10, 1.0);
  EXPECT_THROW(
      gpu_cross_validate(sample_of(line, y), lines::span(h), Kernel::uniform, true, options),
      std::runtime_error);
}

TEST(GpuRegressionCurve, RefusesWhatItCannotCompute) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  const Line line = lines::make("normal", 50, shapes::normal);
  const std::vector<double> y = lines::response(line);
  const LocalKernel narrow{Kernel::triweight, 1e-40, true};
  try {
    on_device(line, y, narrow);
    ADD_FAILURE() << "no error";
  } catch (const gpu_error& thrown) {
    EXPECT_EQ(thrown.problem, GpuProblem::unsuited);
  }
  EXPECT_THROW(on_device(line, y, {Kernel::cosine, 1.0, false}), error);
  EXPECT_THROW(on_device(line, y, {Kernel::uniform, 0.0, false}), error);
  const std::vector<double> less(y.begin(), y.end() - 1);
  EXPECT_THROW(on_device(line, less, {Kernel::uniform, 1.0, false}), error);
}
