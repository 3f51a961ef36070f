// Mixed data on a device: how criteria, fits and densities are made of its sums, in an object that
// needs no CUDA (fake-cuda-mixed.cpp), against the CPU's.
#include <gtest/gtest.h>

#include <cstdlib>

#include "common.hpp"
#include "gpu/mixed_call.hpp"
#include "mixed-data.hpp"

using namespace kestrel;
using common::run_on;
using mixed_data::Data;

namespace {

class GpuMixedCriteria : public testing::TestWithParam<Data> {
 protected:
  void SetUp() override { set_gpu_object(FAKE_CUDA_GOOD, ""); }
};

INSTANTIATE_TEST_SUITE_P(Shapes, GpuMixedCriteria, testing::ValuesIn(mixed_data::shapes_of_data()),
                         mixed_data::name_of);

MixedKernel kernel_for(const Data& data, double h, bool linear) {
  MixedKernel kernel;
  for (std::size_t c = 0; c < data.p; ++c) {
    kernel.h.push_back(c == 1 && h > 1 ? HUGE_VAL : h * (1 + 0.3 * static_cast<double>(c)));
  }
  kernel.lambda = {0.2, 0.4};
  kernel.local_linear = linear;
  return kernel;
}

void expect_same(const MixedCriterion& got, const MixedCriterion& wanted) {
  EXPECT_EQ(got.unsupported, wanted.unsupported);
  EXPECT_EQ(got.ridged, wanted.ridged);
  if (std::isinf(wanted.value)) {
    EXPECT_EQ(got.value, wanted.value);
    return;
  }
  EXPECT_NEAR(got.value, wanted.value, 1e-12 * (1 + std::fabs(wanted.value)));
  ASSERT_EQ(got.gradient.size(), wanted.gradient.size());
  double largest = std::fabs(wanted.value);
  for (const double by : wanted.gradient) largest = std::fmax(largest, std::fabs(by));
  for (std::size_t k = 0; k < got.gradient.size(); ++k) {
    EXPECT_NEAR(got.gradient[k], wanted.gradient[k], 1e-11 * (1 + largest)) << k;
  }
}

/// A call on a device, whose problems are counted.
struct Call {
  explicit Call(const Data& data, const MixedKernel& kernel, Backend backend = Backend::cuda)
      : call(data.sample()) {
    call.choose(GpuUse(backend, [this](const gpu_error&) { ++problems; }), kernel, 1, {});
  }
  int problems = 0;
  MixedCall call;
};

}  // namespace

TEST_P(GpuMixedCriteria, AreThoseOfTheCpu) {
  const Data& data = GetParam();
  if (data.p == 0) return;
  const MixedSample sample = data.sample();
  const RunOptions options = run_on(simd::find_table("auto"));
  for (const bool linear : {false, true}) {
    for (const double h : {0.02, 0.7, 3.0}) {
      const MixedKernel kernel = kernel_for(data, h, linear);
      Call on_device(data, kernel);
      for (const MixedMethod method : {MixedMethod::least_squares, MixedMethod::aic}) {
        for (const bool gradient : {false, true}) {
          SCOPED_TRACE(std::to_string(h) + (linear ? " ll" : " lc"));
          expect_same(on_device.call.criterion(kernel, method, gradient, options),
                      mixed_criterion(sample, kernel, method, gradient, options));
        }
      }
      EXPECT_TRUE(on_device.call.use().on_device());
      EXPECT_EQ(on_device.problems, 0);
    }
  }
}

namespace {

/// All kernels and orders that lc regressions and densities have.
std::vector<MixedKernel> all_kernels(const Data& data, double h) {
  std::vector<MixedKernel> all;
  for (const Kernel continuous : mixed_data::kContinuous) {
    for (const int order : {2, 4, 6, 8}) {
      if (!mixed_data::has_order(continuous, order)) continue;
      MixedKernel kernel = kernel_for(data, h, false);
      kernel.continuous = continuous;
      kernel.order = order;
      if (order == 4) kernel.factor = FactorKernel::li_racine;
      if (order == 6) kernel.ordered = OrderedKernel::wang_van_ryzin;
      all.push_back(kernel);
    }
  }
  return all;
}

std::string words_of(const MixedKernel& kernel) {
  return std::string(common::kernel_name(kernel.continuous)) + " " + std::to_string(kernel.order) +
         " " + std::to_string(kernel.h[0]);
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::fmax(largest, std::fabs(value));  // not NaN
  return largest;
}

/// Numbers beside their largest magnitude; NaN where NaN is wanted.
void expect_near(const std::vector<double>& got, const std::vector<double>& wanted,
                 double allowed) {
  ASSERT_EQ(got.size(), wanted.size());
  const double largest = largest_of(wanted);
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << i;
    } else {
      EXPECT_NEAR(got[i], wanted[i], allowed * largest) << i;
    }
  }
}

/// Fewer points than samples, other levels among them, and one far away.
Data points_near(const Data& data) {
  const auto draw = [](std::mt19937_64& random, std::size_t) { return shapes::normal(random); };
  Data points = mixed_data::make("points", 9, data.p, draw);
  points.factor[2] = 0;
  if (data.p > 0) points.x[4] = data.x[0] + 60;
  for (std::size_t c = 0; c < data.p; ++c) points.x[c * points.n] = data.x[c * data.n];
  return points;
}

}  // namespace

TEST_P(GpuMixedCriteria, WithEveryKernel) {
  const Data& data = GetParam();
  if (data.p == 0) return;
  const MixedSample sample = data.sample();
  const RunOptions options = run_on(simd::find_table("auto"));
  for (const double h : {0.3, 3.0}) {
    for (const MixedKernel& kernel : all_kernels(data, h)) {
      SCOPED_TRACE(words_of(kernel));
      Call on_device(data, kernel);
      expect_same(on_device.call.criterion(kernel, MixedMethod::aic, true, options),
                  mixed_criterion(sample, kernel, MixedMethod::aic, true, options));
      EXPECT_EQ(on_device.problems, 0);
    }
  }
}

TEST_P(GpuMixedCriteria, OfDensities) {
  const Data& data = GetParam();
  if (data.p == 0) return;
  const MixedSample sample = mixed_data::sample_of(data);
  const RunOptions options = run_on(simd::find_table("auto"));
  MixedGiven none(data.p + 2, false), first = none;
  first[0] = first[data.p] = true;
  for (const double h : {0.02, 0.7}) {
    for (const MixedKernel& kernel : all_kernels(data, h)) {
      SCOPED_TRACE(words_of(kernel));
      MixedCall call(mixed_data::sample_of(data));
      call.choose(GpuUse(Backend::cuda, [](const gpu_error&) { FAIL(); }), kernel, 1, {});
      for (const bool gradient : {false, true}) {
        for (const MixedGiven& given : {none, first}) {
          expect_same(call.log_likelihood(kernel, given, gradient, options),
                      mixed_log_likelihood(sample, kernel, given, gradient, options));
        }
        expect_same(call.squared_error(kernel, gradient, options),
                    mixed_squared_error(sample, kernel, gradient, options));
      }
    }
  }
}

TEST_P(GpuMixedCriteria, FitsAndDensitiesAtPoints) {
  const Data& data = GetParam();
  if (data.p == 0) return;
  const RunOptions options = run_on(simd::find_table("auto"));
  const Data near = points_near(data);
  const MixedSample points(near.rows(), {1, 1}, {}, {}, {});
  std::vector<double> error2;
  for (std::size_t i = 0; i < data.n; ++i) error2.push_back(data.y[i] * data.y[i] / 1e3);
  const Span<const double> errors{error2.data(), error2.size()};
  const MixedGiven none(data.p + 2, false);
  for (MixedKernel kernel : all_kernels(data, 0.7)) {
    for (const bool linear : {false, true}) {
      if (linear && kernel.order > 2) continue;
      kernel.local_linear = linear;
      SCOPED_TRACE(words_of(kernel) + (linear ? " ll" : " lc"));
      Call on_device(data, kernel);
      const MixedSample& sample = on_device.call.sample();
      for (const MixedSample* at : {&points, &sample}) {
        const MixedFits got = on_device.call.fits(*at, kernel, errors, false, options);
        const MixedFits wanted = mixed_fits(sample, *at, kernel, errors, false, options);
        // Where weights of both signs cancel, a fit is far from all responses.
        const double lost = std::fmax(1.0, largest_of(wanted.mean) / largest_of(data.y));
        expect_near(got.mean, wanted.mean, 1e-12 * lost);
        expect_near(got.variance, wanted.variance, 1e-11 * lost);
        EXPECT_EQ(got.ridged, wanted.ridged);
      }
      const MixedResiduals got = on_device.call.residuals(kernel, options);
      const MixedResiduals wanted = mixed_residuals(sample, kernel, options);
      const double lost = std::fmax(1.0, largest_of(wanted.deviation) / largest_of(data.y));
      expect_near(got.deviation, wanted.deviation, 1e-12 * lost);
      expect_near(got.leverage, wanted.leverage, 1e-12 * lost);
      EXPECT_EQ(on_device.problems, 0);
      if (linear) continue;
      for (const MixedSample* at : {&points, &sample}) {
        const MixedDensities of = on_device.call.densities(*at, kernel, none, false, options);
        const MixedDensities cpu = mixed_densities(sample, *at, kernel, none, false, options);
        expect_near(of.density, cpu.density, 1e-13);
        expect_near(of.variance, cpu.variance, 1e-12);
      }
    }
  }
}

class GpuMixedWeighted : public testing::TestWithParam<Data> {};

INSTANTIATE_TEST_SUITE_P(Shapes, GpuMixedWeighted, testing::ValuesIn(mixed_data::weighted_shapes()),
                         mixed_data::name_of);

TEST_P(GpuMixedWeighted, AreThoseOfTheCpu) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  const Data& data = GetParam();
  if (data.p == 0) return;
  const MixedSample sample = data.sample();
  const RunOptions options = run_on(simd::find_table("auto"));
  for (const Kernel continuous : {Kernel::gaussian, Kernel::epanechnikov}) {
    for (const bool linear : {false, true}) {
      MixedKernel kernel = kernel_for(data, 0.7, linear);
      kernel.continuous = continuous;
      Call on_device(data, kernel);
      for (const MixedMethod method : {MixedMethod::least_squares, MixedMethod::aic}) {
        expect_same(on_device.call.criterion(kernel, method, true, options),
                    mixed_criterion(sample, kernel, method, true, options));
      }
      const MixedResiduals got = on_device.call.residuals(kernel, options);
      const MixedResiduals wanted = mixed_residuals(sample, kernel, options);
      expect_near(got.deviation, wanted.deviation, 1e-12);
      expect_near(got.leverage, wanted.leverage, 1e-12);
    }
  }
}

TEST(GpuMixedCall, TheCpuTakesOverWhenTheDeviceFails) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  const Data data = mixed_data::shapes_of_data()[3];
  const MixedKernel kernel = kernel_for(data, 0.7, true);
  const RunOptions options = run_on(simd::find_table("auto"));
  const MixedCriterion wanted =
      mixed_criterion(data.sample(), kernel, MixedMethod::aic, true, options);
  for (const char* variable :
       {"FAKE_CUDA_MIXED_OPEN", "FAKE_CUDA_MIXED", "FAKE_CUDA_MIXED_CHANGES"}) {
    Call on_device(data, kernel);
    setenv(variable, "2", 1);
    const MixedCriterion got = on_device.call.criterion(kernel, MixedMethod::aic, true, options);
    unsetenv(variable);
    EXPECT_EQ(on_device.problems, 1) << variable;
    EXPECT_FALSE(on_device.call.use().on_device());
    EXPECT_EQ(got.value, wanted.value);
    EXPECT_EQ(got.gradient, wanted.gradient);
  }
}

TEST(GpuMixedCall, SamplesFarAway) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  Data data = mixed_data::shapes_of_data()[3];
  data.x[5] = 1e300;
  const RunOptions options = run_on(simd::find_table("auto"));
  const MixedKernel kernel = kernel_for(data, 0.7, false);
  Call on_device(data, kernel);
  expect_same(on_device.call.criterion(kernel, MixedMethod::least_squares, true, options),
              mixed_criterion(data.sample(), kernel, MixedMethod::least_squares, true, options));
  EXPECT_EQ(on_device.problems, 0);
}

TEST(GpuMixedCall, WhatTheDeviceDoesNotTake) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  const auto draw = [](std::mt19937_64& random, std::size_t) { return shapes::normal(random); };
  const RunOptions options = run_on(simd::find_table("auto"));
  const auto expect_refused = [&](const Data& data, const MixedKernel& kernel) {
    Call asked(data, kernel), chosen(data, kernel, Backend::automatic);
    asked.call.criterion(kernel, MixedMethod::least_squares, false, options);
    EXPECT_EQ(asked.problems, 1);
    EXPECT_FALSE(chosen.call.use().on_device());
    EXPECT_EQ(chosen.problems, 0);
  };
  const Data two = mixed_data::make("two", 20, 2, draw),
             seven = mixed_data::make("seven", 20, 7, draw);
  expect_refused(seven, kernel_for(seven, 1, false));
  const Data none = mixed_data::make("none", 20, 0, draw);
  expect_refused(none, kernel_for(none, 1, false));
  MixedKernel other = kernel_for(two, 1, true);
  other.order = 4;
  expect_refused(two, other);
  other = kernel_for(two, 1, false);
  other.type = BandwidthType::generalized_nn;
  other.h = {3, 3};
  expect_refused(two, other);
}
