// Special cases of kernel regression: lonely observations, few distinct positions, straight lines,
// underflow.
#include "common.hpp"
#include "core/regression/local_fit.hpp"
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

/// Lonely observations whose windows reach a large cluster just at their edge, too many for direct
/// sums: neither the cheap sums of local constant fits may be used, nor direct sums for each of
/// these points.
TEST(LocalConstant, ManyLonelyObservationsBesideACluster) {
  std::mt19937_64 random(7);
  const double h = 1.0;
  Line line{"lonely", {}, {}};
  for (int i = 0; i < 20000; ++i) line.x.push_back(1e-10 * shapes::uniform(random));
  for (int i = 0; i < 40; ++i) {
    line.x.push_back(h * (1 - 1e-9) + 1e-11 * shapes::uniform(random));
  }
  line.w.assign(line.x.size(), 1.0);
  const std::vector<double> y = lines::response(line);
  const Data data = lines::sorted(line, y);
  const LocalKernel kernel{Kernel::epanechnikov, h, false};
  for (const simd::Table* table : common::tables()) {
    SCOPED_TRACE(table->name);
    const CrossValidation sums =
        cross_validate(sample_of(line, y), {&h, 1}, kernel.kernel, false, run_on(table));
    const fits::Residuals each = regression_residuals(sample_of(line, y), kernel, run_on(table));
    real squares = 0;
    for (const double e : each.leave_one_out) squares += static_cast<real>(e) * e;
    expect_near(sums.squares[0], squares, 1e-13 * squares, "squares");
    for (std::size_t i = data.x.size() - 40; i < data.x.size(); i += 13) {
      const oracle::Fit fit =
          oracle::fit_at(data, data.x[i], data.y[i], i, kernel.kernel, h, false);
      expect_near(each.leave_one_out[data.given[i]], -fit.mean, 1e-12, "leave-one-out");
    }
  }
}

/// Lattice points -1, 0, 0, 1 at bandwidths for which an observation has no, one or more positions
/// in its window.
TEST(LocalLinear, CountsPlacesByIntegers) {
  const std::vector<double> x{0, 0, 1, 3, 4, 6}, y{1, 3, 5, 2, 8, 4}, w(6, 1.0);
  const RegressionSample sample{span(x), span(y), span(w)};
  for (const simd::Table* table : common::tables()) {
    // h = 1 + eps: 0 and 0 have each other and 1 in their windows; 1 has one position; 3 and 4 have
    // each other.
    const double h = std::nextafter(1.0, 2.0);
    for (const Kernel kernel : {Kernel::uniform, Kernel::biweight, Kernel::triweight}) {
      const fits::Residuals got = regression_residuals(sample, {kernel, h, true}, run_on(table));
      EXPECT_NEAR(got.leave_one_out[0], -2, 1e-13);  // the line through (0, 3) and (1, 5)
      EXPECT_NEAR(got.leave_one_out[1], 2, 1e-13);
      EXPECT_NEAR(got.leave_one_out[2], 3, 1e-13);  // the mean of 1 and 3
      EXPECT_NEAR(got.leave_one_out[3], -6, 1e-13);
      EXPECT_NEAR(got.leave_one_out[4], 6, 1e-13);
      EXPECT_TRUE(std::isnan(got.leave_one_out[5]));
      EXPECT_EQ(got.in_sample[5], 0);
      EXPECT_EQ(got.leverage[5], 1);
      EXPECT_NEAR(got.in_sample[0], -1, 1e-13);
      EXPECT_NEAR(got.leverage[0], 0.5, 1e-13);
      EXPECT_NEAR(got.leverage[3], 1, 1e-13);
    }
  }
}

TEST(LocalLinear, ReproducesStraightLines) {
  const Line line = lines::make("dyadic", 150, [](std::mt19937_64& random) {
    return static_cast<double>(random() % 4096) / 1024;
  });
  std::vector<double> y;
  for (const double x : line.x) y.push_back(1024 - 3 * x);
  for (const Kernel kernel : kernels) {
    for (const double h : {0.25, 1.0, 30.0}) {
      SCOPED_TRACE(describe({kernel, h, true}));
      const LocalKernel choice{kernel, h, true};
      const RunOptions options = run_on(simd::find_table("auto"));
      const fits::Residuals got = regression_residuals(sample_of(line, y), choice, options);
      for (const double e : got.leave_one_out) EXPECT_NEAR(e, 0, 1e-12);
      const std::vector<double> points{0.5, 1.25, 3.9, 4.1};
      const Fits fits = regression_fits(sample_of(line, y), span(points), {}, choice, options);
      for (std::size_t i = 0; i < points.size(); ++i) {
        EXPECT_NEAR(fits.mean[i], 1024 - 3 * points[i], 1e-11);
      }
    }
  }
}

namespace {

/// The sum of squares at one bandwidth, on every instruction set, is that of `same` within a
/// relative error. `same`: y, or responses that differ from it by a line.
void expect_squares(const Line& line, const std::vector<double>& y, double h,
                    const std::vector<Kernel>& of, const std::vector<double>& same, double error) {
  const Data data = lines::sorted(line, same);
  for (const Kernel kernel : of) {
    const LocalKernel choice{kernel, h, true};
    SCOPED_TRACE(describe(choice));
    const real wanted = wanted_residuals(data, choice).squares;
    for (const simd::Table* table : common::tables()) {
      SCOPED_TRACE(table->name);
      const CrossValidation got =
          cross_validate(sample_of(line, y), {&h, 1}, kernel, true, run_on(table));
      expect_near(got.squares[0], wanted, error * wanted, "squares");
    }
  }
}

}  // namespace

TEST(LocalLinear, ATrendCostsNoDigits) {
  const Line line = lines::make("trend", 200, shapes::normal);
  for (const double h : {0.1, 1.0, 5.4}) {
    expect_squares(line, steep_response(line), h, kernels, steep_response(line), 2e-13);
  }
}

/// Residuals are a millionth of what y differs by. Centres of cells are beside zero, where
/// positions have more digits than in a cell.
TEST(GaussianKernel, ATrendOfAMillionCostsNoDigits) {
  const auto heavy = [](std::mt19937_64& random) {
    return shapes::normal(random) / std::sqrt(0.02 + shapes::uniform(random));
  };
  for (const Line& line :
       {lines::make("steep", 400, shapes::normal), lines::make("steep_heavy", 400, heavy),
        lines::make(
            "steep_ties", 400,
            [](std::mt19937_64& random) { return std::round(64 * shapes::normal(random)) / 64; }),
        lines::make("steep_offset", 400,
                    [](std::mt19937_64& random) { return 1e4 + shapes::normal(random); })}) {
    SCOPED_TRACE(line.name);
    std::vector<double> y = lines::response(line), level;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += 1e6 * line.x[i];
    for (std::size_t i = 0; i < y.size(); ++i) {
      const real rise = static_cast<real>(line.x[i]) - line.x[0];
      level.push_back(static_cast<double>((static_cast<real>(y[i]) - y[0]) - 1000000 * rise));
    }
    for (const double h : {0.3, 1.0, 4.0}) {
      expect_squares(line, y, h, {Kernel::gaussian}, level, 1e-12);
    }
  }
}

/// The weight of a far cluster is about its distance to the edge of the window, a millionth of h.
/// Rounding the distance to the point costs six digits of that.
/// Where a window holds the whole sample, sums of powers of u = (x - e) / h are as small as these
/// powers, and keep their digits: no fit needs direct sums, of all samples for each.
TEST(LocalLinear, WideWindowsCostNoDigits) {
  Line line{"wide", {}, {}};
  std::mt19937_64 random(11);
  for (int i = 0; i < 700; ++i) line.x.push_back(1e3 + shapes::normal(random));
  line.w.assign(line.x.size(), 1.0);
  const std::vector<double> y = lines::response(line);
  const Data data = lines::sorted(line, y);
  const SortedSample sorted(line.samples(), line.weights(), span(y), {});
  const LocalSource source(sorted, true);
  const LocalFitter fitter(source.sample(), {});
  for (const simd::Table* table : common::tables()) {
    for (const Kernel kernel : {Kernel::epanechnikov, Kernel::triweight, Kernel::uniform}) {
      for (const double h : {10.0, 1e3, 1e9}) {
        SCOPED_TRACE(std::string(table->name) + ' ' + common::kernel_name(kernel) + ' ' +
                     std::to_string(h));
        const LocalKernel wide{kernel, h, true};
        const auto take = [&](const LocalSums& sums, int) {
          for (std::size_t i = sums.begin(); i < sums.begin() + sums.count(); i += 7) {
            const LocalFit fit = fitter.leave_one_out(wide, sums, i);
            EXPECT_FALSE(fit.unstable);
            const oracle::Fit wanted =
                oracle::fit_at(data, data.x[i], data.y[i], i, kernel, h, true);
            expect_near(fit.deviation, wanted.mean, 1e-12, "leave-one-out");
          }
        };
        local_sums(source, source.sample(), wide, 1, Anchors::edges, run_on(table), take);
      }
    }
  }
}

TEST(LocalLinear, KeepsTheDigitsOfAClusterAtTheEdge) {
  const double h = 1e4;
  Line line = lines::make("edge", 60, shapes::uniform);
  for (std::size_t i = 0; i < 20; ++i) line.x[i] = h + 1e-2 * line.x[i];
  expect_squares(line, lines::response(line), h, kernels, lines::response(line), 2e-13);
}

/// Where exp(-u^2 / 2) is no normal number, up to the end of the window, the fit is relative to the
/// nearest sample.
TEST(GaussianKernel, DoesNotUnderflowBesideOutliers) {
  const std::vector<double> y{1, 2, 4, 8}, w(4, 1.0);
  for (const double far : {10.0, 37.0, 37.5, 37.9, 37.999}) {
    const std::vector<double> x{0, 0.125, 0.25, 0.25 + far};
    const Line line{"far", x, w};
    const Data data = lines::sorted(line, y);
    for (const bool local_linear : {false, true}) {
      const LocalKernel kernel{Kernel::gaussian, 1.0, local_linear};
      SCOPED_TRACE(describe(kernel) + ", far = " + std::to_string(far));
      const oracle::Residuals wanted = wanted_residuals(data, kernel);
      for (const simd::Table* table : common::tables()) {
        const fits::Residuals got = regression_residuals(sample_of(line, y), kernel, run_on(table));
        for (std::size_t i = 0; i < 4; ++i) {
          const double e = static_cast<double>(wanted.leave_one_out[i]);
          EXPECT_NEAR(got.leave_one_out[i], e, 1e-11 * (1 + std::fabs(e)));
          EXPECT_NEAR(got.leverage[i], static_cast<double>(wanted.leverage[i]), 1e-11);
          EXPECT_NEAR(got.in_sample[i], static_cast<double>(wanted.in_sample[i]), 1e-11);
        }
        const double beyond = 0.25 - far;
        const Fits fits =
            regression_fits(sample_of(line, y), {&beyond, 1}, span(w), kernel, run_on(table));
        const auto fit = oracle::fit_at(data, beyond, 0, 4, Kernel::gaussian, 1.0, local_linear);
        real variance = 0;
        for (const real l : fit.weight) variance += l * l;
        EXPECT_NEAR(fits.mean[0], static_cast<double>(fit.mean), 1e-9 * std::fabs(fits.mean[0]));
        EXPECT_NEAR(fits.variance[0] / static_cast<double>(variance), 1, 1e-9);
      }
    }
  }
}

/// The end of the window and the distance in bandwidths are both rounded: a neighbour just inside
/// the window may be at its end by the other number.
TEST(GaussianKernel, SumsWhatIsInTheWindowToTheLastBit) {
  const std::vector<double> y{1, 2};
  int found = 0;
  for (double h = 1.6; found < 5; h = std::nextafter(h, 2.0)) {
    const double far = std::nextafter(38 * h, 0.0);
    if (far / h < 38) continue;
    ++found;
    const Line line{"edge", {0, far}, {1, 1}};
    for (const simd::Table* table : common::tables()) {
      for (const bool local_linear : {false, true}) {
        const CrossValidation got = cross_validate(sample_of(line, y), {&h, 1}, Kernel::gaussian,
                                                   local_linear, run_on(table));
        EXPECT_NEAR(got.squares[0], 2, 1e-12);
        EXPECT_EQ(got.unsupported[0], 0u);
      }
    }
  }
}

/// The line through a neighbour and one with almost no weight is so steep that its slope overflows.
TEST(GaussianKernel, LeverageOfALineThatIsAsGoodAsFree) {
  const std::vector<double> y{1, 2, 4};
  const Line line{"steep", {0, 1, 37.9}, {1e6, 1, 1e-6}};
  for (const simd::Table* table : common::tables()) {
    const double h = 1.0;
    const CrossValidation got =
        cross_validate(sample_of(line, y), {&h, 1}, Kernel::gaussian, true, run_on(table));
    EXPECT_NEAR(got.trace[0], 3, 1e-12);
  }
}

/// A heavy observation affects a line, however small its kernel value.
TEST(GaussianKernel, KeepsHeavyObservationsFarAway) {
  const std::vector<double> y{1, 3, 2, 8};
  const Line line{"heavy", {0, 1, 2, 9.8}, {1, 1, 1, 1e9}};
  const LocalKernel kernel{Kernel::gaussian, 1.0, true};
  const oracle::Residuals wanted = wanted_residuals(lines::sorted(line, y), kernel);
  for (const simd::Table* table : common::tables()) {
    SCOPED_TRACE(table->name);
    const fits::Residuals got = regression_residuals(sample_of(line, y), kernel, run_on(table));
    expect_near(got.leave_one_out[0], wanted.leave_one_out[0], 1e-11, "leave-one-out");
    expect_near(got.leverage[0], wanted.leverage[0], 1e-11, "leverage");
  }
}

TEST(GaussianKernel, IsPolledForWithinABlockOfPoints) {
  struct Interrupt {};
  std::mt19937_64 random(8);
  Line line{"long", {}, {}};
  for (std::size_t i = 0; i < std::size_t{1} << 12; ++i) line.x.push_back(shapes::uniform(random));
  line.w.assign(line.x.size(), 1.0);
  const LocalSource source({span(line.x), span(line.w), span(line.w), {}}, true);
  const SortedSample points({line.x.data(), 64}, {}, {line.w.data(), 64}, {});
  RunOptions options = run_on(simd::baseline_table());
  int polls = 0;
  options.parallel.poll = [&](double fraction) {
    if (fraction < 1 && ++polls == 2) throw Interrupt();
  };
  const auto take = [](const LocalSums&, int) {};
  EXPECT_THROW(
      local_sums(source, points, {Kernel::gaussian, 1.0, false}, 1, Anchors::ends, options, take),
      Interrupt);
}
