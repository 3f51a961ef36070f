// Several devices: the same bits for any number of them, whatever fails on the way, with an object
// that needs no CUDA (fake-cuda.cpp).
#include <cstdlib>
#include <functional>

#include "common.hpp"
#include "core/base/thread_pool.hpp"
#include "core/direct/derivatives.hpp"
#include "core/kernel/derivative.hpp"
#include "gpu/density.hpp"
#include "gpu/derivatives.hpp"
#include "gpu/devices.hpp"
#include "gpu/mixed.hpp"
#include "gpu/pairs.hpp"
#include "gpu/regression.hpp"
#include "gpu/scanline.hpp"
#include "gpu/variable.hpp"
#include "mixed-data.hpp"
#include "scanline-oracle.hpp"

using namespace kestrel;
using common::run_on;
using shapes::Shape;

namespace {

using Numbers = std::vector<double>;

/// On so many threads that several devices pay for grids, too, and that these have help.
RunOptions plain() {
  RunOptions options = run_on(simd::find_table("auto"));
  options.parallel.threads = kFewThreads;
  return options;
}

Shape sample() { return shapes::make("devices", 90, 70, 2, 0.8); }

Numbers density(const RunOptions& options) {
  const Shape shape = sample();
  EvaluationPoints points;
  points.matrix = shape.evaluation();
  Numbers out(shape.m);
  gpu_density(shape.samples(), shape.weights(), points, {}, shape.bandwidth(), false, options,
              {out.data(), out.size()});
  return out;
}

Numbers derivatives(const RunOptions& options) {
  const Shape shape = sample();
  EvaluationPoints points;
  points.matrix = shape.evaluation();
  Numbers out(shape.m * derivative_count(shape.d, 2));
  gpu_derivatives(shape.samples(), shape.weights(), points, shape.bandwidth(), 2, options,
                  {out.data(), out.size()});
  return out;
}

Numbers variable(const RunOptions& options) {
  const Shape shape = sample();
  EvaluationPoints points;
  points.matrix = shape.evaluation();
  Numbers h, out(shape.m);
  for (std::size_t i = 0; i < shape.n; ++i) h.push_back(0.5 + 0.01 * static_cast<double>(i));
  const VariableTask task{shape.samples(), shape.weights(),  {h.data(), h.size()},
                          false,           Kernel::biweight, points};
  gpu_variable(task, false, options.parallel, {out.data(), out.size()});
  return out;
}

Numbers pairs(const RunOptions& options) {
  const Shape shape = sample();
  const Numbers h{0.5, 2.0, 1.0};
  const PairCurve curve = gpu_lscv_curve(shape.samples(), shape.weights(), shape.bandwidth(),
                                         {h.data(), h.size()}, false, options);
  Numbers all = curve.kernel;
  const LscvPairSums sums =
      gpu_lscv(shape.samples(), shape.weights(), shape.bandwidth(), true, options);
  for (const double moment : sums.kernel.moments) all.push_back(moment);
  all.push_back(sums.convolution.sum);
  all.push_back(gpu_pair_laplacian(shape.samples(), shape.weights(), 1.0, 4, false, options));
  return all;
}

Numbers regression(const RunOptions& options) {
  const Shape shape = sample();
  Numbers h;
  for (int k = 1; k <= 30; ++k) h.push_back(0.2 * k);
  const Numbers y(shape.x.begin() + 90, shape.x.end());
  const Numbers w(90, 1.0);
  const CrossValidation found =
      gpu_cross_validate({{shape.x.data(), 90}, {y.data(), 90}, {w.data(), 90}},
                         {h.data(), h.size()}, Kernel::epanechnikov, true, options);
  Numbers all = found.squares;
  all.insert(all.end(), found.trace.begin(), found.trace.end());
  return all;
}

Numbers mixed(const RunOptions& options) {
  const mixed_data::Data data = mixed_data::shapes_of_data()[3];
  const MixedSample rows = data.sample();
  MixedKernel kernel;
  kernel.h.assign(data.p, 0.7);
  kernel.lambda = {0.2, 0.4};
  kernel.local_linear = true;
  const MixedCriterion found =
      GpuMixed(rows, nullptr, kernel).criterion(kernel, MixedMethod::aic, true, options);
  Numbers all = found.gradient;
  all.push_back(found.value);
  return all;
}

Numbers grid_of(Kernel kernel, const RunOptions& options) {
  scanline_oracle::Case c =
      scanline_oracle::make("plane", 3000, {40, 50}, 6.0, 0.5, scanline_oracle::inside);
  c.choice.kernel = kernel;
  const std::vector<RegularAxis> axes = c.grid();
  Numbers out(c.points(), -1.0);
  gpu_scanline_density({c.x.data(), c.n, c.d}, {c.w.data(), c.n}, {axes.data(), c.d}, c.choice,
                       {c.root.data(), c.root.size()}, {}, options, {out.data(), out.size()});
  return out;
}

struct Task {
  const char* name;
  std::function<Numbers(const RunOptions&)> run;
};

const std::vector<Task>& tasks() {
  static const std::vector<Task> all = {
      {"density", density},
      {"derivatives", derivatives},
      {"variable", variable},
      {"pairs", pairs},
      {"regression", regression},
      {"mixed", mixed},
      {"grid, by ends of runs",
       [](const RunOptions& options) { return grid_of(Kernel::epanechnikov, options); }},
      {"grid, by points of runs",
       [](const RunOptions& options) { return grid_of(Kernel::uniform, options); }}};
  return all;
}

/// Objects with so many devices, and tasks in as many pieces as there can be.
class GpuDevices : public testing::Test {
 protected:
  void SetUp() override {
    set_piece_factor(1e12);
    setenv("FAKE_CUDA_PIECES", "9", 1);
  }
  void TearDown() override {
    set_piece_factor(1);
    for (const char* name : {"FAKE_CUDA_PIECES", "FAKE_CUDA_DEVICES", "FAKE_CUDA_LOST"}) {
      unsetenv(name);
    }
    set_gpu_devices({});
    set_gpu_object(FAKE_CUDA_GOOD, "");
  }

  /// `lost`: see FAKE_CUDA_LOST of fake-cuda.cpp.
  static void have(int devices, const char* lost = "") {
    setenv("FAKE_CUDA_DEVICES", std::to_string(devices).c_str(), 1);
    setenv("FAKE_CUDA_LOST", lost, 1);
    set_gpu_object(FAKE_CUDA_GOOD, "");
  }

  static void expect_nothing_held(const char* what) {
    EXPECT_STREQ(getenv("FAKE_CUDA_HELD"), "0") << what;
  }

  /// The problem with which a task ends, "" if it does not.
  static std::string problem_of(const Task& task) {
    try {
      task.run(plain());
    } catch (const gpu_error& problem) {
      return problem.what();
    }
    return "";
  }
};

}  // namespace

TEST_F(GpuDevices, AreThoseThatWereFoundAndMayBeUsed) {
  have(3);
  EXPECT_EQ(gpu_devices(), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(gpu_name(), "3 x fake device");
  set_gpu_devices({2, 0});
  EXPECT_EQ(gpu_devices(), (std::vector<int>{2, 0}));
  set_gpu_devices({1});
  EXPECT_EQ(gpu_name(), "fake device");
  set_gpu_devices({0, 3});
  try {
    gpu_devices();
    ADD_FAILURE() << "no gpu_error";
  } catch (const gpu_error& problem) {
    EXPECT_EQ(problem.problem, GpuProblem::no_device);
    EXPECT_STREQ(problem.what(),
                 "there is no CUDA device 4, which options(kestrel.devices=) names, but 3");
  }
}

TEST_F(GpuDevices, AreSkippedWhereTheyDoNotStart) {
  have(3, "3 0");
  EXPECT_EQ(gpu_devices(), (std::vector<int>{1, 2}));
  have(3, "0 0 1 0");
  EXPECT_EQ(gpu_devices(), (std::vector<int>{0, 1, 2}));  // the others start when they are needed
  const std::vector<FoundDevice> found = find_gpu_devices();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].problem, "");
  EXPECT_EQ(found[1].problem, "there is no usable CUDA device: device 1 is lost");
  EXPECT_EQ(gpu_devices(), (std::vector<int>{0, 2}));
}

TEST_F(GpuDevices, GiveTheSameBits) {
  for (const Task& task : tasks()) {
    have(1);
    const Numbers wanted = task.run(plain());
    for (const int devices : {2, 3, 8}) {
      have(devices);
      EXPECT_EQ(task.run(plain()), wanted) << task.name << " on " << devices;
      expect_nothing_held(task.name);
    }
  }
}

TEST_F(GpuDevices, TakeThePiecesOfOneThatFails) {
  for (const Task& task : tasks()) {
    have(1);
    const Numbers wanted = task.run(plain());
    // The first device, or another one, as it starts, is opened, or is in the middle.
    for (const std::string code : {"3 ", "2 "}) {
      for (const char* after : {"0", "1", "2", "4"}) {
        for (const std::string before : {"", "0 0 "}) {
          const std::string lost = before + code + after;
          have(3, lost.c_str());
          EXPECT_EQ(task.run(plain()), wanted) << task.name << ", " << lost;
          expect_nothing_held(task.name);
          // A device that has failed is not used again; one that lacked memory is.
          if (code == "2 ") {
            setenv("FAKE_CUDA_LOST", "", 1);
            EXPECT_EQ(gpu_devices().size(), 3u) << task.name << ", " << lost;
          }
        }
      }
    }
    have(2, "3 3 3 5");
    EXPECT_NE(problem_of(task), "") << task.name;
    EXPECT_NE(problem_of(task), "") << task.name;
    expect_nothing_held(task.name);
    have(2, "2 3 2 5");
    EXPECT_NE(problem_of(task).find("too little free memory"), std::string::npos) << task.name;
    expect_nothing_held(task.name);
  }
}

TEST_F(GpuDevices, AreStoppedByThePoll) {
  have(3);
  // So many pairs that the calling thread, which is not kept waiting here, polls in their middle.
  wait_for_all_helpers(false);
  const Shape shape = shapes::make("long", 2000, 2000, 2, 0.8);
  EvaluationPoints points;
  points.matrix = shape.evaluation();
  Numbers out(shape.m);
  RunOptions options = plain();
  double last = 0.0;
  options.parallel.poll = [&](double fraction) {
    EXPECT_GE(fraction, last);
    last = fraction;
    if (fraction > 0.3) throw std::runtime_error("enough");
  };
  EXPECT_THROW(gpu_density(shape.samples(), shape.weights(), points, {}, shape.bandwidth(), false,
                           options, {out.data(), out.size()}),
               std::runtime_error);
  wait_for_all_helpers(true);
  EXPECT_LT(last, 1.0);
  expect_nothing_held("density");
}

TEST_F(GpuDevices, AreNotMoreThanThereArePieces) {
  set_piece_factor(1);
  setenv("FAKE_CUDA_PIECES", "1", 1);
  // The second device would fail.
  have(2, "0 0 3 0");
  for (const Task& task : tasks()) EXPECT_EQ(problem_of(task), "") << task.name;
  EXPECT_EQ(gpu_devices().size(), 2u);
}
