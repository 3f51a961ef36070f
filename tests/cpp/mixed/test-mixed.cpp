// Sums over mixed data, beside direct sums in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/mixed/mixed_regression.hpp"
#include "mixed-data.hpp"

using namespace kestrel;

namespace {

using namespace mixed_data;

struct Fit {
  real value = 0, own = 0;  // relative to y of the point; the weight of the point in it
  /// The least pivot of the elimination, relative to the sum of the magnitudes that it is made of:
  /// at 0 the fit is not unique. And whether some pivot is negative, as kernels of higher order may
  /// have.
  real least_pivot = 1;
  bool negative = false;
};

/// The fit at observation i by elimination, with or without it. Responses are relative to that of
/// the point and, for lines, columns to those of the point.
Fit fit_at(const Data& data, const MixedKernel& kernel, std::size_t i, bool with) {
  const std::size_t q = 1 + (kernel.local_linear ? data.p : 0);
  std::vector<real> a(q * q), b(q), size(q);
  const auto term = [&](std::size_t j, std::size_t k) {
    return k == 0 ? real{1}
                  : static_cast<real>(data.x[(k - 1) * data.n + j]) - data.x[(k - 1) * data.n + i];
  };
  for (std::size_t j = 0; j < data.n; ++j) {
    if (j == i && !with) continue;
    const real w = weight(data, kernel, j, i);
    for (std::size_t k = 0; k < q; ++k) {
      b[k] += w * term(j, k) * (static_cast<real>(data.y[j]) - data.y[i]);
      size[k] += std::fabs(w) * term(j, k) * term(j, k);
      for (std::size_t m = 0; m < q; ++m) a[k * q + m] += w * term(j, k) * term(j, m);
    }
  }
  Fit fit;
  for (std::size_t k = q; k-- > 0;) {  // the first row is the last to be eliminated
    const real pivot = a[k * q + k] / size[k];
    fit.least_pivot = std::min(fit.least_pivot, std::isnan(pivot) ? 0 : std::fabs(pivot));
    fit.negative = fit.negative || pivot < 0;
    for (std::size_t r = 0; r < k; ++r) {
      const real factor = a[r * q + k] / a[k * q + k];
      for (std::size_t m = 0; m <= k; ++m) a[r * q + m] -= factor * a[k * q + m];
      b[r] -= factor * b[k];
    }
  }
  fit.value = b[0] / a[0];
  fit.own = weight(data, kernel, i, i) / a[0];
  return fit;
}

real criterion(const Data& data, const MixedKernel& kernel, MixedMethod method) {
  real squares = 0, trace = 0, n = 0;
  for (std::size_t i = 0; i < data.n; ++i) {
    if (data.weight(i) == 0) continue;
    const Fit fit = fit_at(data, kernel, i, method == MixedMethod::aic);
    squares += data.weight(i) * fit.value * fit.value;
    trace += fit.own;
    ++n;
  }
  if (method == MixedMethod::least_squares) return squares / n;
  if (trace + 2 >= n) return HUGE_VAL;
  return std::log(squares / n) + (1 + trace / n) / (1 - (trace + 2) / n);
}

/// The least pivot of all fits, with and without the observation, at most 1.
double least_pivot(const Data& data, const MixedKernel& kernel) {
  real least = 1;
  for (std::size_t i = 0; i < data.n; ++i) {
    for (const bool with : {false, true}) {
      least = std::min(least, fit_at(data, kernel, i, with).least_pivot);
    }
  }
  return static_cast<double>(least);
}

std::vector<MixedKernel> kernels_for(const Data& data) {
  std::vector<MixedKernel> all;
  const double wide = data.name.rfind("outlier", 0) == 0 ? 3.0 : 1.3;
  for (const bool linear : {false, true}) {
    for (const int order : {2, 4, 6, 8}) {
      for (const Kernel continuous : kContinuous) {
        if (!has_order(continuous, order)) continue;
        MixedKernel kernel;
        kernel.continuous = continuous;
        kernel.order = order;
        kernel.local_linear = linear;
        kernel.factor = order == 4 ? FactorKernel::li_racine : FactorKernel::aitchison_aitken;
        kernel.ordered = order == 2   ? OrderedKernel::li_racine
                         : order == 4 ? OrderedKernel::wang_van_ryzin
                                      : OrderedKernel::racine_li_yan;
        for (std::size_t c = 0; c < data.p; ++c) {
          kernel.h.push_back(wide * (1 + 0.3 * static_cast<double>(c)));
        }
        kernel.lambda = {0.2, 0.4};
        all.push_back(kernel);
      }
    }
  }
  return all;
}

class Mixed : public testing::TestWithParam<Data> {};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Shapes, Mixed, testing::ValuesIn(shapes_of_data()), name_of);
INSTANTIATE_TEST_SUITE_P(Weighted, Mixed, testing::ValuesIn(weighted_shapes()), name_of);

TEST_P(Mixed, CriteriaAreThoseOfDirectSums) {
  const Data& data = GetParam();
  const MixedSample sample = data.sample();
  int compared = 0;
  for (const MixedKernel& kernel : kernels_for(data)) {
    for (const MixedMethod method : {MixedMethod::least_squares, MixedMethod::aic}) {
      const real wanted = criterion(data, kernel, method);
      const double pivot = least_pivot(data, kernel);
      if (!(pivot > 1e-4) || !std::isfinite(wanted)) continue;
      for (const simd::Table* table : common::tables()) {
        SCOPED_TRACE(std::string(table->name) + ", order " + std::to_string(kernel.order));
        const MixedCriterion got = mixed_criterion(sample, kernel, method, false, on(table));
        EXPECT_EQ(got.unsupported + got.ridged, 0u);
        const double size =
            std::fabs(static_cast<double>(wanted)) + (method == MixedMethod::aic ? 1 : 0);
        EXPECT_NEAR(got.value, static_cast<double>(wanted), 1e-13 / (pivot * pivot) * size);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 0);
}

/// Kernels of higher order are negative in places, and so may the moments of their lines be.
TEST_P(Mixed, LinesByKernelsOfHigherOrder) {
  const Data& data = GetParam();
  const MixedSample sample = data.sample();
  int negative = 0;
  for (const MixedKernel& given : kernels_for(data)) {
    if (given.order == 2 || !given.local_linear) continue;
    for (const double narrower : {1.0, 1.3, 1.8}) {
      MixedKernel kernel = given;
      for (double& h : kernel.h) h /= narrower;
      for (const simd::Table* table : common::tables()) {
        SCOPED_TRACE(std::string(table->name) + ", order " + std::to_string(kernel.order));
        const MixedResiduals got = mixed_residuals(sample, kernel, on(table));
        for (std::size_t i = 0; i < data.n; ++i) {
          const Fit wanted = fit_at(data, kernel, i, false);
          if (!(wanted.least_pivot > 1e-4)) continue;
          negative += wanted.negative ? 1 : 0;
          // A pivot enters a weight once by its slope and once by the mean.
          const double condition = 1 / static_cast<double>(wanted.least_pivot * wanted.least_pivot);
          const double value = static_cast<double>(wanted.value);
          EXPECT_NEAR(got.deviation[i], value, 1e-13 * condition * (1 + std::fabs(value))) << i;
        }
      }
    }
  }
  if (data.name == "normal70") {
    EXPECT_GT(negative, 30);
  }
}

/// Where neighbours hardly differ in some direction, the samples' shares of a fit are large. A
/// weight u bandwidths away has a relative error of u^2 roundings, here up to a thousand.
TEST_P(Mixed, LinesThatAreNearlySingular) {
  const Data& data = GetParam();
  const MixedSample sample = data.sample();
  int singular = 0;
  for (const double h : {0.5, 0.2, 0.08, 0.03}) {
    MixedKernel kernel;
    kernel.h.assign(data.p, h);
    kernel.lambda = {0.2, 0.4};
    kernel.local_linear = true;
    for (const simd::Table* table : common::tables()) {
      SCOPED_TRACE(std::string(table->name) + ", h " + std::to_string(h));
      const MixedResiduals got = mixed_residuals(sample, kernel, on(table));
      for (std::size_t i = 0; i < data.n; ++i) {
        const Fit wanted = fit_at(data, kernel, i, false);
        if (!(wanted.least_pivot > 1e-8)) continue;
        singular += wanted.least_pivot < 1e-4 ? 1 : 0;
        const double value = static_cast<double>(wanted.value);
        const double condition = 1 / static_cast<double>(wanted.least_pivot);
        EXPECT_NEAR(got.deviation[i], value, 1e-13 * condition + 1e-12 * std::fabs(value)) << i;
      }
    }
  }
  if (data.name == "normal70") {
    EXPECT_GT(singular, 5);
  }
}

TEST_P(Mixed, GradientsAreDifferences) {
  const Data& data = GetParam();
  const MixedSample sample = data.sample();
  const RunOptions options = on(simd::find_table("auto"));
  int compared = 0;
  for (const MixedKernel& kernel : kernels_for(data)) {
    if (kernel.continuous != Kernel::gaussian || kernel.order > 4) continue;
    for (const MixedMethod method : {MixedMethod::least_squares, MixedMethod::aic}) {
      // Near a fit that is not unique, differences of this step say nothing.
      if (!(least_pivot(data, kernel) > 0.03)) continue;
      const MixedCriterion got = mixed_criterion(sample, kernel, method, true, options);
      EXPECT_EQ(got.unsupported + got.ridged, 0u);
      if (!std::isfinite(got.value)) continue;
      ++compared;
      for (std::size_t k = 0; k < got.gradient.size(); ++k) {
        const auto at = [&](double step) {
          MixedKernel moved = kernel;
          if (k < data.p) {
            moved.h[k] *= std::exp(step);
          } else {
            moved.lambda[k - data.p] += step;
          }
          return mixed_criterion(sample, moved, method, false, options).value;
        };
        const double step = 1e-3;
        const double half = (at(step / 2) - at(-step / 2)) / step;
        const double whole = (at(step) - at(-step)) / (2 * step);
        const double wanted = (4 * half - whole) / 3;
        EXPECT_NEAR(
            got.gradient[k], wanted,
            1e-6 * (std::fabs(wanted) + std::fabs(got.value)) + 10 * std::fabs(half - whole) * step)
            << k;
      }
    }
  }
  EXPECT_GT(compared, 0);
}

TEST_P(Mixed, HasTheSameBitsOnAnyNumberOfThreads) {
  const Data& data = GetParam();
  const MixedSample sample = data.sample();
  const simd::Table* table = simd::find_table("auto");
  MixedKernel kernel = kernels_for(data).back();
  const MixedCriterion one = mixed_criterion(sample, kernel, MixedMethod::aic, true, on(table, 1));
  const MixedCriterion three =
      mixed_criterion(sample, kernel, MixedMethod::aic, true, on(table, 3));
  EXPECT_EQ(one.value, three.value);
  EXPECT_EQ(one.gradient, three.gradient);
}

/// A column that is smoothed out is not there for local constant fits, and a factor with lambda = 0
/// splits the sample.
TEST(MixedKernels, LimitsOfBandwidths) {
  const auto normal = [](std::mt19937_64& random, std::size_t) { return shapes::normal(random); };
  Data two = make("limits", 60, 2, normal);
  MixedKernel kernel;
  kernel.h = {0.7, HUGE_VAL};
  kernel.lambda = {0.0, 1.0};
  const RunOptions options = on(simd::find_table("auto"));
  const double got =
      mixed_criterion(two.sample(), kernel, MixedMethod::least_squares, true, options).value;
  Data one = two;
  one.p = 1;
  one.x.resize(one.n);
  kernel.h = {0.7};
  EXPECT_NEAR(got, static_cast<double>(criterion(one, kernel, MixedMethod::least_squares)),
              1e-12 * got);
}

/// A sample at which every kernel is zero, however far it is, is not there.
TEST(MixedKernels, SamplesFarAway) {
  const auto normal = [](std::mt19937_64& random, std::size_t) { return shapes::normal(random); };
  Data far = make("far", 40, 2, normal);
  Data near = far;
  far.x[39] = 1e300;
  near.n = 39;
  near.x.erase(near.x.begin() + 79);
  near.x.erase(near.x.begin() + 39);
  near.y.pop_back();
  near.factor.pop_back();
  near.ordered.pop_back();
  for (const MixedKernel& kernel : kernels_for(far)) {
    if (kernel.local_linear) continue;
    for (const simd::Table* table : common::tables()) {
      SCOPED_TRACE(std::string(table->name) + ", order " + std::to_string(kernel.order));
      const auto of = [&](const Data& data) {
        return mixed_criterion(data.sample(), kernel, MixedMethod::least_squares, true, on(table));
      };
      const MixedCriterion got = of(far), wanted = of(near);
      EXPECT_EQ(got.unsupported, wanted.unsupported + 1);
      EXPECT_NEAR(40 * got.value, 39 * wanted.value, 1e-12 * 39 * wanted.value);
      for (std::size_t k = 0; k < got.gradient.size(); ++k) {
        EXPECT_NEAR(40 * got.gradient[k], 39 * wanted.gradient[k],
                    1e-11 * (1 + 39 * std::fabs(wanted.gradient[k])))
            << k;
      }
    }
  }
}

TEST(MixedLeaves, ThoseOutOfReachAddNothing) {
  const Data data = leaves();
  const MixedSample sample = data.sample();
  ASSERT_GT(sample.leaves(0), 4u);
  for (const MixedKernel& kernel : narrow_kernels()) {
    real squares = 0, count = 0;
    for (std::size_t i = 0; i < data.n; ++i) {
      const Fit fit = fit_at(data, kernel, i, false);
      if (!std::isfinite(fit.value)) continue;
      squares += fit.value * fit.value;
      ++count;
    }
    for (const simd::Table* table : common::tables()) {
      SCOPED_TRACE(table->name);
      const MixedCriterion got =
          mixed_criterion(sample, kernel, MixedMethod::least_squares, false, on(table));
      EXPECT_EQ(got.unsupported, data.n - static_cast<std::size_t>(count));
      EXPECT_NEAR(got.value, static_cast<double>(squares / static_cast<real>(data.n)),
                  1e-13 * got.value);
    }
  }
}

/// The distance from a point to the k-th neighbour along a column: each distance counts once, and
/// the least as number 0.
double neighbour_distance(const Data& data, std::size_t c, double point, std::size_t k) {
  std::set<double> distances;
  for (std::size_t j = 0; j < data.n; ++j) {
    if (data.weight(j) > 0) distances.insert(std::fabs(data.x[c * data.n + j] - point));
  }
  auto found = distances.begin();
  std::advance(found, static_cast<std::ptrdiff_t>(k));
  return *found;
}

/// Local constant, with fixed factors' kernels: sums of products with bandwidths of their own.
TEST_P(Mixed, BandwidthsAreDistancesToNeighbours) {
  const Data& data = GetParam();
  if (data.n < 33) return;
  const MixedSample sample = data.sample();
  for (const Kernel continuous : {Kernel::gaussian, Kernel::epanechnikov}) {
    for (const BandwidthType type : {BandwidthType::generalized_nn, BandwidthType::adaptive_nn}) {
      MixedKernel kernel, plain;
      kernel.continuous = plain.continuous = continuous;
      kernel.lambda = plain.lambda = {0.2, 0.4};
      kernel.type = type;
      for (std::size_t c = 0; c < data.p; ++c) {
        kernel.h.push_back(static_cast<double>(2 + c));
        plain.h.push_back(HUGE_VAL);
      }
      real squares = 0, n = 0;
      std::vector<double> h(data.n * data.p);
      for (std::size_t c = 0; c < data.p; ++c) {
        for (std::size_t i = 0; i < data.n; ++i) {
          h[c * data.n + i] = neighbour_distance(data, c, data.x[c * data.n + i], 2 + c);
        }
      }
      std::size_t unsupported = 0;
      for (std::size_t i = 0; i < data.n; ++i) {
        if (data.weight(i) == 0) continue;
        real sum = 0, response = 0;
        for (std::size_t j = 0; j < data.n; ++j) {
          if (j == i) continue;
          real w = weight(data, plain, j, i), squared = 0;
          for (std::size_t c = 0; c < data.p; ++c) {
            const bool adaptive = type == BandwidthType::adaptive_nn;
            const real of = h[c * data.n + (adaptive ? j : i)];
            const real off = static_cast<real>(data.x[c * data.n + j]) - data.x[c * data.n + i];
            w *= mixed_data::continuous(kernel, off / of) / (adaptive ? of : 1);
            squared += off / of * (off / of);
          }
          if (squared >= 38 * 38) continue;
          sum += w;
          response += w * (static_cast<real>(data.y[j]) - data.y[i]);
        }
        ++n;
        if (sum == 0) {
          ++unsupported;
        } else {
          squares += data.weight(i) * (response / sum) * (response / sum);
        }
      }
      const double wanted = static_cast<double>(squares / n);
      for (const simd::Table* table : common::tables()) {
        SCOPED_TRACE(table->name);
        const MixedCriterion got =
            mixed_criterion(sample, kernel, MixedMethod::least_squares, true, on(table));
        EXPECT_EQ(got.unsupported, unsupported);
        EXPECT_NEAR(got.value, wanted, 1e-11 * wanted);
      }
      const RunOptions options = on(simd::find_table("auto"));
      const MixedCriterion more =
          mixed_criterion(sample, kernel, MixedMethod::aic, true, on(simd::find_table("auto"), 3));
      EXPECT_EQ(more.value, mixed_criterion(sample, kernel, MixedMethod::aic, true, options).value);
    }
  }
}

TEST(MixedKernels, FitsReproducePlanes) {
  const auto normal = [](std::mt19937_64& random, std::size_t) { return shapes::normal(random); };
  Data data = make("plane", 80, 3, normal);
  for (std::size_t i = 0; i < data.n; ++i) {
    data.y[i] = 5 + 2 * data.x[i] - 3 * data.x[data.n + i] + data.x[2 * data.n + i];
  }
  MixedKernel kernel;
  kernel.h = {1, 1, 1};
  kernel.lambda = {0.3, 0.5};
  kernel.local_linear = true;
  const RunOptions options = on(simd::find_table("auto"));
  const MixedSample sample = data.sample();
  const std::vector<double> error2(data.n, 1.0);
  const MixedFits fits =
      mixed_fits(sample, sample, kernel, {error2.data(), error2.size()}, true, options);
  for (std::size_t i = 0; i < data.n; ++i) {
    EXPECT_NEAR(fits.mean[i], data.y[i], 1e-11);
    EXPECT_NEAR(fits.gradient[3 * i], 2, 1e-10);
    EXPECT_NEAR(fits.gradient[3 * i + 1], -3, 1e-10);
    EXPECT_GT(fits.variance[i], 0);
  }
}

TEST(MixedKernels, WrongOnesAreErrors) {
  const auto normal = [](std::mt19937_64& random, std::size_t) { return shapes::normal(random); };
  const MixedSample sample = make("wrong", 10, 1, normal).sample();
  MixedKernel good;
  good.h = {1};
  good.lambda = {0.5, 0.5};
  const auto expect_error = [&](const MixedKernel& kernel) {
    EXPECT_THROW(mixed_criterion(sample, kernel, MixedMethod::least_squares, false, {}), error);
  };
  MixedKernel bad = good;
  bad.h = {0};
  expect_error(bad);
  bad = good;
  bad.lambda[0] = 1.5;
  expect_error(bad);
  bad = good;
  bad.order = 3;
  expect_error(bad);
  bad = good;
  bad.continuous = Kernel::biweight;
  bad.order = 4;
  expect_error(bad);
  bad = good;
  bad.h = {1, 1};
  expect_error(bad);
}
