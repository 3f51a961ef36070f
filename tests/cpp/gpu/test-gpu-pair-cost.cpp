// What sums over pairs cost on a device, and where they are computed.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "gpu/device_pairs.hpp"
#include "gpu/pair_cost.hpp"

using namespace kestrel;

TEST(GpuPairCost, IsThatOfTheMeasurements) {
  // Picoseconds a pair.
  EXPECT_NEAR(curve_work(6, 16).device, 19.8, 2);
  EXPECT_NEAR(curve_work(16, 64).device, 86.2, 4.3);
  EXPECT_NEAR(gradient_work(16).device, 33, 3.3);
  EXPECT_NEAR(laplacian_work(1).device, 2.4, 0.24);
  struct Measured {
    std::size_t d;
    int order;
    double picoseconds;
  };
  for (const Measured& at : {Measured{2, 4, 30.8},
                             {3, 6, 157},
                             {6, 4, 293},
                             {6, 6, 1353},
                             {10, 4, 1185},
                             {16, 4, 4608}}) {
    EXPECT_NEAR(monomial_work(at.d, at.order).device, at.picoseconds, 0.13 * at.picoseconds);
  }
  kestrel_gpu_device device{};
  device.multiprocessors = 132;
  device.major = 9;
  EXPECT_NEAR(pair_seconds_on(device, {1, 20}, 1e6, false), 10, 1e-4);
  device.multiprocessors = 66;
  EXPECT_NEAR(pair_seconds_on(device, {1, 20}, 1e6, false), 20, 1e-4);
  EXPECT_NEAR(pair_seconds_on(device, {1, 20}, 1e6, true), 20, 1e-4);
}

namespace {

class DevicePlace : public testing::Test {
 protected:
  ~DevicePlace() override { set_gpu_object("", "none"); }

  DevicePairs pairs(Backend backend, double evaluations) {
    return DevicePairs(sample_, {}, {},
                       GpuUse(backend,
                              [this](const gpu_error& problem) {
                                told_.push_back(problem.what());
                                if (asked_) throw problem;
                              }),
                       false, {evaluations, 1e-3}, options_);
  }
  double sum(DevicePairs& of) {
    const double M[] = {0.5, 0.1, 0.1, 0.7};
    return of.gaussian({M, 4}, true, options_)[0].value;
  }

  const std::vector<double> x_{0, 1, 0.3, 2, 0.7, -1, 0.2, 0.5};
  const Sample sample_{{x_.data(), 4, 2}, Weights::ones(4)};
  RunOptions options_;
  std::vector<std::string> told_;
  bool asked_ = false;
};

}  // namespace

TEST_F(DevicePlace, IsTheDeviceWhereThatPaysOff) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  DevicePairs cpu = pairs(Backend::cpu, 1e9), few = pairs(Backend::automatic, 10),
              many = pairs(Backend::automatic, 1e9), asked = pairs(Backend::cuda, 1);
  const double wanted = sum(cpu);
  for (DevicePairs* of : {&few, &many, &asked}) EXPECT_NEAR(sum(*of), wanted, 1e-12 * wanted);
  EXPECT_FALSE(cpu.place().on_device());
  EXPECT_FALSE(few.place().on_device());
  EXPECT_TRUE(many.place().on_device());
  EXPECT_EQ(asked.place().device(), "fake device");
  EXPECT_TRUE(told_.empty());
}

TEST_F(DevicePlace, IsTheCpuFromTheSumOnThatFails) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  DevicePairs many = pairs(Backend::automatic, 1e9), asked = pairs(Backend::cuda, 1);
  const double wanted = sum(many);
  setenv("FAKE_CUDA_PAIRS", "5", 1);
  EXPECT_NEAR(sum(many), wanted, 1e-12 * wanted);
  EXPECT_EQ(told_.size(), 1U);
  asked_ = true;
  EXPECT_THROW(sum(asked), gpu_error);
  unsetenv("FAKE_CUDA_PAIRS");
  EXPECT_NEAR(sum(many), wanted, 1e-12 * wanted);
  EXPECT_FALSE(many.place().on_device());
  EXPECT_EQ(told_.size(), 2U);
}

TEST_F(DevicePlace, IsTheCpuWhereThereIsNoDevice) {
  set_gpu_object("/nowhere/libkestrel_cuda.so", "");
  DevicePairs many = pairs(Backend::automatic, 1e9);
  EXPECT_GT(sum(many), 0);
  EXPECT_GT(sum(many), 0);
  EXPECT_EQ(told_.size(), 1U);
}
