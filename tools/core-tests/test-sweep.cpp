// The sweep engine, against sums over every pair.
#include <sstream>

#include "common.hpp"
#include "core/error.hpp"
#include "core/sweep.hpp"
#include "core/sweep_density.hpp"
#include "line-oracle.hpp"

using namespace kestrel;
using lines::Data;
using lines::Line;
using lines::run_on;
using lines::span;
using oracle::real;
using oracle::WindowSums;

namespace {

constexpr Kernel kernels[] = {Kernel::uniform, Kernel::triangular, Kernel::epanechnikov,
                              Kernel::biweight, Kernel::triweight};

/// Of each sum of positive terms. The polynomial that a window holds is of t = 1 - |u| with signs;
/// the sum of its |terms| is up to 3^degree times its value (1, 1, 3, 9, 27, squares of them for
/// power 2), each with a few roundings.
double tolerance(Kernel kernel, int power) {
  const double condition = std::pow(3.0, oracle::exponent(kernel) * power);
  return std::max(1e-13, 8 * oracle::kEpsilon * condition);
}

std::string describe(Kernel kernel, int power, double h) {
  std::ostringstream text;
  text.precision(17);
  text << common::kernel_names[static_cast<int>(kernel)] << ", power " << power << ", h = " << h;
  return text.str();
}

/// The blocks of sums put together; every point must be in one of them.
struct SweepSums {
  std::size_t points, columns;
  std::vector<double> sum;
  std::vector<std::uint32_t> first, end;

  const double* of(std::size_t p, std::size_t column) const {
    return sum.data() + (p * columns + column) * points;
  }
};

SweepSums collect(const SortedSample& sample, const SortedSample& points, const SweepKernel& kernel,
                  int columns, SweepSide side, const RunOptions& options) {
  const std::size_t m = points.size(), c = static_cast<std::size_t>(columns);
  const std::size_t sums = kernel.sums() * c;
  SweepSums all{m, c, std::vector<double>(sums * m, std::nan("")), {}, {}};
  all.first.resize(m);
  all.end.resize(m);
  std::vector<char> taken(sweep_slots(sample, points), 0);
  sweep_sums(sample, points, kernel, columns, side, options, [&](const SweepBlock& block, int) {
    EXPECT_EQ(taken.at(block.slot)++, 0);
    EXPECT_LE(block.count, kSweepBlock);
    std::copy_n(block.first, block.count, all.first.data() + block.begin);
    std::copy_n(block.end, block.count, all.end.data() + block.begin);
    for (std::size_t k = 0; k < sums; ++k) {
      std::copy_n(block.of(k / c, k % c), block.count, all.sum.data() + k * m + block.begin);
    }
  });
  return all;
}

class Sweep : public testing::TestWithParam<Line> {};

std::string name_of(const testing::TestParamInfo<Line>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Lines, Sweep, testing::ValuesIn(lines::of_every_kind_and_size(110)),
                         name_of);

SortedSample sample_of(const Line& line, const std::vector<double>& y) {
  return SortedSample(line.samples(), line.weights(), span(y));
}

template <class F>
void expect_column(const double* got, std::size_t count, F wanted_and_allowed, const char* what) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::pair<real, real> each = wanted_and_allowed(i);
    ASSERT_LE(std::fabs(got[i] - each.first), each.second)
        << what << " at point " << i << ": " << got[i] << ", not "
        << static_cast<double>(each.first) << ", allowed " << static_cast<double>(each.second);
  }
}

/// A rounding of each difference of the data moves them by this, whatever is done with them.
real rounding(const WindowSums& wanted) { return 4 * oracle::kEpsilon * wanted.slack; }

void expect_sum(const SweepSums& got, const std::vector<WindowSums>& wanted, double relative) {
  const auto error = [&](std::size_t i) { return relative * wanted[i].s[0] + rounding(wanted[i]); };
  expect_column(
      got.of(0, 0), wanted.size(),
      [&](std::size_t i) { return std::make_pair(wanted[i].s[0], error(i)); }, "sum of weights");
  if (got.columns == 1) return;
  expect_column(
      got.of(0, 1), wanted.size(),
      [&](std::size_t i) { return std::make_pair(wanted[i].r[0], error(i) * wanted[i].farthest); },
      "sum of responses");
}

void expect_moments(const SweepSums& got, const std::vector<WindowSums>& wanted, double relative) {
  for (std::size_t q = 0; q < 3; ++q) {
    SCOPED_TRACE("moment " + std::to_string(q));
    expect_column(
        got.of(q, 0), wanted.size(),
        [&](std::size_t i) { return std::make_pair(wanted[i].s[q], relative * wanted[i].size[q]); },
        "moment of weights");
    if (got.columns == 1) continue;
    expect_column(
        got.of(q, 1), wanted.size(),
        [&](std::size_t i) {
          return std::make_pair(wanted[i].r[q], relative * wanted[i].size[q] * wanted[i].farthest);
        },
        "moment of responses");
  }
}

void expect_windows(const SweepSums& got, const std::vector<WindowSums>& wanted) {
  ASSERT_EQ(got.first.size(), wanted.size());
  ASSERT_EQ(got.end.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(got.first[i], wanted[i].first) << "point " << i;
    ASSERT_EQ(got.end[i], wanted[i].end) << "point " << i;
  }
}

/// Both kinds of sums on every instruction set.
void expect_sums(const SortedSample& sample, const SortedSample& points,
                 const std::vector<WindowSums>& wanted, Kernel kernel, double h, int power) {
  const SweepKernel moments = window_moments(kernel, h, power);
  const SweepKernel sum = window_sum(kernel, h, power);
  for (const simd::Table* table : common::tables()) {
    SCOPED_TRACE(table->name);
    for (const int columns : {1, 2}) {
      SCOPED_TRACE(std::to_string(columns) + " columns");
      if (columns == 1 || sum.degree() < 14) {
        const SweepSums got = collect(sample, points, sum, columns, SweepSide::both, run_on(table));
        expect_windows(got, wanted);
        expect_sum(got, wanted, tolerance(kernel, power));
      }
      if (columns == 1 || moments.degree() < 14) {
        const SweepSums got =
            collect(sample, points, moments, columns, SweepSide::both, run_on(table));
        expect_windows(got, wanted);
        expect_moments(got, wanted, 1e-13);
      }
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace

TEST_P(Sweep, LeaveOneOutSums) {
  const Line& line = GetParam();
  const std::vector<double> y = lines::response(line);
  const Data data = lines::sorted(line, y);
  const SortedSample sample = sample_of(line, y);
  ASSERT_EQ(sample.size(), data.x.size());
  for (std::size_t i = 0; i < data.x.size(); ++i) ASSERT_EQ(sample.given(i), data.given[i]);
  for (const double h : lines::bandwidths_and_edges(line)) {
    for (const Kernel kernel : kernels) {
      for (const int power : {1, 2}) {
        SCOPED_TRACE(describe(kernel, power, h));
        std::vector<WindowSums> wanted;
        for (std::size_t i = 0; i < data.x.size(); ++i) {
          wanted.push_back(oracle::window_sums(data, data.x[i], data.y[i], i, kernel, h, power));
        }
        expect_sums(sample, sample, wanted, kernel, h, power);
      }
    }
  }
}

TEST_P(Sweep, SumsAtPoints) {
  const Line& line = GetParam();
  const std::vector<double> y = lines::response(line);
  const Data data = lines::sorted(line, y);
  const SortedSample sample = sample_of(line, y);
  for (const double h : lines::bandwidths_and_edges(line)) {
    std::vector<double> place = lines::points_about(line, h, 90), level;
    std::sort(place.begin(), place.end());
    for (const double e : place) level.push_back(std::sin(e));
    const SortedSample points(span(place), {}, span(level));
    for (const Kernel kernel : kernels) {
      for (const int power : {1, 2}) {
        SCOPED_TRACE(describe(kernel, power, h));
        std::vector<WindowSums> wanted;
        for (std::size_t i = 0; i < place.size(); ++i) {
          wanted.push_back(
              oracle::window_sums(data, place[i], level[i], data.x.size(), kernel, h, power));
        }
        expect_sums(sample, points, wanted, kernel, h, power);
      }
    }
  }
}

/// What lies to the left of a point, in sorted order for the sample itself, else with what lies at
/// its place, and what remains add up to the whole.
TEST_P(Sweep, LeftSidesStopAtThePoint) {
  const Line& line = GetParam();
  const std::size_t n = line.x.size();
  const std::vector<double> ones(n, 1.0), y(n, 0.0);
  const SortedSample sample(line.samples(), span(ones), span(y));
  const Data data = lines::sorted(line, y);
  for (const double h : lines::bandwidths_and_edges(line)) {
    std::vector<double> place = lines::points_about(line, h, 90);
    std::sort(place.begin(), place.end());
    const SortedSample points(span(place), {}, {});
    const SweepKernel uniform = window_sum(Kernel::uniform, h);
    for (const simd::Table* table : common::tables()) {
      SweepSums got = collect(sample, sample, uniform, 1, SweepSide::left, run_on(table));
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(got.of(0, 0)[i], static_cast<double>(i - got.first[i])) << table->name;
      }
      got = collect(sample, points, uniform, 1, SweepSide::left, run_on(table));
      for (std::size_t i = 0; i < place.size(); ++i) {
        const auto last = std::upper_bound(data.x.begin(), data.x.end(), place[i]);
        const auto before = static_cast<std::size_t>(last - data.x.begin());
        ASSERT_EQ(got.of(0, 0)[i], static_cast<double>(before - got.first[i])) << table->name;
      }
    }
  }
}

/// More samples than one work item takes: what it needs of its neighbours' is there. Every 97th
/// point, and two of each kind of sum.
TEST(SweepGroups, AreJoined_long) {
  const Line line = lines::make("long", 140000, shapes::normal);
  const std::vector<double> y = lines::response(line);
  const Data data = lines::sorted(line, y);
  const SortedSample sample = sample_of(line, y);
  std::vector<double> place;
  for (std::size_t i = 0; i < data.x.size(); i += 97) place.push_back(data.x[i] + 1e-4);
  const std::vector<double> level(place.size(), 0.5);
  const SortedSample points(span(place), {}, span(level));
  const Kernel kernel = Kernel::epanechnikov;
  for (const double h : {1e-4, 0.3, 20.0}) {
    SCOPED_TRACE(describe(kernel, 1, h));
    const auto run = [&](const SortedSample& at) {
      return collect(sample, at, window_sum(kernel, h), 2, SweepSide::both,
                     run_on(simd::find_table("auto"), 2));
    };
    const SweepSums left_out = run(sample), at_points = run(points);
    for (std::size_t k = 0; k<place.size(); k += h> 1e-3 ? 10 : 1) {
      const std::size_t i = 97 * k;
      const auto expect = [&](const SweepSums& got, std::size_t at, const WindowSums& wanted) {
        EXPECT_EQ(got.first[at], wanted.first);
        EXPECT_EQ(got.end[at], wanted.end);
        const double error = 1e-13 * static_cast<double>(wanted.s[0] + rounding(wanted));
        EXPECT_NEAR(got.of(0, 0)[at], static_cast<double>(wanted.s[0]), error);
        EXPECT_NEAR(got.of(0, 1)[at], static_cast<double>(wanted.r[0]),
                    error * static_cast<double>(wanted.farthest));
      };
      expect(left_out, i, oracle::window_sums(data, data.x[i], data.y[i], i, kernel, h, 1));
      expect(at_points, k, oracle::window_sums(data, place[k], 0.5, data.x.size(), kernel, h, 1));
    }
  }
}

// ---- densities and pairs

TEST_P(Sweep, Densities) {
  const Line& line = GetParam();
  const Data data = lines::sorted(line, line.w);
  for (const double h : lines::bandwidths_and_edges(line)) {
    const std::vector<double> points = lines::points_about(line, h, 90);
    for (const Kernel kernel : kernels) {
      SCOPED_TRACE(describe(kernel, 1, h));
      const real scale = oracle::constant(kernel, 1) / h;
      std::vector<WindowSums> wanted;
      for (const double e : points) {
        wanted.push_back(oracle::window_sums(data, e, 0, data.x.size(), kernel, h, 1));
      }
      for (const simd::Table* table : common::tables()) {
        SCOPED_TRACE(table->name);
        std::vector<double> got(points.size());
        sweep_density(line.samples(), line.weights(), span(points), kernel, h, run_on(table),
                      {got.data(), got.size()});
        expect_column(
            got.data(), points.size(),
            [&](std::size_t i) {
              const real error = tolerance(kernel, 1) * wanted[i].s[0] + rounding(wanted[i]);
              return std::make_pair(scale * wanted[i].s[0], scale * error);
            },
            "density");
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// Two-dimensional sums with a tolerance each.
struct PairSum {
  real value = 0, slack = 0;
};

TEST_P(Sweep, PairCurves) {
  const Line& line = GetParam();
  const std::vector<double> h = lines::bandwidths_and_edges(line);
  for (const Kernel kernel : kernels) {
    std::vector<PairSum> convolution(h.size()), one(h.size());
    for (std::size_t k = 0; k < h.size(); ++k) {
      const int m = kernel == Kernel::triangular ? 1 : oracle::exponent(kernel);
      const auto add = [&](PairSum& sum, real weight, real t, real value, int order) {
        sum.value += weight * value / h[k];
        sum.slack += weight * order * value / t / h[k];  // order: of the zero at the edge
      };
      for (std::size_t i = 0; i < line.x.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          const real weight = static_cast<real>(line.w[i]) * line.w[j];
          const real distance = std::fabs(static_cast<real>(line.x[i]) - line.x[j]);
          const real u = distance / h[k], t = (h[k] - distance) / h[k];
          if (u < 2)
            add(convolution[k], weight, 1 + t, oracle::convolution(kernel, u, 1 + t), 2 * m + 1);
          if (!oracle::inside(kernel, line.x[i], line.x[j], h[k])) continue;
          const real value = oracle::value(kernel, line.x[i], line.x[j], h[k]);
          add(one[k], weight, m == 0 ? 1 : t, oracle::constant(kernel, 1) * value, m);
        }
      }
    }
    for (const simd::Table* table : common::tables()) {
      const PairCurve got =
          sweep_pair_curve(line.samples(), line.weights(), span(h), kernel, run_on(table));
      ASSERT_EQ(got.kernel.size(), h.size());
      ASSERT_EQ(got.convolution.size(), h.size());
      for (std::size_t k = 0; k < h.size(); ++k) {
        SCOPED_TRACE(table->name + (", " + describe(kernel, 1, h[k])));
        const auto allowed = [](const PairSum& sum, double relative) {
          return relative * sum.value + 4 * oracle::kEpsilon * sum.slack;
        };
        // The convolution of the triweight kernel, of degree 13, has a condition of 942 at u = 0.
        const double relative = kernel == Kernel::triweight ? 5e-13 : 1e-13;
        ASSERT_LE(std::fabs(got.kernel[k] - one[k].value), allowed(one[k], 1e-13));
        ASSERT_LE(std::fabs(got.convolution[k] - convolution[k].value),
                  allowed(convolution[k], relative));
      }
    }
  }
}

/// The formulas of the oracle, by Gauss-Legendre quadrature of K(v) K(u - v), exact for
/// polynomials up to degree 15, between the kinks at v = 0 and v = u.
TEST(Convolutions, AreIntegrals) {
  const real node[] = {0.1834346424956498049394761L, 0.5255324099163289858177390L,
                       0.7966664774136267395915539L, 0.9602898564975362316835609L};
  const real weight[] = {0.3626837833783619829651504L, 0.3137066458778872873379622L,
                         0.2223810344533744705443560L, 0.1012285362903762591525314L};
  for (const Kernel kernel : kernels) {
    const auto product = [&](real u, real v) {
      return oracle::profile(kernel, std::fabs(v)) * oracle::profile(kernel, std::fabs(u - v));
    };
    const real constant = oracle::constant(kernel, 1);
    for (int step = 0; step < 64; ++step) {
      const real u = step / 32.0L;
      std::vector<real> kinks{u - 1};
      for (const real kink : {0.0L, u}) {
        if (kink > u - 1 && kink < 1) kinks.push_back(kink);
      }
      kinks.push_back(1);
      real sum = 0;
      for (std::size_t k = 1; k < kinks.size(); ++k) {
        const real middle = (kinks[k] + kinks[k - 1]) / 2, half = (kinks[k] - kinks[k - 1]) / 2;
        for (int p = 0; p < 4; ++p) {
          sum += half * weight[p] *
                 (product(u, middle - half * node[p]) + product(u, middle + half * node[p]));
        }
      }
      EXPECT_NEAR(static_cast<double>(oracle::convolution(kernel, u, 2 - u)),
                  static_cast<double>(constant * constant * sum), 1e-15)
          << common::kernel_names[static_cast<int>(kernel)] << " at " << static_cast<double>(u);
    }
  }
}

// ---- threads, order, errors

TEST(SweepThreads, GiveTheSameBits) {
  const Line line = lines::make("long", 140000, shapes::normal);
  const std::vector<double> few{0.05}, many{1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10};
  const auto all_of = [&](int threads) {
    const RunOptions options = run_on(simd::find_table("auto"), threads);
    std::vector<double> all;
    for (const auto& h : {few, many}) {
      const PairCurve curve =
          sweep_pair_curve(line.samples(), line.weights(), span(h), Kernel::epanechnikov, options);
      all.insert(all.end(), curve.convolution.begin(), curve.convolution.end());
      all.insert(all.end(), curve.kernel.begin(), curve.kernel.end());
    }
    for (const double h : {1e-4, 0.2}) {
      std::vector<double> density(line.x.size());
      sweep_density(line.samples(), line.weights(), line.samples(), Kernel::triweight, h, options,
                    {density.data(), density.size()});
      all.insert(all.end(), density.begin(), density.end());
    }
    return all;
  };
  const std::vector<double> alone = all_of(1);
  for (const int threads : {2, 3}) {
    EXPECT_TRUE(common::same_bits(all_of(threads), alone)) << threads << " threads";
    EXPECT_EQ(threads_last_used(), threads);
  }
}

TEST(SweepThreads, AloneOrOneOfManyABandwidthGivesTheSameBits) {
  const Line line = lines::make("long", 140000, shapes::normal);
  const RunOptions options = run_on(simd::find_table("auto"), 3);
  const std::vector<double> h{1e-3, 0.02, 0.3, 0.4, 0.5, 0.6, 2};
  const PairCurve together =
      sweep_pair_curve(line.samples(), line.weights(), span(h), Kernel::biweight, options);
  for (std::size_t k = 0; k < h.size(); ++k) {
    const PairCurve one =
        sweep_pair_curve(line.samples(), line.weights(), {&h[k], 1}, Kernel::biweight, options);
    EXPECT_EQ(one.convolution[0], together.convolution[k]) << h[k];
    EXPECT_EQ(one.kernel[0], together.kernel[k]) << h[k];
  }
}

TEST(SweepErrors, AreOfTheInput) {
  const Line line = lines::make("small", 10, shapes::normal);
  const Span<const double> x = line.samples(), w = line.weights();
  const RunOptions options = run_on(simd::scalar_table());
  const auto density = [&](Span<const double> sample, Span<const double> weight,
                           Span<const double> points, Kernel kernel, double h) {
    std::vector<double> out(points.size);
    sweep_density(sample, weight, points, kernel, h, options, {out.data(), out.size()});
  };
  for (const double h : {0.0, -1.0, std::nan(""), HUGE_VAL, 1e-310}) {
    EXPECT_THROW(density(x, w, x, Kernel::biweight, h), error) << h;
    EXPECT_THROW(sweep_pair_curve(x, w, {&h, 1}, Kernel::biweight, options), error) << h;
  }
  const double h = 0.5;
  for (const Kernel kernel : {Kernel::gaussian, Kernel::cosine}) {
    EXPECT_THROW(density(x, w, x, kernel, h), error);
    EXPECT_THROW(sweep_pair_curve(x, w, {&h, 1}, kernel, options), error);
  }
  EXPECT_THROW(density(x, {w.data, 9}, x, Kernel::biweight, h), error);
  for (const double bad : {HUGE_VAL, std::nan("")}) {
    std::vector<double> v = line.x;
    v[3] = bad;
    EXPECT_THROW(density(span(v), w, x, Kernel::biweight, h), error) << bad;
    EXPECT_THROW(density(x, w, span(v), Kernel::biweight, h), error) << bad;
    EXPECT_THROW(sweep_pair_curve(span(v), w, {&h, 1}, Kernel::biweight, options), error) << bad;
  }
}
