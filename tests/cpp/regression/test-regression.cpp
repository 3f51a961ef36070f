// Kernel regression on a line, against weighted least squares at every observation.
#include "common.hpp"
#include "core/base/error.hpp"
#include "core/regression/regression.hpp"
#include "line-oracle.hpp"
#include "regression-expect.hpp"

using namespace kestrel;
using common::run_on;
using lines::Data;
using lines::Line;
using lines::span;
using oracle::real;
using namespace fits;

namespace {

class Regression : public testing::TestWithParam<Line> {};

INSTANTIATE_TEST_SUITE_P(Lines, Regression, testing::ValuesIn(lines_to_fit()), name_of);

}  // namespace

TEST_P(Regression, ResidualsAndTheirSums) {
  const Line& line = GetParam();
  const std::vector<double> y = lines::response(line);
  const Data data = lines::sorted(line, y);
  for_every_fit(line, [&](const LocalKernel& kernel) {
    const oracle::Residuals wanted = wanted_residuals(data, kernel);
    for (const simd::Table* table : common::tables()) {
      SCOPED_TRACE(table->name);
      const CrossValidation sums = cross_validate(sample_of(line, y), {&kernel.h, 1}, kernel.kernel,
                                                  kernel.local_linear, run_on(table));
      expect_sums(sums, wanted, line);
      const fits::Residuals each = regression_residuals(sample_of(line, y), kernel, run_on(table));
      for (std::size_t i = 0; i < data.x.size(); ++i) {
        const std::size_t at = data.given[i];
        const real e = wanted.leave_one_out[i];
        if (std::isnan(e)) {
          EXPECT_TRUE(std::isnan(each.leave_one_out[at]));
        } else {
          expect_near(each.leave_one_out[at], e, 1e-11 * (1 + std::fabs(e)), "leave-one-out");
        }
        expect_near(each.in_sample[at], wanted.in_sample[i], 1e-11, "in the sample");
        expect_near(each.leverage[at], wanted.leverage[i], 1e-11 * wanted.leverage[i], "leverage");
      }
      if (HasFailure()) return;
    }
  });
}

/// Variances at the data are those of fits at the same points, which another test holds to the
/// oracle.
TEST_P(Regression, VariancesAtTheData) {
  const Line& line = GetParam();
  const std::vector<double> y = lines::response(line);
  const RunOptions options = run_on(simd::find_table("auto"));
  for_every_fit(line, [&](const LocalKernel& kernel) {
    const fits::Residuals got = regression_residuals(sample_of(line, y), kernel, options, true);
    const Fits wanted =
        regression_fits(sample_of(line, y), line.samples(), span(got.error2), kernel, options);
    long double sum = 0, weight = 0;
    std::size_t unsupported = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (std::isnan(got.leave_one_out[i])) {
        ++unsupported;
      } else {
        sum += static_cast<long double>(line.w[i]) * got.error2[i];
        weight += line.w[i];
      }
    }
    EXPECT_EQ(got.totals.unsupported, static_cast<double>(unsupported));
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double e = got.leave_one_out[i];
      if (unsupported == y.size()) {
        EXPECT_TRUE(std::isnan(got.error2[i]) && std::isnan(got.variance[i]));
        continue;
      }
      EXPECT_DOUBLE_EQ(got.error2[i], std::isnan(e) ? static_cast<double>(sum / weight) : e * e);
      // Sums of the square of tricube, a polynomial of degree 18, lose five digits, and weights of
      // many orders of magnitude some more.
      expect_near(got.variance[i], wanted.variance[i], 1e-9 * wanted.variance[i], "variance");
    }
  });
}

/// The sum of squares if y is far larger than its residuals: as accurate as rounded terms allow,
/// about eps |y_j - y_i| / |residual|.
TEST_P(Regression, LargeResponses) {
  const Line& line = GetParam();
  for (const bool trend : {false, true}) {
    SCOPED_TRACE(trend ? "trend" : "offset");
    const std::vector<double> y = large_response(line, trend);
    const Data data = lines::sorted(line, y);
    for_every_fit(line, [&](const LocalKernel& kernel) {
      const oracle::Residuals wanted = wanted_residuals(data, kernel);
      const CrossValidation got =
          cross_validate(sample_of(line, y), {&kernel.h, 1}, kernel.kernel, kernel.local_linear,
                         run_on(simd::find_table("auto")));
      EXPECT_EQ(got.unsupported[0], wanted.unsupported);
      expect_near(got.squares[0], wanted.squares, std::max(1e-12 * wanted.squares, wanted.rounding),
                  "squares");
    });
  }
}

namespace {

/// A fit with its variance, and the sum of squares of its weights.
struct WantedFit {
  oracle::Fit fit;
  real variance = 0, squares = 0;
};

WantedFit wanted_fit(const Data& data, double e, const LocalKernel& kernel,
                     const std::vector<double>& error2) {
  WantedFit wanted{
      oracle::fit_at(data, e, 0, data.x.size(), kernel.kernel, kernel.h, kernel.local_linear)};
  if (wanted.fit.places == 0) return wanted;
  for (std::size_t j = 0; j < data.x.size(); ++j) {
    const real square = wanted.fit.weight[j] * wanted.fit.weight[j];
    wanted.variance += square * error2[data.given[j]];
    wanted.squares += square;
  }
  return wanted;
}

void expect_fit(double mean, double variance, const WantedFit& wanted) {
  EXPECT_EQ(std::isnan(mean), wanted.fit.places == 0);
  EXPECT_EQ(std::isnan(variance), wanted.fit.places == 0);
  // If samples at the very edge of the window count, rounded differences decide.
  if (wanted.fit.places == 0 || wanted.fit.edge > 1e-12) return;
  expect_near(mean, wanted.fit.mean, 1e-11 * (1 + std::fabs(wanted.fit.mean)), "fit");
  // Squares of weights that differ by 1e12, and of sums that have lost three digits.
  expect_near(variance, wanted.variance, 1e-8 * wanted.variance + 1e-14 * wanted.squares,
              "variance");
}

}  // namespace

TEST_P(Regression, FitsAndVariances) {
  const Line& line = GetParam();
  const std::vector<double> y = lines::response(line);
  const Data data = lines::sorted(line, y);
  std::vector<double> error2;
  for (std::size_t i = 0; i < y.size(); ++i) error2.push_back(0.01 * static_cast<double>(i % 7));
  std::size_t number = 0;
  for_every_fit(line, [&](const LocalKernel& kernel) {
    const std::vector<double> points = lines::points_about(line, kernel.h, 40);
    std::vector<WantedFit> wanted;
    for (const double e : points) wanted.push_back(wanted_fit(data, e, kernel, error2));
    // The sets take turns, since each does all kernels.
    const simd::Table* table = common::tables()[number++ % common::tables().size()];
    SCOPED_TRACE(table->name);
    const Fits got =
        regression_fits(sample_of(line, y), span(points), span(error2), kernel, run_on(table));
    const Fits alone = regression_fits(sample_of(line, y), span(points), {}, kernel, run_on(table));
    EXPECT_TRUE(common::same_bits(alone.mean, got.mean));
    EXPECT_TRUE(alone.variance.empty());
    for (std::size_t i = 0; i < points.size(); ++i) {
      expect_fit(got.mean[i], got.variance[i], wanted[i]);
    }
  });
}

TEST_P(Regression, SupportedFromTheLeastBandwidthOn) {
  const Line& line = GetParam();
  const std::size_t n = line.x.size();
  const std::vector<double> y(n, 1.0);
  const LocalRegression regression(sample_of(line, y), {});
  for (const Kernel kernel : kernels) {
    SCOPED_TRACE(common::kernel_name(kernel));
    const double min = regression.min_supporting_bandwidth(kernel);
    if (n < 2) {
      EXPECT_TRUE(std::isnan(min));
      continue;
    }
    const auto all_supported = [&](double h) {
      for (std::size_t i = 0; i < n; ++i) {
        bool any = false;
        for (std::size_t j = 0; j < n; ++j) {
          any = any || (j != i && oracle::inside(kernel, line.x[i], line.x[j], h));
        }
        if (!any) return false;
      }
      return true;
    };
    EXPECT_TRUE(all_supported(min));
    const double below = std::nextafter(min, -1.0);
    if (below <= 0) continue;  // all observations are tied
    EXPECT_FALSE(all_supported(below));
    const std::vector<double> h{below, min};
    const CrossValidation got =
        cross_validate(sample_of(line, y), span(h), kernel, false, run_on(simd::baseline_table()));
    EXPECT_GT(got.unsupported[0], 0u);
    EXPECT_EQ(got.unsupported[1], 0u);
  }
}

TEST_P(Regression, DoesNotDependOnTheOrderOfTheData) {
  const Line& line = GetParam();
  const std::vector<double> y = lines::response(line);
  Line turned{line.name, {line.x.rbegin(), line.x.rend()}, {line.w.rbegin(), line.w.rend()}};
  const std::vector<double> turned_y(y.rbegin(), y.rend());
  const std::vector<double> h = lines::bandwidths_and_edges(line);
  for (const Kernel kernel : kernels) {
    for (const bool local_linear : {false, true}) {
      const RunOptions options = run_on(simd::find_table("auto"));
      const CrossValidation a =
          cross_validate(sample_of(line, y), span(h), kernel, local_linear, options);
      const CrossValidation b =
          cross_validate(sample_of(turned, turned_y), span(h), kernel, local_linear, options);
      EXPECT_EQ(a.unsupported, b.unsupported);
      for (std::size_t k = 0; k < h.size(); ++k) {
        SCOPED_TRACE(describe({kernel, h[k], local_linear}));
        expect_near(a.squares[k], b.squares[k], 1e-12 * b.squares[k], "squares");
        expect_near(a.trace[k], b.trace[k], 1e-12 * b.trace[k], "trace");
      }
    }
  }
}

// ---- threads, errors

TEST(RegressionThreads, GiveTheSameBits) {
  const Line line = lines::make("long", 140000, shapes::normal);
  const std::vector<double> y = lines::response(line), points = lines::points_about(line, 1, 5000);
  const std::vector<double> few{0.01}, all_many{1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 1},
      many = common::under_tsan() ? std::vector<double>{1e-4, 0.5, 1, 0.01} : all_many;
  const auto all_of = [&](int threads) {
    const RunOptions options = run_on(simd::find_table("auto"), threads);
    std::vector<double> all;
    const auto keep = [&](const std::vector<double>& v) {
      all.insert(all.end(), v.begin(), v.end());
    };
    for (const auto& h : {few, many}) {
      const CrossValidation got =
          cross_validate(sample_of(line, y), span(h), Kernel::biweight, true, options);
      keep(got.squares);
      keep(got.in_sample);
      keep(got.trace);
    }
    const double h = 1e-6;
    keep(cross_validate(sample_of(line, y), {&h, 1}, Kernel::gaussian, true, options).squares);
    const LocalKernel kernel{Kernel::triweight, 0.05, true};
    keep(regression_residuals(sample_of(line, y), kernel, options).leverage);
    const Fits fits =
        regression_fits(sample_of(line, y), span(points), span(line.w), kernel, options);
    keep(fits.mean);
    keep(fits.variance);
    return all;
  };
  const std::vector<double> alone = all_of(1);
  EXPECT_EQ(alone[0], alone[6]);  // h = 0.01 among few and among many bandwidths
  for (const int threads : common::thread_counts()) {
    EXPECT_TRUE(common::same_bits(all_of(threads), alone)) << threads << " threads";
    EXPECT_EQ(threads_last_used(), threads);
  }
}

TEST(RegressionErrors, AreOfTheInput) {
  const Line line = lines::make("small", 10, shapes::normal);
  const std::vector<double> y(10, 1.0);
  const RunOptions options = run_on(simd::baseline_table());
  const RegressionSample good = sample_of(line, y);
  const auto all = [&](const RegressionSample& sample, const LocalKernel& kernel) {
    EXPECT_THROW(cross_validate(sample, {&kernel.h, 1}, kernel.kernel, true, options), error);
    EXPECT_THROW(regression_residuals(sample, kernel, options), error);
    EXPECT_THROW(regression_fits(sample, line.samples(), {}, kernel, options), error);
  };
  for (const double h : {0.0, -1.0, std::nan(""), 1e-310}) all(good, {Kernel::biweight, h, true});
  all(good, {Kernel::cosine, 0.5, true});
  all({good.x, {y.data(), 9}, good.w}, {Kernel::biweight, 0.5, true});
  all({good.x, good.y, {y.data(), 9}}, {Kernel::biweight, 0.5, true});
  EXPECT_THROW(
      regression_fits(good, line.samples(), {y.data(), 9}, {Kernel::biweight, 0.5, true}, options),
      error);
  std::vector<double> bad = line.x;
  bad[4] = std::nan("");
  all({span(bad), good.y, good.w}, {Kernel::biweight, 0.5, true});
}
