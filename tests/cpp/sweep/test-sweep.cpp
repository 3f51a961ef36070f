// The sweep engine, against sums over every pair.
#include "common.hpp"
#include "core/sweep/sweep.hpp"
#include "line-oracle.hpp"
#include "sweep-expect.hpp"

using namespace kestrel;
using common::run_on;
using lines::Data;
using lines::Line;
using lines::span;
using oracle::real;
using oracle::WindowSums;
using namespace sweeps;

namespace {

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
  sweep_sums(sample, points, kernel, {columns}, side, options, [&](const SweepBlock& block, int) {
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

INSTANTIATE_TEST_SUITE_P(Lines, Sweep, testing::ValuesIn(lines::of_every_kind_and_size(110)),
                         name_of);

SortedSample sample_of(const Line& line, const std::vector<double>& y) {
  return SortedSample(line.samples(), line.weights(), span(y), {});
}

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
      if (columns == 1 || sum.degree() <= simd::kSweepHighestWithY) {
        const SweepSums got = collect(sample, points, sum, columns, SweepSide::both, run_on(table));
        expect_windows(got, wanted);
        expect_sum(got, wanted, tolerance(kernel, power));
      }
      if (columns == 1 || moments.degree() <= simd::kSweepHighestWithY) {
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
    const SortedSample points(span(place), {}, span(level), {});
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

/// Leaves of every degree, by polynomials of positive terms: ((1 + u) / 2)^degree about the nearest
/// samples and ((1 + t) / 2)^degree, t = 1 - u, about the edges.
TEST_P(Sweep, PolynomialsOfEveryDegree) {
  const Line& line = GetParam();
  const std::vector<double> y = lines::response(line);
  const Data data = lines::sorted(line, y);
  const SortedSample sample = sample_of(line, y);
  const std::vector<double> all = lines::bandwidths(line, 4);
  for (const int degree : simd::kSweepDegrees) {
    Polynomial p{std::ldexp(1.0, -degree)};
    for (int k = 1; k <= degree; ++k) p.push_back(p.back() * (degree - k + 1) / k);
    for (const Anchors anchors : {Anchors::nearest, Anchors::edges}) {
      const bool edges = anchors == Anchors::edges;
      for (const double h : all) {
        SCOPED_TRACE("degree " + std::to_string(degree) + (edges ? ", edges" : ", nearest") +
                     ", h = " + std::to_string(h));
        SweepKernel kernel;
        kernel.h = h;
        kernel.anchors = anchors;
        (edges ? kernel.in_edge : kernel.in_distance) = {p};
        kernel.left_sign = {1.0};
        std::vector<real> wanted(data.x.size(), 0), wanted_y(wanted), size_y(wanted);
        for (std::size_t i = 0; i < data.x.size(); ++i) {
          for (std::size_t j = 0; j < data.x.size(); ++j) {
            if (j == i || !(std::fabs(data.x[i] - data.x[j]) < h)) continue;
            const real u = std::fabs(static_cast<real>(data.x[i]) - data.x[j]) / h;
            const real term =
                data.w[j] * oracle::integer_power((edges ? 2 - u : 1 + u) / 2, degree);
            const real v = static_cast<real>(data.y[j]) - data.y[i];
            wanted[i] += term;
            wanted_y[i] += term * v;
            size_y[i] += term * (std::fabs(data.y[j]) + std::fabs(data.y[i]) + 1);
          }
        }
        for (const simd::Table* table : common::tables()) {
          SCOPED_TRACE(table->name);
          for (const int columns : {1, 2}) {
            if (columns == 2 && degree > simd::kSweepHighestWithY) continue;
            const SweepSums got =
                collect(sample, sample, kernel, columns, SweepSide::both, run_on(table));
            const auto of = [&](const std::vector<real>& sum, const std::vector<real>& size) {
              return [&](std::size_t i) { return std::make_pair(sum[i], 1e-13 * size[i]); };
            };
            expect_column(got.of(0, 0), wanted.size(), of(wanted, wanted), "sum of weights");
            if (columns == 2) {
              expect_column(got.of(0, 1), wanted.size(), of(wanted_y, size_y), "sum of responses");
            }
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

/// The left side of a point of the sample ends just before it in sorted order; that of any other
/// point includes the samples at its position.
TEST_P(Sweep, LeftSidesStopAtThePoint) {
  const Line& line = GetParam();
  const std::size_t n = line.x.size();
  const std::vector<double> ones(n, 1.0), y(n, 0.0);
  const SortedSample sample(line.samples(), span(ones), span(y), {});
  const Data data = lines::sorted(line, y);
  for (const double h : lines::bandwidths_and_edges(line)) {
    std::vector<double> place = lines::points_about(line, h, 90);
    std::sort(place.begin(), place.end());
    const SortedSample points(span(place), {}, {}, {});
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

/// More samples than one work item takes: an item must get what it needs of its neighbours. Checks
/// every 97th point, and two of each kind of sum.
TEST(SweepGroups, AreJoined_long) {
  const Line line = lines::make("long", 140000, shapes::normal);
  const std::vector<double> y = lines::response(line);
  const Data data = lines::sorted(line, y);
  const SortedSample sample = sample_of(line, y);
  std::vector<double> place;
  for (std::size_t i = 0; i < data.x.size(); i += 97) place.push_back(data.x[i] + 1e-4);
  const std::vector<double> level(place.size(), 0.5);
  const SortedSample points(span(place), {}, span(level), {});
  const Kernel kernel = Kernel::epanechnikov;
  for (const double h : {1e-4, 0.3, 20.0}) {
    SCOPED_TRACE(describe(kernel, 1, h));
    const auto run = [&](const SortedSample& at) {
      return collect(sample, at, window_sum(kernel, h), 2, SweepSide::both,
                     run_on(simd::find_table("auto"), 2));
    };
    const SweepSums left_out = run(sample), at_points = run(points);
    for (std::size_t k = 0; k < place.size(); k += (h > 1e-3 ? 10 : 1)) {
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
