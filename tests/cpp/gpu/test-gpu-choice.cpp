// Whether a task runs on the device, and what happens if that fails: with objects that need no CUDA
// (fake-cuda.cpp), whose device is as fast as an H200.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "core/base/error.hpp"
#include "core/regression/cost.hpp"
#include "gpu/cost.hpp"
#include "gpu/density_call.hpp"
#include "gpu/loader.hpp"
#include "plan/density-tasks.hpp"

using namespace kestrel;
using density_tasks::Task;

namespace {

kestrel_gpu_device h200() {
  kestrel_gpu_device device{};
  device.major = 9;
  device.multiprocessors = 132;
  return device;
}

/// Uses of a device that count the problems that they tell; with "cuda" they throw them.
struct Told {
  int problems = 0;

  GpuUse use(Backend asked) {
    return GpuUse(asked, [this, asked](const gpu_error& problem) {
      ++problems;
      if (asked == Backend::cuda) throw problem;
    });
  }
};

double no_time(const kestrel_gpu_device&) { return 0; }

DensityChoice choice(const Task& task, const DensityRequest& request, Backend backend,
                     double larger = 1) {
  GpuUse use(backend, [](const gpu_error& problem) { throw problem; });
  return choose_density(task.view(), request, use, larger);
}

std::string device_engine(const Task& task, const std::string& engine, Backend backend) {
  const DensityChoice chosen = choice(task, {engine}, backend, 1e12);
  return chosen.on_device() ? chosen.engine : "";
}

}  // namespace

TEST(GpuCost, RatesAreThoseThatWereMeasured) {
  EXPECT_DOUBLE_EQ(gpu_slowness(h200(), false), 1);
  kestrel_gpu_device half = h200();
  half.multiprocessors = 66;
  EXPECT_DOUBLE_EQ(gpu_slowness(half, true), 2);
  // Rates of bench/results/2026-11-29-NVIDIA-H200.csv, 1e9 pairs a second, within an eighth.
  const double d[] = {1, 2, 3, 4, 6, 8, 14, 16, 30, 62};
  const double in_double[] = {1332, 1199, 1087, 1006, 830, 1070, 820, 822, 558, 310};
  const double in_single[] = {4395, 3951, 3601, 3278, 2438, 2589, 2586, 2579, 1576, 938};
  for (std::size_t i = 0; i < std::size(d); ++i) {
    for (const bool single : {false, true}) {
      const double pairs = 131072.0 * 131072;
      const double rate = pairs / gpu_direct_seconds(131072, 131072, d[i], h200(), single) / 1e9;
      const double measured = single ? in_single[i] : in_double[i];
      EXPECT_LT(std::abs(std::log(rate / measured)), std::log(9.0 / 8)) << d[i] << " " << single;
    }
  }
}

TEST(GpuCost, GridsTakeWhatTheyTook) {
  // Half axes of the kernel in steps; seconds of tools/gpu-check.sh time-scanline, within a half.
  struct Measured {
    KernelChoice kernel;
    std::vector<std::size_t> counts;
    std::vector<double> h;
    double n, seconds;
  };
  const KernelChoice biweight{Kernel::biweight, KernelType::radial};
  const std::vector<std::size_t> large = {220, 1100, 805};
  const Measured all[] = {
      {{Kernel::epanechnikov, KernelType::radial}, large, {18.86, 18.86, 40}, 1e6, 0.0336},
      {{Kernel::epanechnikov, KernelType::product}, large, {13.8, 13.8, 35.1}, 1e6, 0.389},
      {biweight, large, {13.7, 13.7, 28.8}, 1e6, 0.279},
      {{Kernel::cosine, KernelType::radial}, large, {13.7, 13.7, 28.8}, 1e6, 0.477},
      {biweight, {196, 200, 199}, {6, 6, 6.1}, 1e6, 0.043},
      {biweight, {2800, 2700}, {37.9, 37.9}, 3.5e6, 0.099},
      {biweight, {1000000}, {10200}, 1e6, 0.153}};
  for (const Measured& one : all) {
    const std::size_t d = one.counts.size();
    std::vector<RegularAxis> axes;
    std::vector<double> root(d * d, 0.0);
    double m = 1;
    for (std::size_t k = 0; k < d; ++k) {
      axes.push_back({0, 1, one.counts[k], {}});
      root[k * (d + 1)] = one.h[k];
      m *= static_cast<double>(one.counts[k]);
    }
    const ScanlineGeometry geometry({axes.data(), d}, {root.data(), d * d}, one.kernel.type);
    const double work = gpu_scanline_work(geometry, one.kernel, one.n, m);
    EXPECT_LT(std::abs(std::log(work / one.seconds)), std::log(1.5)) << m << " " << one.seconds;
    EXPECT_DOUBLE_EQ(gpu_scanline_seconds(work, one.n, m, h200()),
                     work + 60e-9 * one.n + 8 / 55e9 * m);
    EXPECT_TRUE(gpu_prefers_scanline(geometry, one.kernel, one.n, m, d, false));
  }
}

TEST(GpuCost, WideKernelsAreDirectSumsUnlessTheyHaveEnds) {
  const RegularAxis axis{0, 1, 100, {}};
  const RegularAxis axes[] = {axis, axis};
  const double root[] = {200, 0, 0, 200};
  const ScanlineGeometry geometry({axes, 2}, {root, 4});
  const auto scanline = [&](Kernel kernel) {
    return gpu_prefers_scanline(geometry, {kernel, KernelType::radial}, 1e6, 1e4, 2, false);
  };
  EXPECT_FALSE(scanline(Kernel::biweight));
  EXPECT_TRUE(scanline(Kernel::epanechnikov));
}

TEST(GpuCost, SumsWithBandwidthsThatVaryTakeWhatTheyTook) {
  // Picoseconds by tools/gpu-check.sh time-variable for d = 1, 2 and 3, in double and in single.
  struct Measured {
    Kernel kernel;
    double in_double[3], in_single[3];
  };
  const Measured measured[] = {{Kernel::epanechnikov, {0.39, 0.53, 0.67}, {0.34, 0.53, 0.67}},
                               {Kernel::triweight, {0.49, 0.63, 0.78}, {0.40, 0.59, 0.72}},
                               {Kernel::triangular, {1.23, 1.37, 1.61}, {0.73, 0.91, 1.11}},
                               {Kernel::cosine, {1.32, 1.48, 1.61}, {0.63, 0.80, 0.95}}};
  for (const Measured& one : measured) {
    for (int d = 1; d <= 3; ++d) {
      for (const bool single : {false, true}) {
        const double took = single ? one.in_single[d - 1] : one.in_double[d - 1];
        const double model = 1e12 * gpu_variable_seconds(one.kernel, 1, 1, d, h200(), single);
        EXPECT_LT(std::abs(std::log(model / took)), std::log(9.0 / 8)) << d << " " << single;
      }
    }
  }
}

TEST(GpuCost, ADevicePaysOffForLongTasksThatItHalves) {
  EXPECT_TRUE(gpu_pays_off(1, 0.5));
  EXPECT_FALSE(gpu_pays_off(1, 0.51));
  EXPECT_FALSE(gpu_pays_off(0.99, 0.01));
  EXPECT_TRUE(gpu_pays_off(1e3, 499));
}

namespace {

RegressionWork million(Kernel kernel, bool local_linear, double bandwidths) {
  return {kernel, local_linear, 1e6 * bandwidths};
}

double milliseconds(const RegressionWork& work) {
  return 1e3 * gpu_regression_seconds(work, 1e6, h200());
}

}  // namespace

TEST(GpuCost, CurvesOfRegressionsTakeWhatTheyTook) {
  EXPECT_NEAR(milliseconds(million(Kernel::uniform, false, 100)), 18.2, 1.8);
  EXPECT_NEAR(milliseconds(million(Kernel::epanechnikov, false, 100)), 26.8, 2.7);
  EXPECT_NEAR(milliseconds(million(Kernel::epanechnikov, true, 100)), 51.7, 5.2);
  EXPECT_NEAR(milliseconds(million(Kernel::triweight, false, 100)), 43.6, 4.4);
  EXPECT_NEAR(milliseconds(million(Kernel::triweight, true, 100)), 94.0, 9.4);
  EXPECT_NEAR(milliseconds(million(Kernel::epanechnikov, false, 1)), 8.9, 0.4);
}

TEST(RegressionCost, GrowsWithTheWork) {
  std::vector<double> x(1000), h{0.1, 0.2};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i) / 999;
  // Windows 0.96 and 1.92 wide that hold 1.92 observations for every one of the middle half.
  EXPECT_DOUBLE_EQ(gaussian_pairs({x.data(), x.size()}, {h.data(), h.size()}, {}), 2e6);
  const auto seconds = [&](Kernel kernel, bool local_linear, const std::vector<double>& at) {
    return regression_seconds(
        regression_work(x.size(), {at.data(), at.size()}, {kernel, 1, local_linear}));
  };
  for (const bool linear : {false, true}) {
    EXPECT_LT(seconds(Kernel::epanechnikov, linear, h), seconds(Kernel::triweight, linear, h));
    EXPECT_LT(seconds(Kernel::gaussian, linear, h), 1e-3) << "not all pairs";
  }
  EXPECT_GT(seconds(Kernel::uniform, true, h), seconds(Kernel::uniform, false, h));
}

TEST(GpuUse, ADeviceIsTakenIfItPaysOffOrIsAskedFor) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  Told told;
  const auto slow = [](const kestrel_gpu_device&) { return 1e9; };
  EXPECT_FALSE(told.use(Backend::cpu).choose(1e9, no_time));
  EXPECT_FALSE(told.use(Backend::automatic).choose(0.5, no_time));
  EXPECT_FALSE(told.use(Backend::automatic).choose(10, slow));
  EXPECT_TRUE(told.use(Backend::cuda).choose(0, slow));
  GpuUse use = told.use(Backend::automatic);
  EXPECT_TRUE(use.choose(10, no_time));
  EXPECT_EQ(use.device(), "fake device");
  EXPECT_TRUE(use.choose(0, slow)) << "a device that was chosen is kept";
  EXPECT_EQ(told.problems, 0);
}

TEST(GpuUse, WithoutADeviceThereIsAProblemForLongTasksOnly) {
  set_gpu_object("/nowhere/libkestrel_cuda.so", "");
  Told told;
  EXPECT_FALSE(told.use(Backend::automatic).choose(0.01, no_time));
  EXPECT_EQ(told.problems, 0);
  EXPECT_FALSE(told.use(Backend::automatic).choose(1e6, no_time));
  EXPECT_EQ(told.problems, 1);
  EXPECT_THROW(told.use(Backend::cuda).choose(0.01, no_time), gpu_error);
  set_gpu_object("", "");
  EXPECT_FALSE(told.use(Backend::automatic).choose(1e6, no_time));
  EXPECT_EQ(told.problems, 2) << "nobody is told that nothing was built, unless it was asked for";
}

TEST(GpuUse, TheCpuTakesOverFromADeviceThatFailsAndKeepsTheRest) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  Told told;
  GpuUse use = told.use(Backend::automatic);
  use.choose(10, no_time);
  int on_device = 0;
  const auto failing = [&]() -> int {
    ++on_device;
    throw gpu_error(GpuProblem::unsuited, "too many bandwidths");
  };
  EXPECT_EQ(use.sums(failing, [] { return 7; }), 7);
  EXPECT_FALSE(use.on_device());
  EXPECT_EQ(use.sums(failing, [] { return 8; }), 8);
  EXPECT_EQ(on_device, 1);
  EXPECT_EQ(told.problems, 1);
  GpuUse asked = told.use(Backend::cuda);
  asked.choose(0, no_time);
  EXPECT_THROW(asked.sums(failing, [] { return 9; }), gpu_error);
}

TEST(GpuDensity, TheDeviceHasScanlineForCompactKernelsOnGridsAndDirectSums) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  const Task grid = Task(50, 2, 3).on_grid(20, 0, 3).with_kernel(Kernel::epanechnikov);
  const Task uneven = Task(50, 2, 3).on_grid(20, 0, 3, 2).with_kernel(Kernel::epanechnikov);
  const Task biweight = Task(500, 2, 3, 0.2).on_grid(90, 0, 3).with_kernel(Kernel::biweight);
  const Task wide = Task(50, 2, 3, 9).on_grid(90, 0, 3).with_kernel(Kernel::biweight);
  const Task gaussian = Task(50, 2, 3).on_grid(20, 0, 3);
  EXPECT_EQ(device_engine(grid, "auto", Backend::automatic), "scanline");
  EXPECT_EQ(device_engine(uneven, "auto", Backend::automatic), "direct");
  EXPECT_EQ(device_engine(biweight, "auto", Backend::automatic), "scanline");
  EXPECT_EQ(device_engine(wide, "auto", Backend::automatic), "direct");
  EXPECT_EQ(device_engine(gaussian, "auto", Backend::automatic), "direct");
  EXPECT_EQ(device_engine(grid, "direct", Backend::automatic), "direct");
  EXPECT_EQ(device_engine(gaussian, "fourier", Backend::automatic), "");
  EXPECT_EQ(device_engine(biweight, "scanline", Backend::cuda), "scanline");
  EXPECT_EQ(device_engine(grid, "auto", Backend::cpu), "");
  EXPECT_EQ(choice(grid, {}, Backend::automatic).device, "") << "a short task";
  // The place is chosen by all slabs together.
  const DensityChoice one = choice(uneven, {}, Backend::cpu),
                      ten = choice(uneven, {}, Backend::cpu, 10);
  EXPECT_DOUBLE_EQ(ten.seconds, 10 * one.seconds);
}

TEST(GpuDensity, SlabsOfAGridAreScanlinesOnTheCpu) {
  const Task few = Task(1, 2, 3).on_grid(6, 0, 3).with_kernel(Kernel::biweight);
  EXPECT_EQ(choice(few, {}, Backend::cpu).engine, "direct");
  EXPECT_EQ(choice(few, {"auto", false, true}, Backend::cpu).engine, "scanline");
}

TEST(GpuDensity, AGridThatTheEngineDoesNotTakeIsUnfit) {
  const Task uneven = Task(50, 2, 3).on_grid(20, 0, 3, 2).with_kernel(Kernel::epanechnikov);
  try {
    choice(uneven, {"scanline"}, Backend::cpu);
    ADD_FAILURE() << "nothing thrown";
  } catch (const error& problem) {
    EXPECT_EQ(problem.kind, ErrorKind::unfit);
  }
}

TEST(GpuDensity, TheCpuComputesWhatTheDeviceDoesNot) {
  const Task task = Task(50, 2, 3).on_grid(20, 0, 3).with_kernel(Kernel::biweight);
  const auto computed = [&](const char* object, Backend backend, Told& told, int* tries) {
    set_gpu_object(object, "");
    GpuUse use = told.use(backend);
    use.choose(HUGE_VAL, no_time);
    std::vector<double> out(400, -1.0);
    compute_density(task.view(), {}, use, {}, [&](const DensityChoice&) {
      ++*tries;
      return Span<double>{out.data(), out.size()};
    });
    return out;
  };
  Told told;
  int tries = 0;
  const std::vector<double> on_cpu = computed("", Backend::cpu, told, &tries);
  EXPECT_EQ(tries, 1);
  EXPECT_EQ(computed("/nowhere/libkestrel_cuda.so", Backend::automatic, told, &tries), on_cpu);
  EXPECT_EQ(told.problems, 1);
  const std::vector<double> on_device = computed(FAKE_CUDA_GOOD, Backend::cuda, told, &tries);
  EXPECT_EQ(told.problems, 1);
  for (std::size_t i = 0; i < on_cpu.size(); ++i) EXPECT_NEAR(on_device[i], on_cpu[i], 1e-12);
}

TEST(GpuDensity, CountsAreTheSameBitsOnTheDevice) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  const Task task = Task(343, 2, 3, 0.7).at_points(343).with_kernel(Kernel::uniform);
  DensityTask view = task.view();
  view.kernel.type = KernelType::product;
  view.divisor = 343;
  const auto computed = [&](Backend backend) {
    Told told;
    GpuUse use = told.use(backend);
    use.choose(HUGE_VAL, no_time);
    std::vector<double> out(343, -1.0);
    compute_density(view, {"direct"}, use, {}, [&](const DensityChoice&) {
      return Span<double>{out.data(), out.size()};
    });
    return out;
  };
  EXPECT_EQ(computed(Backend::cuda), computed(Backend::cpu));
}

TEST(GpuDensity, SlabsStayWhereTheyBeganUntilTheDeviceFails) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  const Task task = Task(80, 2, 3).on_grid(20, 0, 3).with_kernel(Kernel::epanechnikov);
  const DensityTask view = task.view();
  Told told;
  const auto slab = [&](DensitySlabs& slabs, std::size_t first) {
    std::vector<double> out(100, -1.0);
    slabs.slab(first, 5, task.how, {out.data(), out.size()});
    return out;
  };
  DensitySlabs on_cpu(view, told.use(Backend::cpu), task.how);
  EXPECT_FALSE(on_cpu.use().on_device());
  GpuUse use = told.use(Backend::automatic);
  use.choose(HUGE_VAL, no_time);
  DensitySlabs slabs(view, use, task.how);
  EXPECT_TRUE(slabs.use().on_device());
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_NEAR(slab(slabs, 0)[i], slab(on_cpu, 0)[i], 1e-12);
  }
  setenv("FAKE_CUDA_SLAB", "2", 1);
  EXPECT_EQ(slab(slabs, 5), slab(on_cpu, 5));
  unsetenv("FAKE_CUDA_SLAB");
  EXPECT_FALSE(slabs.use().on_device());
  EXPECT_EQ(told.problems, 1);
  EXPECT_EQ(slab(slabs, 10), slab(on_cpu, 10));
  EXPECT_EQ(told.problems, 1);
}
