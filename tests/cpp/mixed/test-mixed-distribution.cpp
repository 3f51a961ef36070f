// Distribution functions of mixed data, beside direct sums in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "common.hpp"
#include "core/mixed/mixed_distribution.hpp"
#include "mixed-data.hpp"

using namespace kestrel;

namespace {

using namespace mixed_data;

/// The integral of a kernel up to u.
real continuous_below(const MixedKernel& kernel, real u) {
  if (kernel.continuous != Kernel::gaussian) {
    const real reach = reach_of(kernel);
    const auto value = [&](real t) { return continuous(kernel, t); };
    return integral_of_pieces(kernel, -reach, std::min(std::max(u, -reach), reach), 0, value,
                              parts_of(kernel)) /
           whole_of(kernel);
  }
  const real v = u * u, root = std::sqrt(2 * std::acos(real{-1}));
  const real q = kernel.order == 2   ? 0
                 : kernel.order == 4 ? 0.5L
                 : kernel.order == 6 ? (7 - v) / 8
                                     : (57 - 16 * v + v * v) / 48;
  return std::erfc(-u * std::sqrt(0.5L)) / 2 + u * q * std::exp(-v / 2) / root;
}

/// The factor is given or, where nothing else is, ignored.
struct Oracle {
  const Data& data;
  const MixedKernel& kernel;
  MixedGiven given;
  mutable LevelSums levels_below = {};

  real weight(std::size_t i, std::size_t j) const {
    real value = 1;
    for (std::size_t c = 0; c < data.p; ++c) {
      if (given[c]) value *= continuous(kernel, offset(c, i, j));
    }
    if (given[data.p]) value *= unordered(data, kernel, data.factor[j], data.factor[i]);
    if (given[data.p + 1]) value *= ordered(data, kernel, level(j), level(i));
    return value;
  }
  /// The kernel of observation j integrated up to observation i.
  real below(std::size_t i, std::size_t j) const {
    real value = 1;
    for (std::size_t c = 0; c < data.p; ++c) {
      if (given[c]) continue;
      value *= continuous_below(kernel, offset(c, i, j));
    }
    if (given[data.p + 1]) return value;
    return value * levels_below.of(level(j), level(i), [&] {
      const bool bounded = kernel.ordered == OrderedKernel::racine_li_yan;
      real sum = 0;
      for (int at = bounded ? 1 : -100; at <= level(i); ++at) {
        sum += ordered(data, kernel, level(j), at);
      }
      return sum;
    });
  }
  real reached(std::size_t i, std::size_t j) const {
    for (std::size_t c = 0; c < data.p; ++c) {
      if (!given[c] && offset(c, i, j) < 0) return 0;
    }
    return given[data.p + 1] || level(j) <= level(i) ? 1 : 0;
  }
  int level(std::size_t i) const { return static_cast<int>(data.ordered[i]); }
  real offset(std::size_t c, std::size_t i, std::size_t j) const {
    return (static_cast<real>(data.x[c * data.n + i]) - data.x[c * data.n + j]) / kernel.h[c];
  }
};

bool conditional(const MixedGiven& given) {
  for (const bool one : given) {
    if (one) return true;
  }
  return false;
}

std::vector<MixedGiven> conditions_for(const Data& data) {
  std::vector<MixedGiven> all{MixedGiven(data.p + 2, false)};
  MixedGiven factor_given = all[0];
  factor_given[data.p] = true;
  all.push_back(factor_given);
  if (data.p > 1) {
    MixedGiven column_given = factor_given;
    column_given[0] = true;
    all.push_back(column_given);
    column_given[data.p + 1] = true;
    all.push_back(column_given);
  }
  return all;
}

std::vector<MixedKernel> kernels_for(const Data& data, bool factor) {
  std::vector<MixedKernel> all;
  for (const int order : {2, 4, 6, 8}) {
    for (const Kernel continuous : kContinuous) {
      if (!has_order(continuous, order)) continue;
      MixedKernel kernel;
      kernel.continuous = continuous;
      kernel.order = order;
      kernel.factor = order == 2 ? FactorKernel::li_racine : FactorKernel::aitchison_aitken;
      kernel.ordered = order == 2   ? OrderedKernel::li_racine
                       : order == 4 ? OrderedKernel::wang_van_ryzin
                                    : OrderedKernel::racine_li_yan;
      const double wide = data.name == "outlier" ? 3.0 : continuous == Kernel::gaussian ? 0.6 : 1.3;
      for (std::size_t c = 0; c < data.p; ++c) {
        kernel.h.push_back(wide * (1 + 0.3 * static_cast<double>(c)));
      }
      kernel.lambda = {factor ? 0.2 : HUGE_VAL, 0.4};
      all.push_back(kernel);
    }
  }
  return all;
}

/// All observations but every third, as a grid.
struct Grid {
  explicit Grid(const Data& data) {
    for (std::size_t i = 0; i < data.n; ++i) {
      if (i % 3 != 2) rows.push_back(i);
    }
    for (std::size_t c = 0; c < data.p; ++c) {
      for (const std::size_t i : rows) x.push_back(data.x[c * data.n + i]);
    }
    for (const std::size_t i : rows) {
      factor.push_back(data.factor[i]);
      ordered.push_back(data.ordered[i]);
    }
    const std::size_t m = rows.size();
    const MixedRows views{{x.data(), m, data.p}, {factor.data(), m}, {ordered.data(), m, 1}, m, 1};
    sample = std::make_unique<MixedSample>(views, std::vector<int>{1, 1}, Span<const double>(),
                                           Weights(), ParallelOptions{});
  }
  std::vector<std::size_t> rows;
  std::vector<double> x, ordered;
  std::vector<int> factor;
  std::unique_ptr<MixedSample> sample;
};

real squared_error(const Oracle& oracle, const std::vector<std::size_t>& rows, bool own,
                   std::size_t* lost) {
  const std::size_t n = oracle.data.n;
  real sum = 0;
  std::vector<real> below(rows.size() * n);
  for (std::size_t g = 0; g < rows.size(); ++g) {
    for (std::size_t j = 0; j < n; ++j) below[g * n + j] = oracle.below(rows[g], j);
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<real> weight(n);
    real all = 0;
    for (std::size_t j = 0; j < n; ++j) {
      weight[j] = i == j ? 0 : oracle.weight(i, j);
      all += weight[j];
    }
    if (all == 0) ++*lost;
    for (std::size_t g = 0; g < rows.size(); ++g) {
      if (!own && rows[g] == i) continue;
      real value = 0;
      for (std::size_t j = 0; j < n; ++j) value += weight[j] * below[g * n + j];
      const real error = (all == 0 ? 0 : value / all) - oracle.reached(rows[g], i);
      sum += error * error;
    }
  }
  return sum / (static_cast<real>(n) * static_cast<real>(rows.size()));
}

MixedCriterion error_of(const MixedSample& sample, const MixedGrid& grid, const MixedKernel& kernel,
                        const MixedGiven& given, bool gradient, const RunOptions& options) {
  return conditional(given)
             ? mixed_conditional_distribution_error(sample, grid, kernel, given, gradient, options)
             : mixed_distribution_error(sample, grid, kernel, gradient, options);
}

class MixedDistribution : public testing::TestWithParam<Data> {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Shapes, MixedDistribution, testing::ValuesIn(small_shapes()), name_of);

TEST_P(MixedDistribution, CriteriaAreThoseOfDirectSums) {
  const Data& data = GetParam();
  const MixedSample sample = sample_of(data);
  const Grid grid(data);
  std::vector<std::size_t> every;
  for (std::size_t i = 0; i < data.n; ++i) every.push_back(i);
  for (const MixedGiven& given : conditions_for(data)) {
    for (const MixedKernel& kernel : kernels_for(data, conditional(given))) {
      const Oracle oracle{data, kernel, given};
      // Weights of higher order have sums that cancel.
      const double loss = kernel.order == 2 || !conditional(given) ? 1e-12 : 1e-9;
      std::size_t lost = 0, none = 0;
      const double at_grid = static_cast<double>(squared_error(oracle, grid.rows, true, &lost));
      const double at_data = static_cast<double>(squared_error(oracle, every, false, &none));
      for (const simd::Table* table : common::tables()) {
        SCOPED_TRACE(std::string(table->name) + ", order " + std::to_string(kernel.order) +
                     ", kernel " + std::to_string(static_cast<int>(kernel.continuous)));
        const MixedCriterion first =
            error_of(sample, {grid.sample.get()}, kernel, given, false, on(table));
        EXPECT_NEAR(first.value, at_grid, loss * at_grid);
        EXPECT_EQ(first.unsupported, lost);
        const MixedCriterion second = error_of(sample, {}, kernel, given, false, on(table));
        EXPECT_NEAR(second.value, at_data, loss * at_data);
      }
    }
  }
}

TEST_P(MixedDistribution, GradientsAreDifferences) {
  const Data& data = GetParam();
  const MixedSample sample = sample_of(data);
  const Grid grid(data);
  const RunOptions options = on(simd::find_table("auto"));
  for (const MixedGiven& given : conditions_for(data)) {
    for (const MixedKernel& kernel : kernels_for(data, conditional(given))) {
      // Windows that gain observations have kinks.
      if (kernel.continuous != Kernel::gaussian) continue;
      for (const MixedGrid& at : {MixedGrid{grid.sample.get()}, MixedGrid{}}) {
        const MixedCriterion got = error_of(sample, at, kernel, given, true, options);
        ASSERT_EQ(got.gradient.size(), given.size());
        for (std::size_t k = 0; k < given.size(); ++k) {
          if (k == data.p && !conditional(given)) continue;
          const auto value = [&](double step) {
            MixedKernel moved = kernel;
            if (k < data.p) {
              moved.h[k] *= std::exp(step);
            } else {
              moved.lambda[k - data.p] += step;
            }
            return error_of(sample, at, moved, given, false, options).value;
          };
          const double step = 1e-3;
          const double half = (value(step / 2) - value(-step / 2)) / step;
          const double whole = (value(step) - value(-step)) / (2 * step);
          const double wanted = (4 * half - whole) / 3;
          // Weights of higher order may have sums near 0.
          const double unsure = std::fabs(half - whole) * (kernel.order > 2 ? 1.0 : 10 * step);
          EXPECT_NEAR(got.gradient[k], wanted, 1e-7 * (std::fabs(wanted) + got.value) + unsure)
              << k << ", order " << kernel.order;
        }
      }
    }
  }
}

TEST_P(MixedDistribution, EstimatesAreMeansAndRatiosOfMeans) {
  const Data& data = GetParam();
  const MixedSample sample = sample_of(data);
  const real n = static_cast<real>(data.n);
  for (const MixedGiven& given : conditions_for(data)) {
    for (MixedKernel kernel : kernels_for(data, conditional(given))) {
      kernel.form = MixedForm::distribution;
      const Oracle oracle{data, kernel, given};
      const double loss = kernel.order == 2 ? 1e-12 : 1e-9;
      std::vector<double> wanted, variances;
      for (std::size_t i = 0; i < data.n; ++i) {
        std::vector<real> weight(data.n), below(data.n);
        real sum = 0, all = 0, squares = 0;
        for (std::size_t j = 0; j < data.n; ++j) {
          weight[j] = conditional(given) ? oracle.weight(i, j) : 1;
          below[j] = oracle.below(i, j);
          sum += weight[j] * below[j];
          all += weight[j];
        }
        for (std::size_t j = 0; j < data.n; ++j) {
          const real off = weight[j] * (below[j] - sum / all) / all;
          squares += off * off;
        }
        wanted.push_back(static_cast<double>(sum / all));
        variances.push_back(
            static_cast<double>(conditional(given) ? squares : squares * n / (n - 1)));
      }
      for (const simd::Table* table : common::tables()) {
        const MixedDensities got = mixed_densities(sample, sample, kernel, given, false, on(table));
        for (std::size_t i = 0; i < data.n; ++i) {
          EXPECT_NEAR(got.density[i], wanted[i], loss * (1 + std::fabs(wanted[i])));
          EXPECT_NEAR(got.variance[i], variances[i], 10 * loss * (1e-3 + variances[i]));
        }
      }
    }
  }
}

TEST_P(MixedDistribution, QuantilesAreWhereDistributionFunctionsReachThem) {
  const Data& data = GetParam();
  if (data.p == 0) return;
  const MixedSample sample = sample_of(data);
  MixedGiven given(data.p + 2, true);
  given[data.p - 1] = false;
  const RunOptions options = on(simd::find_table("auto"));
  for (MixedKernel kernel : kernels_for(data, true)) {
    if (kernel.order != 2) continue;
    for (const double tau : {0.01, 0.5, 0.9}) {
      const MixedQuantiles got = mixed_quantiles(sample, sample, kernel, given, tau, options);
      const Oracle oracle{data, kernel, given};
      for (std::size_t i = 0; i < data.n; ++i) {
        // At the quantile, and one of its roundings below it.
        const auto reached = [&](double y) {
          real sum = 0, all = 0;
          for (std::size_t j = 0; j < data.n; ++j) {
            const real weight = oracle.weight(i, j);
            const std::size_t at = (data.p - 1) * data.n;
            sum += weight * continuous_below(kernel, (static_cast<real>(y) - data.x[at + j]) /
                                                         kernel.h[data.p - 1]);
            all += weight;
          }
          return sum / all;
        };
        const double q = got.quantile[i], step = 1e-13 * (1 + std::fabs(q));
        EXPECT_GE(reached(q + step), tau - 1e-14L) << tau;
        EXPECT_LE(reached(q - step), tau + 1e-14L) << tau;
      }
    }
  }
}

TEST(MixedDistribution, FarTailsKeepTheirDigits) {
  const std::vector<double> x{0.0};
  const MixedRows rows{{x.data(), 1, 1}, {}, {nullptr, 1, 0}, 1, 0};
  const MixedSample sample(rows, {}, {}, {}, {});
  std::vector<double> at;
  for (double u = -37; u <= 9; u += 0.173) at.push_back(u);
  const std::size_t m = at.size();
  const MixedRows places{{at.data(), m, 1}, {}, {nullptr, m, 0}, m, 0};
  const MixedSample points(places, {}, {}, {}, {});
  MixedKernel kernel;
  kernel.form = MixedForm::distribution;
  kernel.h = {1.0};
  for (const simd::Table* table : common::tables()) {
    const MixedDensities got = mixed_densities(sample, points, kernel, {false}, false, on(table));
    for (std::size_t i = 0; i < m; ++i) {
      const real wanted = std::erfc(-static_cast<real>(at[i]) * std::sqrt(0.5L)) / 2;
      EXPECT_NEAR(got.density[i], static_cast<double>(wanted), 1e-12 * static_cast<double>(wanted))
          << at[i];
    }
  }
}

TEST(MixedDistribution, AnyNumberOfThreadsHasTheSameBits) {
  const Data data = shapes_of_data()[3];
  const MixedSample sample = sample_of(data);
  const Grid grid(data);
  for (const MixedGiven& given : conditions_for(data)) {
    MixedKernel kernel = kernels_for(data, conditional(given))[0];
    const simd::Table* table = simd::find_table("auto");
    const MixedCriterion one =
        error_of(sample, {grid.sample.get()}, kernel, given, true, on(table, 1));
    const MixedCriterion three =
        error_of(sample, {grid.sample.get()}, kernel, given, true, on(table, 3));
    EXPECT_EQ(one.value, three.value);
    EXPECT_EQ(one.gradient, three.gradient);
  }
}
