// Sums of compact kernels with bandwidths that vary: what is sent to a device, and the choice of
// the place, with an object that needs no CUDA (fake-cuda-variable.cpp).
#include <cstdlib>
#include <stdexcept>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/direct/variable_points.hpp"
#include "gpu/variable.hpp"
#include "gpu/variable_call.hpp"
#include "variable-data.hpp"

using namespace kestrel;
using variable_data::Data;

namespace {

using Numbers = std::vector<double>;

Numbers variable_on_cpu(const VariableTask& task) {
  Numbers out(task.at.size());
  variable_points(task, {}, {out.data(), out.size()});
  return out;
}

Numbers variable_on_device(const VariableTask& task, bool single) {
  Numbers out(task.at.size(), -1.0);
  gpu_variable(task, single, {}, {out.data(), out.size()});
  return out;
}

/// Relative to the largest value.
double difference(const Numbers& got, const Numbers& wanted) {
  double largest = 0, worst = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    largest = std::max(largest, wanted[i]);
    worst = std::max(worst, std::fabs(got[i] - wanted[i]));
  }
  return largest > 0 ? worst / largest : worst;
}

std::vector<Kernel> compact_kernels() {
  return common::kernels_where([](Kernel one) { return is_compact(one); });
}

void expect_sums(const Data& data, const EvaluationPoints& at, bool by_point) {
  for (const Kernel kernel : compact_kernels()) {
    SCOPED_TRACE(std::string(common::kernel_name(kernel)) + ", d = " + std::to_string(data.d));
    const VariableTask task = data.task(kernel, by_point, at);
    const Numbers wanted = variable_on_cpu(task);
    EXPECT_LE(difference(variable_on_device(task, false), wanted), 1e-12);
    EXPECT_LE(difference(variable_on_device(task, true), wanted), 1e-5);
  }
}

/// What happened to a call by compute_variable().
struct Called {
  Numbers out;
  bool on_device;
  int problems = 0;
};

Called called(const VariableTask& task, const std::string& engine, Backend backend,
              const ParallelOptions& options = {}) {
  Called found{Numbers(task.at.size()), false};
  GpuUse use(backend, [&](const gpu_error& problem) {
    ++found.problems;
    if (backend == Backend::cuda) throw problem;
  });
  compute_variable(task, engine, false, use, options, {found.out.data(), found.out.size()});
  found.on_device = use.on_device();
  return found;
}

class GpuVariable : public testing::Test {
 protected:
  void SetUp() override { set_gpu_object(FAKE_CUDA_GOOD, ""); }
  void TearDown() override { unsetenv("FAKE_CUDA_VARIABLE"); }
};

}  // namespace

TEST_F(GpuVariable, SendsWhatTheCpuSums) {
  for (std::size_t d = 1; d <= 3; ++d) {
    for (const double offset : {0.0, 1e9}) {
      const Data data(400, 50, d, offset, offset > 0 ? 2 : 5);
      EvaluationPoints at, grid;
      at.matrix = {data.points.data(), data.m, d};
      for (const bool by_point : {false, true}) expect_sums(data, at, by_point);
      const Numbers axis{offset, offset + 0.1, offset + 0.4, offset + 0.9};
      grid.axes.assign(d, {axis.data(), axis.size()});
      expect_sums(data, grid, false);
    }
    const Data one(1, 1, d, 0, 5);
    EvaluationPoints at;
    at.matrix = {one.points.data(), 1, d};
    for (const bool by_point : {false, true}) expect_sums(one, at, by_point);
  }
  const Data data(5, 1, 1, 0, 1);
  EvaluationPoints nowhere;
  nowhere.matrix = {data.points.data(), 0, 1};
  EXPECT_TRUE(variable_on_device(data.task(Kernel::cosine, false, nowhere), true).empty());
}

TEST_F(GpuVariable, CountsTheEdgeOfUniformKernels) {
  Numbers lattice, steps;
  for (int i = 0; i < 100; ++i) {
    lattice.push_back(0.1 * i);
    steps.push_back(0.1 * (9 + i % 2));
  }
  EvaluationPoints at;
  at.matrix = {lattice.data(), 100, 1};
  for (const bool by_point : {false, true}) {
    const VariableTask task{{lattice.data(), 100, 1}, Weights::ones(100),
                            {steps.data(), 100},      by_point,
                            Kernel::uniform,          at};
    EXPECT_LE(difference(variable_on_device(task, true), variable_on_cpu(task)), 1e-14);
  }
}

TEST_F(GpuVariable, SinglePrecisionIsForDataOfFewBandwidths) {
  for (const double widest : {0.1, 1e-7}) {
    // At the samples, so that kernels reach them however narrow they are.
    const Data data(300, 300, 2, 0, widest);
    EvaluationPoints at;
    at.matrix = {data.x.data(), data.n, 2};
    for (const bool by_point : {false, true}) {
      const VariableTask task = data.task(Kernel::epanechnikov, by_point, at);
      const double error = difference(variable_on_device(task, true), variable_on_cpu(task));
      EXPECT_EQ(error > 1e-12, widest > 1e-3) << error;
      EXPECT_LE(error, 1e-5);
    }
  }
}

TEST_F(GpuVariable, RefusesSizesThatDoNotFit) {
  const Data data(20, 5, 2, 0, 1);
  EvaluationPoints at;
  at.matrix = {data.points.data(), data.m, 2};
  Numbers out(4);
  EXPECT_THROW(gpu_variable(data.task(Kernel::biweight, false, at), false, {}, {out.data(), 4}),
               error);
}

TEST_F(GpuVariable, TheCpuTakesOverFromADeviceThatFails) {
  const Data data(200, 30, 2, 0, 1);
  EvaluationPoints at;
  at.matrix = {data.points.data(), data.m, 2};
  const VariableTask task = data.task(Kernel::biweight, true, at);
  const Numbers cpu = called(task, "direct", Backend::cpu).out;
  EXPECT_TRUE(common::same_bits(cpu, variable_on_cpu(task)));
  EXPECT_TRUE(called(task, "auto", Backend::cuda).on_device);
  setenv("FAKE_CUDA_VARIABLE", "2", 1);
  EXPECT_THROW(called(task, "direct", Backend::cuda), gpu_error);
  const auto settled = [&](const std::string& engine) {
    GpuUse use(Backend::automatic, [](const gpu_error&) {});
    use.choose(10, [](const kestrel_gpu_device&) { return 0.0; });
    Numbers out(data.m);
    compute_variable(task, engine, false, use, {}, {out.data(), out.size()});
    EXPECT_EQ(use.on_device(), engine == "kdtree") << "was not asked";
    return out;
  };
  EXPECT_TRUE(common::same_bits(settled("direct"), cpu));
  EXPECT_LE(difference(settled("kdtree"), cpu), 1e-12);
}

TEST_F(GpuVariable, ADeviceIsTakenWhereItPaysOff) {
  struct Enough {};
  ParallelOptions stopping;
  stopping.threads = 1;
  stopping.poll = [](double) { throw Enough(); };
  const Data few(100, 40, 1, 0, 1), many(30000, 30000, 1, 0, 1);
  EvaluationPoints at_few, at_many;
  at_few.matrix = {few.points.data(), few.m, 1};
  at_many.matrix = {many.points.data(), many.m, 1};
  EXPECT_FALSE(
      called(few.task(Kernel::cosine, false, at_few), "direct", Backend::automatic).on_device);
  // That it is asked shows in what it fails with.
  setenv("FAKE_CUDA_VARIABLE", "5", 1);
  const VariableTask task = many.task(Kernel::cosine, false, at_many);
  int problems = 0;
  const auto stopped = [&](const std::string& engine) {
    problems = 0;
    GpuUse use(Backend::automatic, [&](const gpu_error&) {
      ++problems;
      throw Enough();
    });
    Numbers out(task.at.size());
    EXPECT_THROW(compute_variable(task, engine, false, use, stopping, {out.data(), out.size()}),
                 Enough);
    return problems;
  };
  EXPECT_EQ(stopped("direct"), 1);
  EXPECT_EQ(stopped("kdtree"), 0);
}

TEST_F(GpuVariable, CarriesOutWhatThePollThrows) {
  const Data data(50, 30, 1, 0, 1);
  EvaluationPoints at;
  at.matrix = {data.points.data(), data.m, 1};
  ParallelOptions options;
  int asked = 0;
  options.poll = [&](double) {
    if (++asked == 3) throw std::runtime_error("enough");
  };
  EXPECT_THROW(called(data.task(Kernel::biweight, false, at), "direct", Backend::cuda, options),
               std::runtime_error);
  EXPECT_EQ(asked, 3);
}
