// Densities by the fourier engine, against the oracle.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/criteria/fourier_sums.hpp"
#include "core/fourier/density.hpp"
#include "fourier-samples.hpp"

using namespace kestrel;
using namespace fourier_oracle;

namespace {

constexpr double tolerance = 1e-12;

/// The lower Cholesky factor of a matrix.
std::vector<double> root_of(const std::vector<double>& H, std::size_t d) {
  std::vector<double> root(d * d, 0.0);
  for (std::size_t l = 0; l < d; ++l) {
    for (std::size_t k = l; k < d; ++k) {
      double sum = H[l * d + k];
      for (std::size_t m = 0; m < l; ++m) sum -= root[m * d + k] * root[m * d + l];
      root[l * d + k] = k == l ? std::sqrt(sum) : sum / root[l * d + l];
    }
  }
  return root;
}

struct Task {
  Drawn sample;
  std::vector<double> root, points, within;
  std::vector<std::vector<double>> axis;
  EvaluationPoints where;
  const FourierModes* modes = nullptr;

  explicit Task(const Drawn& s, std::size_t bandwidth = 2) : sample(s) {
    root = root_of(matrices_for(s)[bandwidth], s.d);
  }
  /// m values on each axis, from some bandwidths below the samples to some above.
  void use_grid(std::size_t m, double beyond) {
    axis.assign(sample.d, std::vector<double>(m));
    for (std::size_t k = 0; k < sample.d; ++k) {
      const auto first = sample.x.begin() + static_cast<std::ptrdiff_t>(k * sample.n);
      const auto range = std::minmax_element(first, first + static_cast<std::ptrdiff_t>(sample.n));
      const double low = *range.first - beyond * root[k * sample.d + k];
      const double high = *range.second + beyond * root[k * sample.d + k];
      for (std::size_t i = 0; i < m; ++i) {
        axis[k][i] = low + (high - low) * static_cast<double>(i) / static_cast<double>(m);
      }
      where.axes.push_back(span(axis[k]));
    }
  }
  /// The samples, and others near them.
  void use_points() {
    points = sample.x;
    for (std::size_t i = 0; i < points.size(); i += 2) points[i] += 0.4 * root[0];
    where.matrix = {points.data(), sample.n, sample.d};
  }
  /// Reads the density off the modes of a grid for a selector, and off no others, if there are
  /// any. Returns whether that grid serves.
  bool use_modes(const FourierSums& criteria) {
    modes = criteria.kept_modes();
    const DataRange extent = measured(threads(1));
    return extent.modes != nullptr && !lay_density(extent, tolerance).empty;
  }
  DataRange measured(const RunOptions& options) const {
    DataRange extent =
        measure_density(sample.view(), sample.weights(), where, span(root), options, modes);
    if (extent.modes != nullptr) extent.frame = {extent.frame.back()};
    return extent;
  }
  std::vector<double> run(const RunOptions& options, double bytes = 1e9) const {
    std::vector<double> out(where.size(), -1.0);
    const DataRange extent = measured(options);
    fourier_density(sample.view(), sample.weights(), where, span(root), span(within), extent,
                    tolerance, bytes, options, {out.data(), out.size()});
    return out;
  }
};

void expect_density(const Task& task) {
  const std::size_t d = task.sample.d, m = task.where.size();
  const std::vector<double> out = task.run(threads(1));
  std::vector<double> all(m * d);
  std::vector<std::size_t> which(m);
  for (std::size_t i = 0; i < m; ++i) {
    double v[3];
    task.where.copy(i, v);
    for (std::size_t k = 0; k < d; ++k) all[k * m + i] = v[k];
    which[i] = i;
  }
  const std::vector<real> wanted =
      oracle::density(task.sample.view(), task.sample.w, {all.data(), m, d}, which,
                      oracle::ScaledKernel({}, d, task.root));
  const real largest = *std::max_element(wanted.begin(), wanted.end());
  for (std::size_t i = 0; i < m; ++i) {
    EXPECT_LE(std::fabs(out[i] - wanted[i]), tolerance * largest) << i;
    EXPECT_GE(out[i], 0.0);
    // Values that are summed again have digits of their own.
    if (wanted[i] < 50 * tolerance * largest && wanted[i] > 1e-290L) {
      EXPECT_LE(std::fabs(out[i] - wanted[i]), 0.01L * wanted[i]) << i;
    }
  }
}

std::vector<Drawn> all_samples() {
  std::vector<Drawn> all;
  for (const std::size_t d : {1, 2, 3}) {
    for (const Drawn& s : samples_of_every_kind(d == 3 ? 80 : 120, d)) all.push_back(s);
  }
  return all;
}

class FourierDensity : public testing::TestWithParam<Drawn> {};

INSTANTIATE_TEST_SUITE_P(Shapes, FourierDensity, testing::ValuesIn(all_samples()),
                         [](const auto& info) { return info.param.name; });

}  // namespace

TEST_P(FourierDensity, OnGrids) {
  Task task(GetParam());
  task.use_grid(GetParam().d == 1 ? 200 : GetParam().d == 2 ? 33 : 13, 12);
  expect_density(task);
}

TEST_P(FourierDensity, AtPoints) {
  for (const std::size_t bandwidth : {0, 2}) {
    Task task(GetParam(), bandwidth);
    task.use_points();
    expect_density(task);
  }
}

// Outliers leave some samples out of the grid; a long period and small cells are refused by memory.
TEST_P(FourierDensity, OffTheModesOfASelector) {
  const Drawn& s = GetParam();
  FourierDemand demand;
  demand.min = 0.6 * normal_scale(s);
  demand.max = 2.5 * normal_scale(s);
  demand.density_tolerance = tolerance;
  demand.phases = true;
  std::unique_ptr<FourierSums> criteria;
  try {
    criteria = std::make_unique<FourierSums>(s.view(), s.weights(), demand, threads(1));
  } catch (const error& problem) {
    ASSERT_EQ(problem.kind, ErrorKind::memory);
    return;
  }
  const bool whole = !criteria->modes().geometry().trimmed;
  for (const bool on_grid : {false, true}) {
    Task task(s);
    if (on_grid) {
      task.use_grid(s.d == 3 ? 9 : 21, 5);
    } else {
      task.use_points();
    }
    EXPECT_EQ(task.use_modes(*criteria), whole) << on_grid;
    if (!whole) continue;
    expect_density(task);
    const std::vector<double> one = task.run(threads(1));
    EXPECT_TRUE(common::same_bits(task.run(threads(3)), one));
  }
}

TEST(FourierDensityModes, AreNotUsedForNarrowerOrWiderBandwidths) {
  const Drawn s = normal_sample(100, 2);
  FourierDemand demand;
  demand.min = 0.6 * normal_scale(s);
  demand.max = 2.5 * normal_scale(s);
  demand.density_tolerance = tolerance;
  demand.phases = true;
  const FourierSums criteria(s.view(), s.weights(), demand, threads(1));
  demand.phases = false;
  const FourierSums without(s.view(), s.weights(), demand, threads(1));
  for (const double factor : {0.3, 1.0, 20.0}) {
    Task task(s);
    for (double& value : task.root) value *= factor;
    task.use_points();
    EXPECT_EQ(task.use_modes(criteria), factor == 1.0) << factor;
    EXPECT_FALSE(task.use_modes(without));
  }
}

TEST(FourierDensityCorners, OneValueAnAxisFarPointsAndFewSamples) {
  for (const std::size_t d : {1, 2, 3}) {
    const Drawn s = normal_sample(60, d);
    Task one(s);
    one.use_grid(1, 0);
    expect_density(one);
    Task far(s);
    far.use_points();
    far.points[0] = 1e6;
    far.points[far.sample.n - 1] = -30;
    expect_density(far);
    Task nowhere(s);
    nowhere.use_points();
    for (double& v : nowhere.points) v += 1000;
    expect_density(nowhere);
    Task single(s);
    single.sample.n = 1;
    single.sample.x.resize(d);
    single.sample.w = {2.5};
    single.use_grid(9, 5);
    expect_density(single);
    Task nothing(s);
    std::fill(nothing.sample.w.begin(), nothing.sample.w.end(), 0.0);
    nothing.use_points();
    expect_density(nothing);
  }
}

TEST(FourierDensityThreads, GiveTheSameBits) {
  for (const std::size_t d : {2, 3}) {
    Task grid(normal_sample(3000, d));
    grid.use_grid(d == 2 ? 90 : 30, 6);
    Task points(normal_sample(3000, d));
    points.use_points();
    for (const Task* task : {&grid, &points}) {
      const std::vector<double> one = task->run(threads(1));
      for (const int count : common::thread_counts()) {
        EXPECT_TRUE(common::same_bits(task->run(threads(count)), one)) << count << " threads";
      }
    }
  }
}

TEST(FourierDensityFar, KeepsTheDigitsThatRoundingLeavesOrRefuses) {
  for (const std::size_t d : {2, 3}) {
    for (const double far : {1e5, 1e9, 1e12, 1e15, 1e17, 1e18, -1e30, 1e300}) {
      Task task(normal_sample(60, d));
      task.use_points();
      task.sample.x[0] = far;  // far from every point
      const std::size_t m = task.where.size();
      const DataRange extent = measure_density(task.sample.view(), task.sample.weights(),
                                               task.where, span(task.root), threads(1));
      const double rounding = lay_density(extent, tolerance).rounding;
      EXPECT_EQ(rounding > kMaxFourierTolerance, std::fabs(far) > 1e14) << far;
      if (rounding > kMaxFourierTolerance) {
        try {
          task.run(threads(1));
          ADD_FAILURE() << "no error with a sample at " << far;
        } catch (const error& problem) {
          EXPECT_EQ(problem.kind, ErrorKind::input);
        }
        continue;
      }
      std::vector<std::size_t> all(m);
      std::iota(all.begin(), all.end(), std::size_t{0});
      const std::vector<real> wanted =
          oracle::density(task.sample.view(), task.sample.w, task.where.matrix, all,
                          oracle::ScaledKernel({}, d, task.root));
      const std::vector<double> out = task.run(threads(1));
      const real largest = *std::max_element(wanted.begin(), wanted.end());
      for (std::size_t i = 0; i < m; ++i) {
        EXPECT_LE(std::fabs(out[i] - wanted[i]), (tolerance + rounding) * largest) << far;
      }
    }
  }
}

TEST(FourierDensityErrors, MemoryAndInput) {
  Task task(normal_sample(50, 2));
  task.use_points();
  try {
    task.run(threads(1), 1e4);
    ADD_FAILURE() << "no error";
  } catch (const error& problem) {
    EXPECT_EQ(problem.kind, ErrorKind::memory);
  }
  std::vector<double> out(task.where.size());
  const DataRange extent = measure_density(task.sample.view(), task.sample.weights(), task.where,
                                           span(task.root), threads(1));
  for (const double bad : {0.0, 1e-15, 0.5}) {
    EXPECT_THROW(
        fourier_density(task.sample.view(), task.sample.weights(), task.where, span(task.root), {},
                        extent, bad, 1e9, threads(1), {out.data(), out.size()}),
        error);
  }
  task.root[0] = 0;
  EXPECT_THROW(task.run(threads(1)), error);
}

TEST(FourierDensityFar, BeyondLimitsValuesHaveTheErrorOfTheGrid) {
  for (std::size_t d = 2; d <= 3; ++d) {
    Task task(normal_sample(200, d));
    task.use_points();
    // From the middle of the samples to 12 bandwidths beyond them.
    for (std::size_t i = 0; i < task.sample.n; ++i) {
      task.points[i] = -1 + 0.15 * static_cast<double>(i) * task.root[0];
    }
    const std::vector<double> all = task.run(threads(1));
    const double largest = *std::max_element(all.begin(), all.end());
    std::vector<double> limits(2 * d, -HUGE_VAL);
    std::fill(limits.begin() + static_cast<std::ptrdiff_t>(d), limits.end(), HUGE_VAL);
    task.within = limits;
    EXPECT_TRUE(common::same_bits(task.run(threads(1)), all));
    const double upper = task.points[task.sample.n / 2];
    task.within[d] = upper;
    const std::vector<double> near = task.run(threads(1));
    EXPECT_TRUE(common::same_bits(task.run(threads(3)), near));
    std::size_t other = 0;
    for (std::size_t i = 0; i < near.size(); ++i) {
      EXPECT_GE(near[i], 0);
      EXPECT_LE(std::fabs(near[i] - all[i]), 2 * tolerance * largest);
      if (task.points[i] <= upper) {
        EXPECT_LE(std::fabs(near[i] - all[i]), 0.02 * all[i]);  // far ones are summed to 1 %
      } else {
        other += near[i] != all[i] ? 1 : 0;
      }
    }
    EXPECT_GT(other, 10u);
  }
}

TEST(FourierDensityFar, IsPolledForWithinABlockOfPoints) {
  struct Interrupt {};
  // Points beyond the samples, close together: one block, for which all samples are looked at.
  Task task(normal_sample(std::size_t{1} << 18, 2));
  for (double& v : task.sample.x) v *= 1e-3;
  task.root = {1, 0, 0, 1};
  for (int i = 0; i < 512; ++i) task.points.push_back(20 + 1e-4 * (i % 256));
  task.where.matrix = {task.points.data(), 256, 2};
  RunOptions options = common::run_on(simd::baseline_table());
  std::size_t polls = 0;
  options.parallel.poll = [&](double fraction) {
    // The fraction before the only item is done.
    if (fraction > 0.905 && fraction < 0.915 && ++polls == 2) throw Interrupt();
  };
  EXPECT_THROW(task.run(options), Interrupt);
}
