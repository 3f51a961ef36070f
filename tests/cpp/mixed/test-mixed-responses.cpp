// Sums of many responses, and smooth coefficients, beside the fits of regressions.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/mixed/mixed_coefficients.hpp"
#include "core/mixed/mixed_responses.hpp"
#include "mixed-data.hpp"

using namespace kestrel;

namespace {

using namespace mixed_data;

MixedKernel kernel_of(const Data& data, Kernel continuous, int order, bool linear) {
  MixedKernel kernel;
  kernel.continuous = continuous;
  kernel.order = order;
  kernel.local_linear = linear;
  kernel.h.assign(data.p, order == 2 ? 1.4 : 2.9);
  kernel.lambda = {0.2, 0.4};
  return kernel;
}

std::vector<MixedKernel> kernels_of(const Data& data) {
  std::vector<MixedKernel> all;
  for (const bool linear : {false, true}) {
    all.push_back(kernel_of(data, Kernel::gaussian, 2, linear));
    all.push_back(kernel_of(data, Kernel::epanechnikov, 2, linear));
    all.push_back(kernel_of(data, Kernel::gaussian, 4, linear));
  }
  return all;
}

/// Responses minus what the sample takes off: the plane of least squares, or the mean.
std::vector<double> rest_of(const Data& data, const MixedSample& sample, bool linear) {
  std::vector<double> rest(data.n);
  for (std::size_t i = 0; i < data.n; ++i) rest[sample.given(i)] = sample.y(linear)[i];
  return rest;
}

double base_at(const Data& data, const MixedSample& sample, bool linear, std::size_t i) {
  std::vector<double> point(data.p);
  for (std::size_t c = 0; c < data.p; ++c) point[c] = data.x[c * data.n + i];
  return sample.base(linear, point.data());
}

void expect_near(double got, double wanted, double size) {
  if (std::isnan(wanted)) {
    EXPECT_TRUE(std::isnan(got));
  } else {
    EXPECT_NEAR(got, wanted, 1e-9 * (size + std::fabs(wanted)));
  }
}

double sum_of_weights(const Data& data, const MixedKernel& kernel, std::size_t i) {
  real sum = 0;
  for (std::size_t j = 0; j < data.n; ++j) sum += weight(data, kernel, j, i);
  return static_cast<double>(sum);
}

class MixedMany : public testing::TestWithParam<Data> {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Shapes, MixedMany, testing::ValuesIn(shapes_of_data()), name_of);

TEST_P(MixedMany, ResponsesHaveTheFitsOfEach) {
  const Data& data = GetParam();
  const MixedSample sample = data.sample();
  for (const MixedKernel& kernel : kernels_of(data)) {
    const bool linear = kernel.local_linear;
    // The second response is half the first.
    std::vector<double> y = rest_of(data, sample, linear);
    y.resize(2 * data.n);
    for (std::size_t i = 0; i < data.n; ++i) y[data.n + i] = y[i] / 2;
    for (const simd::Table* table : common::tables()) {
      SCOPED_TRACE(std::string(table->name) + ", order " + std::to_string(kernel.order));
      const RunOptions options = common::run_on(table);
      const MixedFits fits = mixed_fits(sample, sample, kernel, {}, true, options);
      const MixedResiduals residuals = mixed_residuals(sample, kernel, options);
      MixedResponses of;
      of.y = {y.data(), data.n, 2};
      const std::vector<double> fit = mixed_responses(sample, sample, kernel, of, options);
      of.leave_out = true;
      const std::vector<double> without = mixed_responses(sample, sample, kernel, of, options);
      for (std::size_t i = 0; i < data.n; ++i) {
        const double base = base_at(data, sample, linear, i);
        if (fits.ridged == 0) expect_near(fit[i] + base, fits.mean[i], 1);
        expect_near(fit[data.n + i], fit[i] / 2, 1e-3);
        if (linear) continue;  // those left out may be singular
        expect_near(without[i] + base, data.y[i] + residuals.deviation[i], 1);
      }
      for (std::size_t c = 0; c < data.p; ++c) {
        of.functional = MixedFunctional::slope;
        of.column = c;
        of.leave_out = false;
        const std::vector<double> slope = mixed_responses(sample, sample, kernel, of, options);
        for (std::size_t i = 0; i < data.n && fits.ridged == 0; ++i) {
          expect_near(slope[i] + sample.base_slope(linear, c), fits.gradient[i * data.p + c], 10);
        }
      }
      of.functional = MixedFunctional::sum;
      of.leave_out = false;
      const std::vector<double> ones(data.n, 1.0);
      of.y = {ones.data(), data.n, 1};
      const std::vector<double> sum = mixed_responses(sample, sample, kernel, of, options);
      for (std::size_t i = 0; i < data.n; ++i)
        expect_near(sum[i], sum_of_weights(data, kernel, i), 0);
      for (const int threads : common::thread_counts()) {
        EXPECT_TRUE(common::same_bits(
            sum, mixed_responses(sample, sample, kernel, of, common::run_on(table, threads))));
      }
    }
  }
}

/// With the columns of the kernel as x, coefficients are local lines.
TEST_P(MixedMany, CoefficientsByTheColumnsAreLocalLines) {
  const Data& data = GetParam();
  const MixedSample sample = data.sample();
  const std::vector<double> rest = rest_of(data, sample, true);
  const MixedDesign design{{data.x.data(), data.n, data.p}, {rest.data(), data.n}};
  for (const MixedKernel& kernel : kernels_of(data)) {
    if (!kernel.local_linear) continue;
    for (const simd::Table* table : common::tables()) {
      SCOPED_TRACE(std::string(table->name) + ", order " + std::to_string(kernel.order));
      const RunOptions options = common::run_on(table);
      const MixedCriterion lines =
          mixed_criterion(sample, kernel, MixedMethod::least_squares, true, options);
      const MixedCriterion got = mixed_coefficient_criterion(sample, kernel, design, true, options);
      EXPECT_EQ(got.unsupported, lines.unsupported);
      EXPECT_EQ(got.ridged, lines.ridged);
      if (lines.ridged > 0) continue;
      EXPECT_NEAR(got.value, lines.value, 1e-8 * lines.value);
      double size = 0;
      for (const double by : lines.gradient) size = std::max(size, std::fabs(by));
      for (std::size_t k = 0; k < lines.gradient.size(); ++k) {
        EXPECT_NEAR(got.gradient[k], lines.gradient[k], 1e-6 * (size + lines.value)) << k;
      }
      const std::vector<double> errors(data.n, 0.3);
      const Span<const double> e{errors.data(), data.n};
      const MixedFits fits = mixed_fits(sample, sample, kernel, e, true, options);
      const MixedCoefficients found =
          mixed_coefficients(sample, sample, kernel, design, design.x, e, false, options);
      for (std::size_t i = 0; i < data.n; ++i) {
        expect_near(found.mean[i] + base_at(data, sample, true, i), fits.mean[i], 1);
        expect_near(found.variance[i], fits.variance[i], 1e-3);
        for (std::size_t c = 0; c < data.p; ++c) {
          expect_near(found.beta[i * (data.p + 1) + c + 1] + sample.base_slope(true, c),
                      fits.gradient[i * data.p + c], 10);
          expect_near(found.beta_variance[i * (data.p + 1) + c + 1],
                      fits.gradient_variance[i * data.p + c], 1e-2);
        }
      }
      const MixedCoefficients again = mixed_coefficients(sample, sample, kernel, design, design.x,
                                                         e, false, common::run_on(table, 3));
      EXPECT_TRUE(common::same_bits(again.beta, found.beta));
      EXPECT_TRUE(common::same_bits(again.beta_variance, found.beta_variance));
    }
  }
}

TEST(MixedManyErrors, DataOfOtherSizesAreRefused) {
  const Data data = shapes_of_data().front();
  const MixedSample sample = data.sample();
  const MixedKernel kernel = kernel_of(data, Kernel::gaussian, 2, false);
  const RunOptions options = common::run_on(common::tables().front());
  const std::vector<double> few(3, 1.0);
  MixedResponses of;
  of.y = {few.data(), 3, 1};
  EXPECT_THROW(mixed_responses(sample, sample, kernel, of, options), error);
  const MixedDesign design{{few.data(), 3, 1}, {few.data(), 3}};
  EXPECT_THROW(mixed_coefficient_criterion(sample, kernel, design, false, options), error);
}
