// Criteria of mixed data on a device: how fits are made of its sums, in an object that needs no
// CUDA (fake-cuda-mixed.cpp), against the CPU's.
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
  MixedKernel other = kernel_for(two, 1, false);
  other.order = 4;
  expect_refused(two, other);
  other.order = 2;
  other.continuous = Kernel::epanechnikov;
  expect_refused(two, other);
}
