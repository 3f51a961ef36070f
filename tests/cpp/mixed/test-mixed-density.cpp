// Densities of mixed data, beside direct sums in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common.hpp"
#include "core/mixed/mixed_density.hpp"
#include "mixed-data.hpp"

using namespace kestrel;

namespace {

using namespace mixed_data;

real convolved(const MixedKernel& kernel, real u) {
  const real reach = reach_of(kernel), size = std::fabs(u), from = size - reach;
  if (from >= reach) return 0;
  return integral_of_pieces(kernel, from, reach, size, [&](real t) {
    return continuous(kernel, t) * continuous(kernel, size - t);
  });
}

/// The kernels of i and j, those that are given or the rest; or their convolutions.
struct Oracle {
  const Data& data;
  const MixedKernel& kernel;
  real whole = whole_of(kernel);
  mutable LevelSums convolutions[2] = {};

  real product(std::size_t i, std::size_t j, const MixedGiven& given, bool wanted,
               bool twice) const {
    real value = 1;
    for (std::size_t c = 0; c < data.p; ++c) {
      if (given[c] != wanted) continue;
      const real h = kernel.h[c];
      const real u = (static_cast<real>(data.x[c * data.n + i]) - data.x[c * data.n + j]) / h;
      value *=
          twice ? convolved(kernel, u) / (whole * whole * h) : continuous(kernel, u) / (whole * h);
    }
    const int levels[] = {data.levels, data.ordered_levels};
    for (int k = 0; k < 2; ++k) {
      if (given[data.p + static_cast<std::size_t>(k)] != wanted) continue;
      const int from = k == 0 ? data.factor[i] : static_cast<int>(data.ordered[i]);
      const int to = k == 0 ? data.factor[j] : static_cast<int>(data.ordered[j]);
      const auto one = [&](int a, int b) {
        return k == 0 ? unordered(data, kernel, a, b) : ordered(data, kernel, a, b);
      };
      if (!twice) {
        value *= one(to, from);
        continue;
      }
      value *= convolutions[k].of(from, to, [&] {
        const bool bounded = k == 0 || kernel.ordered == OrderedKernel::racine_li_yan;
        real sum = 0;
        for (int level = bounded ? 1 : -100; level <= (bounded ? levels[k] : 100); ++level) {
          sum += one(from, level) * one(to, level);
        }
        return sum;
      });
    }
    return value;
  }
  real all(std::size_t i, std::size_t j, const MixedGiven& given) const {
    return product(i, j, given, true, false) * product(i, j, given, false, false);
  }
};

bool any(const MixedGiven& given) {
  for (const bool one : given) {
    if (one) return true;
  }
  return false;
}

real likelihood(const Oracle& oracle, const MixedGiven& given, std::size_t* lost) {
  const real least = std::numeric_limits<double>::min();
  real value = 0;
  for (std::size_t i = 0; i < oracle.data.n; ++i) {
    real over = 0, under = 0;
    for (std::size_t j = 0; j < oracle.data.n; ++j) {
      if (i == j) continue;
      over += oracle.all(i, j, given);
      under += oracle.product(i, j, given, true, false);
    }
    const bool none = any(given) ? over <= 0 || under <= 0 : over < least;
    *lost += none ? 1 : 0;
    value += std::log(none ? least : any(given) ? over / under : over / (oracle.data.n - 1));
  }
  return value;
}

real squared_error(const Oracle& oracle, const MixedGiven& given, std::size_t* lost) {
  const std::size_t n = oracle.data.n;
  std::vector<real> rest(n * n), weight(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      rest[i * n + j] = j < i ? rest[j * n + i] : oracle.product(i, j, given, false, true);
      weight[i * n + j] = i == j ? 0 : oracle.product(i, j, given, true, false);
    }
  }
  real square = 0, once = 0;
  for (std::size_t l = 0; l < n; ++l) {
    real over = 0, under = 0, sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (i != l) over += oracle.all(l, i, given);
      under += weight[l * n + i];
      for (std::size_t j = 0; j < n; ++j) {
        sum += any(given) ? weight[l * n + i] * rest[i * n + j] * weight[l * n + j]
                          : rest[i * n + j] / static_cast<real>(n * n * n);
      }
    }
    if (any(given) && under == 0) {
      ++*lost;
      continue;
    }
    square += any(given) ? sum / (under * under) / static_cast<real>(n) : sum;
    once += over / (any(given) ? under : static_cast<real>(n - 1)) / static_cast<real>(n);
  }
  return square - 2 * once;
}

std::vector<MixedGiven> conditions_for(const Data& data) {
  std::vector<MixedGiven> all{MixedGiven(data.p + 2, false)};
  MixedGiven ordered_given = all[0];
  ordered_given[data.p + 1] = true;
  all.push_back(ordered_given);
  if (data.p > 1) {
    MixedGiven column_given = all[0];
    column_given[0] = column_given[data.p] = true;
    all.push_back(column_given);
  }
  return all;
}

std::vector<MixedKernel> kernels_for(const Data& data) {
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
      kernel.lambda = {0.2, 0.4};
      all.push_back(kernel);
    }
  }
  return all;
}

MixedCriterion error_of(const MixedSample& sample, const MixedKernel& kernel,
                        const MixedGiven& given, bool gradient, const RunOptions& options) {
  return any(given) ? mixed_conditional_error(sample, kernel, given, gradient, options)
                    : mixed_squared_error(sample, kernel, gradient, options);
}

class MixedDensity : public testing::TestWithParam<Data> {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Shapes, MixedDensity, testing::ValuesIn(small_shapes()), name_of);

TEST_P(MixedDensity, CriteriaAreThoseOfDirectSums) {
  const Data& data = GetParam();
  const MixedSample sample = sample_of(data);
  for (const MixedKernel& kernel : kernels_for(data)) {
    const Oracle oracle{data, kernel};
    // Kernels of higher order have sums that cancel.
    const double loss = kernel.order == 2 ? 1e-12 : 1e-9;
    for (const MixedGiven& given : conditions_for(data)) {
      std::size_t lost = 0, none = 0;
      const double wanted = static_cast<double>(likelihood(oracle, given, &lost));
      const double error = static_cast<double>(squared_error(oracle, given, &none));
      for (const simd::Table* table : common::tables()) {
        SCOPED_TRACE(std::string(table->name) + ", order " + std::to_string(kernel.order) +
                     ", kernel " + std::to_string(static_cast<int>(kernel.continuous)));
        const MixedCriterion got = mixed_log_likelihood(sample, kernel, given, false, on(table));
        EXPECT_NEAR(got.value, wanted, loss * (1 + std::fabs(wanted)));
        EXPECT_EQ(got.unsupported, lost);
        const MixedCriterion least = error_of(sample, kernel, given, false, on(table));
        EXPECT_NEAR(least.value, error, loss * (1 + std::fabs(error)));
        EXPECT_EQ(least.unsupported, none);
      }
    }
  }
}

TEST(MixedLeaves, ThoseOutOfReachAddNothingToDensities) {
  const Data data = leaves();
  const MixedSample sample = sample_of(data);
  for (const MixedKernel& kernel : narrow_kernels()) {
    if (std::isinf(kernel.h[0])) continue;
    const Oracle oracle{data, kernel};
    for (const MixedGiven& given : conditions_for(data)) {
      std::size_t lost = 0;
      const double wanted = static_cast<double>(likelihood(oracle, given, &lost));
      for (const simd::Table* table : common::tables()) {
        SCOPED_TRACE(table->name);
        const MixedCriterion got = mixed_log_likelihood(sample, kernel, given, false, on(table));
        EXPECT_NEAR(got.value, wanted, 1e-12 * std::fabs(wanted));
        EXPECT_EQ(got.unsupported, lost);
      }
    }
  }
}

TEST_P(MixedDensity, GradientsAreDifferences) {
  const Data& data = GetParam();
  const MixedSample sample = sample_of(data);
  const RunOptions options = on(simd::find_table("auto"));
  for (const MixedKernel& kernel : kernels_for(data)) {
    // Windows that gain observations have kinks.
    if (kernel.continuous != Kernel::gaussian) continue;
    for (const MixedGiven& given : conditions_for(data)) {
      for (const bool likelihood : {true, false}) {
        const auto value = [&](const MixedKernel& at, bool gradient) {
          return likelihood ? mixed_log_likelihood(sample, at, given, gradient, options)
                            : error_of(sample, at, given, gradient, options);
        };
        const MixedCriterion got = value(kernel, true);
        if (likelihood && got.unsupported > 0) continue;
        ASSERT_EQ(got.gradient.size(), given.size());
        for (std::size_t k = 0; k < given.size(); ++k) {
          const auto at = [&](double step) {
            MixedKernel moved = kernel;
            if (k < data.p) {
              moved.h[k] *= std::exp(step);
            } else {
              moved.lambda[k - data.p] += step;
            }
            return value(moved, false).value;
          };
          const double step = 1e-3;
          const double half = (at(step / 2) - at(-step / 2)) / step;
          const double whole = (at(step) - at(-step)) / (2 * step);
          const double wanted = (4 * half - whole) / 3;
          EXPECT_NEAR(got.gradient[k], wanted,
                      1e-7 * (std::fabs(wanted) + std::fabs(got.value)) +
                          10 * std::fabs(half - whole) * step)
              << k << ", order " << kernel.order << ", likelihood " << likelihood;
        }
      }
    }
  }
}

TEST_P(MixedDensity, EstimatesAreMeansAndRatiosOfMeans) {
  const Data& data = GetParam();
  const MixedSample sample = sample_of(data);
  const real n = static_cast<real>(data.n);
  for (const MixedKernel& kernel : kernels_for(data)) {
    const Oracle oracle{data, kernel};
    const double loss = kernel.order == 2 ? 1e-12 : 1e-9;
    for (const MixedGiven& given : conditions_for(data)) {
      const MixedDensities got =
          mixed_densities(sample, sample, kernel, given, false, on(simd::find_table("auto")));
      for (std::size_t i = 0; i < data.n; ++i) {
        std::vector<real> over, under;
        real sum = 0, all = 0, squares = 0;
        for (std::size_t j = 0; j < data.n; ++j) {
          over.push_back(oracle.all(i, j, given));
          under.push_back(any(given) ? oracle.product(i, j, given, true, false) : 1);
          sum += over[j];
          all += under[j];
        }
        for (std::size_t j = 0; j < data.n; ++j) {
          const real off = over[j] - sum / all * under[j];
          squares += off * off / (all * all);
        }
        if (!any(given)) squares *= n / (n - 1);
        const double scale = static_cast<double>(std::fabs(over[i] / all));
        EXPECT_NEAR(got.density[i], static_cast<double>(sum / all), loss * scale);
        EXPECT_NEAR(std::sqrt(got.variance[i]), std::sqrt(static_cast<double>(squares)),
                    1e3 * loss * scale);
      }
    }
  }
}

/// At shifted points.
TEST_P(MixedDensity, GradientsAtPointsAreDifferences) {
  const Data& data = GetParam();
  if (data.p == 0 || data.name == "offset") return;
  const MixedSample sample = sample_of(data);
  const RunOptions options = on(simd::find_table("auto"));
  for (const MixedKernel& kernel : kernels_for(data)) {
    if (kernel.continuous != Kernel::gaussian) continue;
    for (const MixedGiven& given : conditions_for(data)) {
      const MixedDensities got = mixed_densities(sample, sample, kernel, given, true, options);
      const auto at = [&](double step) {
        Data moved = data;
        for (std::size_t i = 0; i < data.n; ++i) moved.x[i] += step;
        return mixed_densities(sample, sample_of(moved), kernel, given, false, options).density;
      };
      const double step = 1e-3;
      const std::vector<double> up = at(step), down = at(-step), up2 = at(2 * step),
                                down2 = at(-2 * step);
      for (std::size_t i = 0; i < data.n; ++i) {
        const double wanted = (8 * (up[i] - down[i]) - (up2[i] - down2[i])) / (12 * step);
        EXPECT_NEAR(got.gradient[data.p * i], wanted, 1e-7 * (std::fabs(wanted) + 1));
        EXPECT_GE(got.gradient_variance[data.p * i], 0);
      }
    }
  }
}

TEST_P(MixedDensity, HasTheSameBitsOnAnyNumberOfThreads) {
  const Data& data = GetParam();
  const MixedSample sample = sample_of(data);
  const simd::Table* table = simd::find_table("auto");
  const MixedKernel kernel = kernels_for(data).front();
  for (const MixedGiven& given : conditions_for(data)) {
    const auto one = mixed_log_likelihood(sample, kernel, given, true, on(table, 1));
    const auto three = mixed_log_likelihood(sample, kernel, given, true, on(table, 3));
    EXPECT_EQ(one.value, three.value);
    EXPECT_EQ(one.gradient, three.gradient);
    const auto error = error_of(sample, kernel, given, true, on(table, 1));
    const auto errors = error_of(sample, kernel, given, true, on(table, 3));
    EXPECT_EQ(error.value, errors.value);
    EXPECT_EQ(error.gradient, errors.gradient);
  }
}

/// A column that is given and smoothed out is not there.
TEST(MixedDensities, SmoothedOutColumnsCountForNothing) {
  const auto normal = [](std::mt19937_64& random, std::size_t) { return shapes::normal(random); };
  const Data two = make("smoothed", 30, 2, normal);
  Data one = two;
  one.p = 1;
  one.x.resize(one.n);
  MixedKernel wide, narrow;
  wide.h = {0.7, HUGE_VAL};
  narrow.h = {0.7};
  wide.lambda = narrow.lambda = {0.3, 0.4};
  const RunOptions options = on(simd::find_table("auto"));
  const double got =
      mixed_log_likelihood(sample_of(two), wide, {false, true, false, true}, true, options).value;
  const double wanted =
      mixed_log_likelihood(sample_of(one), narrow, {false, false, true}, true, options).value;
  EXPECT_NEAR(got, wanted, 1e-12 * std::fabs(wanted));
}

/// Far from all others an observation has np's least density, the least normal number.
TEST(MixedDensities, AnObservationFarAwayHasTheLeastDensity) {
  const auto normal = [](std::mt19937_64& random, std::size_t) { return shapes::normal(random); };
  Data data = make("far", 20, 1, normal);
  data.x[3] = 1e6;
  MixedKernel kernel;
  kernel.h = {0.5};
  kernel.lambda = {0.3, 0.4};
  const MixedCriterion got = mixed_log_likelihood(sample_of(data), kernel, MixedGiven(3, false),
                                                  true, on(simd::find_table("auto")));
  std::size_t lost = 0;
  const real wanted = likelihood(Oracle{data, kernel}, MixedGiven(3, false), &lost);
  EXPECT_EQ(got.unsupported, 1u);
  EXPECT_EQ(lost, 1u);
  EXPECT_NEAR(got.value, static_cast<double>(wanted), 1e-11 * std::fabs(got.value));
}
