// Compact sums on grids with a bandwidth for each sample, against sums in long double.
#include "common.hpp"
#include "core/base/error.hpp"
#include "core/scanline/variable.hpp"
#include "oracle.hpp"
#include "points-expect.hpp"

using namespace kestrel;
using namespace common;
using oracle::real;

namespace {

/// Samples about a grid with given steps and counts; the last axis but one is the longest.
struct Task {
  std::size_t n, d;
  std::vector<double> x, w, h;
  std::vector<RegularAxis> axes;
  std::vector<std::vector<double>> values;
  std::mt19937_64 random{7};

  Task(std::size_t samples, std::size_t dimension, double origin, double step, std::size_t count)
      : n(samples), d(dimension) {
    for (std::size_t k = 0; k < d; ++k) {
      const double of_axis = step * (k == 1 ? 0.5 : 1);
      const std::size_t points = k == 1 ? 2 * count : count + k;
      std::vector<double> axis;
      for (std::size_t i = 0; i < points; ++i) {
        axis.push_back(origin + of_axis * static_cast<double>(i));
      }
      values.push_back(axis);
      axes.push_back({origin, of_axis, points, {}});
    }
    for (std::size_t k = 0; k < d; ++k) {
      axes[k].values = {values[k].data(), values[k].size()};
      const double length = axes[k].step * static_cast<double>(values[k].size());
      for (std::size_t j = 0; j < n; ++j) {
        // A fifth lie on points of the grid, some beyond it, some are tied.
        const double at = origin + length * (1.4 * shapes::uniform(random) - 0.2);
        const double point = values[k][random() % values[k].size()];
        x.push_back(j % 5 == 0 ? point : j % 7 == 0 && j > 0 ? x.back() : at);
      }
    }
    for (std::size_t j = 0; j < n; ++j) w.push_back(static_cast<double>(j % 4) / 3);
  }
  /// Bandwidths of 10^from to 10^to steps.
  void set_bandwidths(double from, double to) {
    h.clear();
    for (std::size_t j = 0; j < n; ++j) {
      h.push_back(axes[0].step * std::pow(10.0, from + (to - from) * shapes::uniform(random)));
    }
  }
  std::size_t size() const {
    std::size_t all = 1;
    for (const auto& axis : values) all *= axis.size();
    return all;
  }
  std::vector<double> run(Kernel kernel, int threads) const {
    std::vector<double> out(size(), -1.0);
    variable_scanline({x.data(), n, d}, {w.data(), n}, {h.data(), n}, kernel, {axes.data(), d},
                      run_on(simd::baseline_table(), threads).parallel, {out.data(), out.size()});
    return out;
  }
  real wanted(Kernel kernel, std::size_t point) const {
    std::vector<real> at;
    for (const auto& axis : values) {
      at.push_back(axis[point % axis.size()]);
      point /= axis.size();
    }
    real sum = 0;
    for (std::size_t j = 0; j < n; ++j) {
      real square = 0, volume = 1;
      for (std::size_t k = 0; k < d; ++k) {
        const real u = (at[k] - x[k * n + j]) / h[j];
        square += u * u;
        volume *= h[j];
      }
      if (square < 1 || (kernel == Kernel::uniform && square == 1)) {
        sum += w[j] * oracle::profile(kernel, std::sqrt(square)) / volume;
      }
    }
    std::vector<double> unit(d * d, 0.0);
    for (std::size_t k = 0; k < d; ++k) unit[k * d + k] = 1;
    return sum * kernel_scale({kernel, KernelType::radial}, d, {unit.data(), unit.size()}).times(1);
  }
  void expect_sums(Kernel kernel) const {
    SCOPED_TRACE(std::string(kernel_name(kernel)) + ", d = " + std::to_string(d));
    const std::vector<double> found = run(kernel, 1);
    const std::size_t step = size() / 3000 + 1;
    std::vector<std::size_t> which;
    std::vector<real> sums;
    for (std::size_t i = 0; i < size(); i += step) {
      which.push_back(i);
      sums.push_back(wanted(kernel, i));
      if (sums.back() == 0) {
        EXPECT_EQ(found[i], 0.0);
      }
    }
    expect_close(found, which, sums);
    for (const int threads : thread_counts()) EXPECT_TRUE(same_bits(run(kernel, threads), found));
  }
};

}  // namespace

TEST(ScanlineVariable, SumsForEveryKernel) {
  for (std::size_t d = 1; d <= 3; ++d) {
    const std::size_t count = d == 1 ? 900 : d == 2 ? 60 : 17;
    Task task(150, d, -3, 0.25, count);
    task.set_bandwidths(-1, 2);
    for (const Kernel kernel : kernels_where([](Kernel one) { return is_compact(one); })) {
      task.expect_sums(kernel);
    }
  }
}

// The largest value is of the widest kernels where the narrow ones are between points.
TEST(ScanlineVariable, SumsForVeryDifferentBandwidths) {
  for (std::size_t d = 1; d <= 3; ++d) {
    const std::size_t count = d == 1 ? 2000 : d == 2 ? 70 : 15;
    for (const double origin : {0.1, 1e9}) {
      Task task(120, d, origin, origin > 1 ? 1.1 : 0.01, count);
      task.set_bandwidths(-6, 6);
      task.expect_sums(Kernel::epanechnikov);
      for (std::size_t i = 0; i < task.n * d; ++i) task.x[i] += 0.3 * task.axes[i / task.n].step;
      task.expect_sums(Kernel::epanechnikov);
      task.expect_sums(Kernel::triangular);
      task.set_bandwidths(-6, -1);
      task.expect_sums(Kernel::epanechnikov);
      task.set_bandwidths(6, 12);
      task.expect_sums(Kernel::epanechnikov);
      task.set_bandwidths(-60, 80);
      task.expect_sums(Kernel::epanechnikov);
      task.set_bandwidths(60, 80);
      task.expect_sums(Kernel::epanechnikov);
    }
  }
}

TEST(ScanlineVariable, SumsWhereAnAxisIsShort) {
  Task task(1, 3, 0, 1, 1);
  task.h = {1.5};
  task.x = {0.2, 0.7, -0.4};
  task.w = {2};
  task.expect_sums(Kernel::epanechnikov);
  task.h = {30};
  task.expect_sums(Kernel::epanechnikov);
  task.w = {0};
  EXPECT_EQ(task.run(Kernel::epanechnikov, 1), std::vector<double>(task.size(), 0.0));
  Task line(40, 1, 0, 1, 1);
  line.set_bandwidths(0, 3);
  line.expect_sums(Kernel::epanechnikov);
  line.h.pop_back();
  std::vector<double> out(1);
  EXPECT_THROW(variable_scanline({line.x.data(), 40, 1}, Weights::ones(40), {line.h.data(), 39},
                                 Kernel::epanechnikov, {line.axes.data(), 1}, {}, {out.data(), 1}),
               error);
}

// Windows are closed: on a lattice with bandwidths of a step or two.
TEST(ScanlineVariable, CountsTheEdgeOfUniformKernels) {
  const std::vector<double> x{0, 1, 2, 3}, h{1, 1, 2, 1}, wanted{1.25, 1.25, 1.25, 0.75};
  const RegularAxis axis{0, 1, 4, {}};
  std::vector<double> found(4);
  variable_scanline({x.data(), 4, 1}, Weights::ones(4), {h.data(), 4}, Kernel::uniform, {&axis, 1},
                    {}, {found.data(), 4});
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i], wanted[i], 1e-15);
}
