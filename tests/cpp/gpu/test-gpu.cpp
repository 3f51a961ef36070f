// The CUDA object from the host's side: how it is opened and refused, and what is sent to it, with
// objects that need no CUDA (fake-cuda.cpp). CMake sets FAKE_CUDA_* to their paths.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/direct/direct.hpp"
#include "core/direct/pairs.hpp"
#include "gpu/density.hpp"
#include "gpu/loader.hpp"
#include "gpu/pairs.hpp"

using namespace kestrel;
using namespace common;
using shapes::Shape;

namespace {

/// The problem with which `call` ends.
template <class Call>
gpu_error problem_of(const Call& call) {
  try {
    call();
  } catch (const gpu_error& problem) {
    return problem;
  }
  ADD_FAILURE() << "no gpu_error";
  return {GpuProblem::failed, ""};
}

gpu_error problem_with(const std::string& path, const std::string& reason = "") {
  set_gpu_object(path, reason);
  return problem_of([] { gpu_device(); });
}

/// Sets an environment variable for as long as the object lives.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

RunOptions plain() { return run_on(simd::find_table("auto")); }

template <class Sum>
std::vector<double> density(const Shape& shape, const Sum& sum) {
  std::vector<double> out(shape.m, -1.0);
  EvaluationPoints points;
  points.matrix = shape.evaluation();
  sum(points, Span<double>{out.data(), out.size()});
  return out;
}

std::vector<double> on_device(const Shape& shape, const KernelChoice& choice, bool single = false,
                              const RunOptions& options = plain()) {
  return density(shape, [&](const EvaluationPoints& points, Span<double> out) {
    gpu_density(shape.samples(), shape.weights(), points, choice, shape.bandwidth(), single,
                options, out);
  });
}

std::vector<double> on_cpu(const Shape& shape, const KernelChoice& choice) {
  return density(shape, [&](const EvaluationPoints& points, Span<double> out) {
    direct_density(shape.samples(), shape.weights(), points, choice, shape.bandwidth(), plain(),
                   out);
  });
}

TEST(GpuLoader, SaysThatNothingWasBuiltAndWhy) {
  const gpu_error problem = problem_with("", "it was not wanted");
  EXPECT_EQ(problem.problem, GpuProblem::not_built);
  EXPECT_STREQ(problem.what(), "kestrel was built without CUDA (it was not wanted)");
  EXPECT_STREQ(problem_with("").what(), "kestrel was built without CUDA");
}

TEST(GpuLoader, SaysWhyAnObjectDoesNotLoad) {
  const auto refused = [](const std::string& path, const std::string& why) {
    const gpu_error problem = problem_with(path);
    EXPECT_EQ(problem.problem, GpuProblem::not_loaded);
    const std::string text = problem.what();
    EXPECT_EQ(text.find("the CUDA object of kestrel, " + path + ", could not be loaded: "), 0u)
        << text;
    EXPECT_NE(text.find(why), std::string::npos) << text;
  };
  refused("/nowhere/libkestrel_cuda.so", "No such file");
  refused(__FILE__, "invalid ELF header");
  refused(FAKE_CUDA_NAMELESS, "it has no function kestrel_cuda_table");
  refused(FAKE_CUDA_OLD,
          "it is of version 99, this package of version " + std::to_string(KESTREL_GPU_VERSION));
}

TEST(GpuLoader, SaysWhatTheDriverSays) {
  const Environment environment("FAKE_CUDA_DEVICE", "1");
  const gpu_error problem = problem_with(FAKE_CUDA_GOOD);
  EXPECT_EQ(problem.problem, GpuProblem::no_device);
  EXPECT_STREQ(problem.what(), "there is no usable CUDA device: FAKE_CUDA_DEVICE says 1");
}

TEST(GpuLoader, RemembersAProblemUntilAnotherObjectIsSet) {
  {
    const Environment environment("FAKE_CUDA_DEVICE", "1");
    problem_with(FAKE_CUDA_GOOD);
  }
  EXPECT_EQ(problem_of([] { gpu_table(); }).problem, GpuProblem::no_device);
  set_gpu_object(FAKE_CUDA_GOOD, "");
  EXPECT_STREQ(gpu_device().name, "fake device");
}

TEST(GpuLoader, TriesAgainWhereMemoryWasLacking) {
  {
    const Environment environment("FAKE_CUDA_DEVICE", "2");
    const gpu_error problem = problem_with(FAKE_CUDA_GOOD);
    EXPECT_EQ(problem.problem, GpuProblem::memory);
    EXPECT_STREQ(problem.what(),
                 "the CUDA device has too little free memory: FAKE_CUDA_DEVICE says 2");
  }
  EXPECT_STREQ(gpu_device().name, "fake device");
}

TEST(GpuLoader, RefusesInAForkedProcess) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  gpu_device();
  const pid_t child = fork();
  if (child == 0) {
    try {
      gpu_table();
    } catch (const gpu_error& problem) {
      _exit(problem.problem == GpuProblem::forked ? 7 : 8);
    }
    _exit(9);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_STREQ(gpu_device().name, "fake device");
}

class GpuDensity : public testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(Data, GpuDensity, testing::ValuesIn(shapes::data_of_every_kind()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Dimensions, GpuDensity,
                         testing::ValuesIn(shapes::dimensions_of_every_kind()), name_of);

TEST_P(GpuDensity, SendsWhatTheCpuSums) {
  const Shape& shape = GetParam();
  set_gpu_object(FAKE_CUDA_GOOD, "");
  std::vector<KernelChoice> choices = {{Kernel::gaussian, KernelType::radial},
                                       {Kernel::epanechnikov, KernelType::radial},
                                       {Kernel::triweight, KernelType::radial}};
  if (shape.diagonal) {
    choices.push_back({Kernel::epanechnikov, KernelType::product});
    choices.push_back({Kernel::cosine, KernelType::product});
    choices.push_back({Kernel::uniform, KernelType::product});
  }
  for (const KernelChoice& choice : choices) {
    const std::vector<double> wanted = on_cpu(shape, choice);
    double largest = 0.0;
    for (double value : wanted) largest = std::fmax(largest, value);
    for (bool single : {false, true}) {
      const std::vector<double> got = on_device(shape, choice, single);
      double worst = 0.0;
      for (std::size_t i = 0; i < shape.m; ++i) {
        worst = std::fmax(worst, std::fabs(got[i] - wanted[i]));
      }
      EXPECT_LE(worst, 1e-12 * largest) << "kernel " << static_cast<int>(choice.kernel);
    }
  }
}

TEST(GpuDensity, RefusesSizesThatDoNotFit) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  const Shape two = shapes::make("two", 20, 5, 2, 1.0),
              three = shapes::make("three", 20, 5, 3, 1.0);
  EvaluationPoints points;
  points.matrix = three.evaluation();
  std::vector<double> out(5);
  EXPECT_THROW(gpu_density(two.samples(), two.weights(), points, {}, two.bandwidth(), false,
                           plain(), {out.data(), out.size()}),
               error);
}

TEST(GpuDensity, TurnsCodesIntoProblems) {
  const Shape shape = shapes::data_of_every_kind()[0];
  const KernelChoice gaussian{};
  set_gpu_object(FAKE_CUDA_GOOD, "");
  gpu_device();
  for (const char* at : {"FAKE_CUDA_OPEN", "FAKE_CUDA_SUM"}) {
    const Environment environment(at, "2");
    const gpu_error problem = problem_of([&] { on_device(shape, gaussian); });
    EXPECT_EQ(problem.problem, GpuProblem::memory);
    EXPECT_EQ(std::string(problem.what()),
              "the CUDA device has too little free memory: " + std::string(at) + " says 2");
  }
  {
    const Environment environment("FAKE_CUDA_SUM", "6");
    const gpu_error problem = problem_of([&] { on_device(shape, gaussian); });
    EXPECT_EQ(problem.problem, GpuProblem::memory);
    EXPECT_STREQ(problem.what(),
                 "the host of the CUDA device has too little memory: FAKE_CUDA_SUM says 6");
  }
  on_device(shape, gaussian);  // memory may be available again
  {
    const Environment environment("FAKE_CUDA_OPEN", "5");
    const gpu_error problem = problem_of([&] { on_device(shape, gaussian); });
    EXPECT_EQ(problem.problem, GpuProblem::unsuited);
    EXPECT_STREQ(problem.what(), "the CUDA object was not made for this: FAKE_CUDA_OPEN says 5");
  }
  on_device(shape, gaussian);  // and here it is
  {
    const Environment environment("FAKE_CUDA_SUM", "3");
    EXPECT_EQ(problem_of([&] { on_device(shape, gaussian); }).problem, GpuProblem::failed);
  }
  // The driver does not recover.
  EXPECT_STREQ(problem_of([&] { on_device(shape, gaussian); }).what(),
               "the CUDA device failed: FAKE_CUDA_SUM says 3");
}

TEST(GpuDensity, CarriesOutWhatThePollThrows) {
  const Shape shape = shapes::data_of_every_kind()[0];
  set_gpu_object(FAKE_CUDA_GOOD, "");
  RunOptions options = plain();
  int asked = 0;
  double last = 0.0;
  options.parallel.poll = [&](double fraction) {
    EXPECT_GE(fraction, last);
    last = fraction;
    if (++asked == 3) throw std::runtime_error("enough");
  };
  EXPECT_THROW(on_device(shape, {}, false, options), std::runtime_error);
  EXPECT_EQ(asked, 3);
}

double pilot_of(const Shape& shape) { return shape.bandwidth()[0]; }

/// Sums over pairs of every kind; functionals are relative to the scale of their terms.
std::vector<double> pair_sums(const Shape& shape, bool device) {
  const MatrixView x = shape.samples();
  const Span<const double> w = shape.weights(), root = shape.bandwidth();
  const std::vector<double> h{0.5, 2.0, 1.0};
  const LscvPairSums sums =
      device ? gpu_lscv(x, w, root, true, plain()) : direct_lscv(x, w, root, true, plain());
  const PairCurve curve = device ? gpu_lscv_curve(x, w, root, {h.data(), h.size()}, false, plain())
                                 : direct_lscv_curve(x, w, root, {h.data(), h.size()}, plain());
  std::vector<double> all = curve.convolution;
  all.insert(all.end(), curve.kernel.begin(), curve.kernel.end());
  all.push_back(sums.convolution.sum);
  all.push_back(sums.kernel.sum);
  for (const GaussianPairSums* of : {&sums.convolution, &sums.kernel}) {
    for (double moment : of->moments) all.push_back(moment);
  }
  for (int order = 0; order <= 10; order += 2) {
    const double g = pilot_of(shape), unit = std::pow(g, order);
    all.push_back(unit * (device ? gpu_pair_laplacian(x, w, g, order, false, plain())
                                 : direct_pair_laplacian(x, w, g, order, plain())));
  }
  return all;
}

class GpuPairs : public testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Dimensions, GpuPairs, testing::Values(1, 2, 3, 7));

TEST_P(GpuPairs, SendsWhatTheCpuSums) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  const Shape shape = shapes::tilted(shapes::make("pairs", 300, 1, GetParam(), 0.8));
  const std::vector<double> wanted = pair_sums(shape, false), got = pair_sums(shape, true);
  double largest = 0.0;
  for (double value : wanted) largest = std::fmax(largest, std::fabs(value));
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], wanted[i], 1e-12 * largest) << "number " << i;
  }
}

TEST_P(GpuPairs, SendsMonomialsAsTheCpuSumsThem) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  const Shape shape = shapes::make("pairs", 150, 1, GetParam(), 0.8);
  for (int order = 0; order <= (GetParam() < 4 ? 8 : 4); order += 2) {
    const std::vector<double> wanted =
        direct_pair_moments(shape.samples(), shape.weights(), 0.7, order, plain());
    const std::vector<double> got =
        gpu_pair_moments(shape.samples(), shape.weights(), 0.7, order, plain());
    ASSERT_EQ(got.size(), wanted.size());
    double largest = 0.0;
    for (double value : wanted) largest = std::fmax(largest, std::fabs(value));
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], wanted[i], 1e-12 * largest) << "number " << i << " to order " << order;
    }
  }
}

TEST_P(GpuPairs, AsksForSinglePrecision) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  const Shape shape = shapes::make("pairs", 300, 1, GetParam(), 0.8);
  const std::vector<double> h{0.5, 2.0};
  const auto sums = [&](bool single) {
    PairCurve curve = gpu_lscv_curve(shape.samples(), shape.weights(), shape.bandwidth(),
                                     {h.data(), h.size()}, single, plain());
    std::vector<double> all = curve.kernel;
    all.push_back(gpu_pair_laplacian(shape.samples(), shape.weights(), 1.0, 0, single, plain()));
    return all;
  };
  const std::vector<double> twice = sums(false), once = sums(true);
  for (std::size_t i = 0; i < twice.size(); ++i) {
    EXPECT_NE(once[i], twice[i]);
    EXPECT_NEAR(once[i], twice[i], 1e-6 * twice[i]);
  }
}

TEST(GpuPairs, RefusesWhatIsTooWideOrHasTooManyVariables) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  const auto problem = [](std::size_t d, double farthest) {
    std::vector<double> x(3 * d, 0.0), w(3, 1.0), root(d * d, 0.0);
    for (std::size_t k = 0; k < d; ++k) root[k * d + k] = 1.0;
    x[0] = farthest;
    return problem_of([&] {
             gpu_lscv({x.data(), 3, d}, {w.data(), 3}, {root.data(), root.size()}, false, plain());
           })
        .problem;
  };
  EXPECT_EQ(problem(2, 1e4), GpuProblem::unsuited);
  EXPECT_EQ(problem(129, 1.0), GpuProblem::unsuited);
  const std::vector<double> zeros(99, 0.0);
  const gpu_error many = problem_of([&] {
    gpu_pair_moments({zeros.data(), 3, 33}, {zeros.data(), 3}, 1.0, 2, plain());
  });
  EXPECT_EQ(many.problem, GpuProblem::unsuited);
  EXPECT_STREQ(many.what(), "such sums over pairs on a CUDA device take at most 32 variables");
  EXPECT_EQ(problem(1, 1e160), GpuProblem::unsuited);
  // On a line no data are too wide.
  const std::vector<double> x{1e9, 0.0, 1.0}, w(3, 1.0), root{1.0};
  const auto sums = [&](const auto& lscv) {
    return lscv({x.data(), 3, 1}, {w.data(), 3}, {root.data(), 1}, false, plain()).kernel.sum;
  };
  EXPECT_NEAR(sums(gpu_lscv), sums(direct_lscv), 1e-15);
  // Except in single precision.
  const auto curve = [&](bool single) {
    const double h = 1.0;
    return gpu_lscv_curve({x.data(), 3, 1}, {w.data(), 3}, {root.data(), 1}, {&h, 1}, single,
                          plain());
  };
  EXPECT_GT(curve(false).kernel[0], 0.0);
  EXPECT_EQ(problem_of([&] { curve(true); }).problem, GpuProblem::unsuited);
}

TEST(GpuPairs, TurnsCodesIntoProblemsAndCarriesOutWhatThePollThrows) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  const Shape shape = shapes::make("pairs", 300, 1, 2, 0.8);
  const auto run = [&](const RunOptions& options) {
    gpu_pair_laplacian(shape.samples(), shape.weights(), 1.0, 4, false, options);
  };
  {
    const Environment environment("FAKE_CUDA_PAIRS", "2");
    EXPECT_EQ(problem_of([&] { run(plain()); }).problem, GpuProblem::memory);
  }
  RunOptions options = plain();
  options.parallel.poll = [](double fraction) {
    if (fraction > 0.5) throw std::runtime_error("enough");
  };
  EXPECT_THROW(run(options), std::runtime_error);
}

}  // namespace
