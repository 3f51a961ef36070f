// The scanline engine on a device, from the host's side: the data that are sent give the CPU's
// bits, with an object that needs no CUDA (fake-cuda.cpp).
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "gpu/cost.hpp"
#include "gpu/loader.hpp"
#include "gpu/scanline.hpp"
#include "scanline-expect.hpp"

using namespace kestrel;
using scanline_oracle::Case;
using scanline_oracle::name_of;
using scanline_oracle::run_on;

namespace {

/// The radial Epanechnikov kernel by events; other kernels, with uniform ones where points lie on
/// their rim.
std::vector<Case> cases() {
  std::vector<Case> all = scanline_oracle::cases_of_every_kind();
  for (const Case& c : scanline_oracle::cases_of_every_kernel()) {
    if (c.choice.kernel != Kernel::epanechnikov) all.push_back(c);
  }
  scanline_oracle::add_lattices(2, 60, [&](const Case& c) {
    for (const KernelType type : {KernelType::radial, KernelType::product}) {
      all.push_back(scanline_oracle::with_kernel(c, Kernel::uniform, type));
      all.push_back(scanline_oracle::with_kernel(c, Kernel::epanechnikov, type));
    }
  });
  return all;
}

class GpuScanlineOf : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { set_gpu_object(FAKE_CUDA_GOOD, ""); }
};
INSTANTIATE_TEST_SUITE_P(Cases, GpuScanlineOf, testing::ValuesIn(cases()), name_of);

RunOptions plain() { return run_on(common::tables().back(), 1); }

/// By the same method on the CPU, all at once.
std::vector<double> on_cpu(const Case& c, int limbs) {
  ScanlineSettings settings;
  settings.limbs = limbs;
  settings.method = gpu_takes_events(c.choice, c.d) ? ScanlineMethod::events : ScanlineMethod::rows;
  settings.sorted = true;
  return scanline_oracle::density(c, settings, plain());
}

template <class Call>
auto with_parts(const Case& c, const Call& call) {
  const std::vector<RegularAxis> axes = c.grid();
  return call(MatrixView{c.x.data(), c.n, c.d}, Span<const double>{c.w.data(), c.n},
              Span<const RegularAxis>{axes.data(), c.d},
              Span<const double>{c.root.data(), c.root.size()});
}

std::vector<double> on_device(const Case& c, int limbs, const RunOptions& options) {
  std::vector<double> out(c.points(), -1.0);
  with_parts(c, [&](const auto& x, const auto& w, const auto& axes, const auto& root) {
    ScanlineSettings settings;
    settings.limbs = limbs;
    gpu_scanline_density(x, w, axes, c.choice, root, settings, options, {out.data(), out.size()});
  });
  return out;
}

Case plane() {
  return scanline_oracle::make("plane", 300, {40, 50}, 6.0, 0.5, scanline_oracle::inside);
}

}  // namespace

TEST_P(GpuScanlineOf, HasTheBitsOfTheCpu) {
  const Case& c = GetParam();
  // The object does one addition after the other, so large cases take seconds.
  const std::vector<int> all =
      c.points() > 2000 ? std::vector<int>{0} : std::vector<int>{0, 1, 2, 4};
  for (const int limbs : all) {
    EXPECT_TRUE(common::same_bits(on_device(c, limbs, plain()), on_cpu(c, limbs))) << limbs;
  }
}

TEST_P(GpuScanlineOf, HasThemSlabBySlab) {
  const Case& c = GetParam();
  const std::vector<double> whole = on_cpu(c, 0);
  with_parts(c, [&](const auto& x, const auto& w, const auto& axes, const auto& root) {
    const GpuScanline runs(x, w, axes, c.choice, root, {}, plain());
    for (const std::size_t thick : {std::size_t{1}, runs.count() / 2 + 1}) {
      std::vector<double> out(c.points(), -1.0);
      for (std::size_t first = 0; first < runs.count(); first += thick) {
        const std::size_t count = std::min(thick, runs.count() - first);
        runs.slab(first, count, plain(),
                  {out.data() + first * runs.points(), count * runs.points()});
      }
      EXPECT_TRUE(common::same_bits(out, whole)) << thick;
    }
  });
}

// Beyond kScanlineFarthest, where an index times a part of the step is not exact any more.
TEST(GpuScanline, HasTheBitsOfTheCpuForSamplesFromAfar) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  Case c = plane();
  for (RegularAxis& axis : c.axes) axis.step = 0.1;
  for (std::size_t i = 0; i < c.x.size(); ++i) c.x[i] = (i % 2 == 0 ? 3e7 : -5e7) + c.x[i] / 3;
  c.root = {8e7, 1e7, 0, 9e7};
  const std::vector<double> wanted = on_cpu(c, 2);
  EXPECT_GT(*std::max_element(wanted.begin(), wanted.end()), 0);
  EXPECT_TRUE(common::same_bits(on_device(c, 2, plain()), wanted));
}

TEST(GpuScanline, RefusesSlabsInAForkedProcess) {
  set_gpu_object(FAKE_CUDA_GOOD, "");
  const Case c = plane();
  with_parts(c, [&](const auto& x, const auto& w, const auto& axes, const auto& root) {
    const GpuScanline runs(x, w, axes, c.choice, root, {}, plain());
    std::vector<double> out(c.points());
    EXPECT_TRUE(gpu_here());
    const pid_t child = fork();
    if (child == 0) {
      try {
        if (gpu_here()) _exit(6);
        runs.slab(0, runs.count(), plain(), {out.data(), out.size()});
      } catch (const gpu_error& problem) {
        _exit(problem.problem == GpuProblem::forked ? 7 : 8);
      }
      _exit(9);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 7);
  });
}

TEST(GpuScanline, TurnsCodesIntoProblemsAndCarriesOutWhatThePollThrows) {
  for (const char* variable : {"FAKE_CUDA_OPEN", "FAKE_CUDA_SLAB"}) {
    set_gpu_object(FAKE_CUDA_GOOD, "");
    setenv(variable, "2", 1);
    GpuProblem problem = GpuProblem::failed;
    try {
      on_device(plane(), 1, plain());
    } catch (const gpu_error& thrown) {
      problem = thrown.problem;
    }
    unsetenv(variable);
    EXPECT_EQ(problem, GpuProblem::memory) << variable;
  }
  RunOptions options = plain();
  options.parallel.poll = [](double fraction) {
    if (fraction > 0.29) throw std::runtime_error("enough");
  };
  EXPECT_THROW(on_device(plane(), 1, options), std::runtime_error);
}
