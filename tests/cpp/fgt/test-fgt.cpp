// The fgt engine, against the oracle.
#include "common.hpp"
#include "core/base/error.hpp"
#include "core/fgt/cell_moments.hpp"
#include "core/fgt/density.hpp"
#include "core/fgt/full_cells.hpp"
#include "core/fgt/pairs.hpp"
#include "core/fgt/parted_cells.hpp"
#include "lines.hpp"
#include "oracle.hpp"

using namespace kestrel;
using common::name_of;
using common::run_on;
using lines::Line;
using oracle::real;

namespace {

constexpr double tolerance = 1e-14;   // of the sum of absolute values
constexpr double underflow = 1e-300;  // of exp(-u^2/2), which long double still has

RunOptions threads(int count) { return run_on(common::tables().back(), count); }

Span<const double> span(const std::vector<double>& v) { return {v.data(), v.size()}; }

std::vector<Line> lines_of_every_kind() {
  std::vector<Line> all = lines::of_every_kind(500);
  for (const Line& line : lines::of_every_small_size()) all.push_back(line);
  return all;
}

/// sum_{i<j} w_i w_j phi_g^(r)(x_i - x_j) for r = 0, 2, ..., 10.
std::vector<oracle::Sum> wanted_sums(const Line& line, real g) {
  std::vector<oracle::Sum> sums(6);
  const std::size_t n = line.x.size();
  const real constant = oracle::normal_density(1, g, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const real u = (static_cast<real>(line.x[i]) - line.x[j]) / g;
      const real density = constant * std::exp(-u * u / 2) * line.w[i] * line.w[j];
      if (density == 0) continue;
      real before = 0, now = 1, unit = 1;
      for (int r = 0; r <= 10; ++r) {
        if (r % 2 == 0) sums[static_cast<std::size_t>(r / 2)].add(density * now * unit);
        const real next = u * now - r * before;
        before = now;
        now = next;
        unit /= g;
      }
    }
  }
  return sums;
}

class Cells : public testing::TestWithParam<Line> {};

INSTANTIATE_TEST_SUITE_P(Lines, Cells, testing::ValuesIn(lines_of_every_kind()), name_of);

/// `unit`: of the sum; in it, terms have the order of exp(-u^2/2).
void expect_near(double got, const oracle::Sum& wanted, real unit) {
  if (wanted.absolute > 1e300L) return;  // the units leave the range of a double
  EXPECT_LE(std::fabs(got - wanted.value), tolerance * wanted.absolute + underflow * unit)
      << got << ", not " << static_cast<double>(wanted.value) << "; of the sum of |terms| "
      << static_cast<double>(std::fabs(got - wanted.value) / wanted.absolute);
}

}  // namespace

TEST_P(Cells, PairDerivatives) {
  const Line& line = GetParam();
  const std::vector<double> g = lines::bandwidths(line);
  std::vector<std::vector<oracle::Sum>> wanted;
  for (const double one : g) wanted.push_back(wanted_sums(line, one));
  for (const simd::Table* table : common::tables()) {
    SCOPED_TRACE(table->name);
    const LineSample shared(line.samples(), line.weights());
    for (int order = 0; order <= 10; order += 2) {
      const auto got = fgt_pair_psi(shared, span(g), order, run_on(table));
      ASSERT_EQ(got.size(), g.size());
      for (std::size_t k = 0; k < g.size(); ++k) {
        SCOPED_TRACE("order " + std::to_string(order) + ", g = " + std::to_string(g[k]));
        expect_near(got[k], wanted[k][static_cast<std::size_t>(order / 2)],
                    std::pow(real(g[k]), -1 - order));
      }
    }
  }
}

TEST_P(Cells, PairCurves) {
  const Line& line = GetParam();
  const std::vector<double> h = lines::bandwidths(line, 6);
  std::vector<oracle::Sum> convolution, kernel;
  for (const double one : h) {
    convolution.push_back(wanted_sums(line, std::sqrt(real(2)) * one)[0]);
    kernel.push_back(wanted_sums(line, one)[0]);
  }
  for (const simd::Table* table : common::tables()) {
    const PairCurve got = fgt_pair_curve({line.samples(), line.weights()}, span(h), run_on(table));
    ASSERT_EQ(got.convolution.size(), h.size());
    ASSERT_EQ(got.kernel.size(), h.size());
    for (std::size_t k = 0; k < h.size(); ++k) {
      SCOPED_TRACE(std::string(table->name) + ", h = " + std::to_string(h[k]));
      expect_near(got.convolution[k], convolution[k], 1 / real(h[k]));
      expect_near(got.kernel[k], kernel[k], 1 / real(h[k]));
    }
  }
}

TEST_P(Cells, Densities) {
  const Line& line = GetParam();
  const std::size_t n = line.x.size();
  std::mt19937_64 random(5);
  for (const double h : lines::bandwidths(line)) {
    SCOPED_TRACE("h = " + std::to_string(h));
    std::vector<double> points;
    for (std::size_t i = 0; i < 300; ++i) {
      const double near = line.x[random() % n];
      const double away = std::pow(2.0, static_cast<double>(i % 8) - 4) * shapes::normal(random);
      points.push_back(i % 3 == 0 ? near : near + h * away);
    }
    real largest = 0;
    std::vector<real> wanted;
    std::vector<bool> near;
    for (const double e : points) {
      real sum = 0, nearest = 1e300L;
      for (std::size_t j = 0; j < n; ++j) {
        if (line.w[j] == 0) continue;
        const real u = (static_cast<real>(e) - line.x[j]) / h;
        sum += line.w[j] * std::exp(-u * u / 2);
        nearest = std::min(nearest, std::fabs(u));
      }
      wanted.push_back(sum * oracle::normal_density(1, h, 0));
      near.push_back(nearest <= 8);
      largest = std::max(largest, wanted.back());
    }
    for (const simd::Table* table : common::tables()) {
      SCOPED_TRACE(table->name);
      // Its cells come from a selector's sum.
      const LineSample shared(line.samples(), line.weights());
      const double pilot = 4 * lines::bandwidths(line)[0];
      fgt_pair_psi(shared, {&pilot, 1}, 6, run_on(table));
      std::vector<double> got(points.size());
      fgt_density(shared, span(points), h, run_on(table), {got.data(), got.size()});
      for (std::size_t i = 0; i < points.size(); ++i) {
        ASSERT_GE(got[i], 0) << points[i];
        ASSERT_LE(std::fabs(got[i] - wanted[i]), 1e-12 * (near[i] ? wanted[i] : largest))
            << got[i] << ", not " << static_cast<double>(wanted[i]) << " at " << points[i];
      }
    }
  }
}

// ---- moments

namespace {

CellMoments moments_of(const Line& line, int exponent, int moments, const simd::Table* table) {
  const ValueRange range = range_of(line.samples(), {});
  return CellMoments(line.samples(), line.weights(), range, exponent, moments, run_on(table));
}

/// The largest difference of the moments and sums of two sets of cells, relative to the first of
/// each.
double difference(const CellMoments& a, const CellMoments& b) {
  EXPECT_EQ(a.cells(), b.cells());
  EXPECT_EQ(a.moments(), b.moments());
  EXPECT_EQ(a.exponent(), b.exponent());
  double max = 0;
  for (std::size_t c = 0; c < a.cells(); ++c) {
    EXPECT_EQ(a.key(c), b.key(c));
    for (int m = 0; m < a.moments(); ++m) {
      max = std::max(max, std::fabs(a.moment(c)[m] - b.moment(c)[m]) / a.moment(c)[0]);
    }
  }
  for (std::size_t m = 0; m < a.within().size(); m += 2) {
    max = std::max(max, std::fabs(a.within()[m] - b.within()[m]) / a.within()[0]);
  }
  return max;
}

std::vector<Line> lines_with_pairs() {
  std::vector<Line> all;
  for (const Line& line : lines::of_every_kind(3000)) {
    if (line.name != "decades") all.push_back(line);
  }
  return all;
}

class Moments : public testing::TestWithParam<Line> {};

INSTANTIATE_TEST_SUITE_P(Lines, Moments, testing::ValuesIn(lines_with_pairs()), name_of);

}  // namespace

TEST_P(Moments, OfWiderCellsAreThoseOfTheirData) {
  const Line& line = GetParam();
  for (const simd::Table* table : common::tables()) {
    const CellMoments wide = moments_of(line, 1, 24, table);
    CellMoments narrow = moments_of(line, -2, 24, table);
    for (int k = 0; k < 3; ++k) narrow.coarsen(24, *table);
    EXPECT_LE(difference(wide, narrow), 2e-15) << table->name;
  }
}

TEST(FullCells, GiveTheMomentsOfSortedSamples) {
  const std::size_t n = 2 * FullCells::kPartSize + 1001;
  const Line normal = lines::make("normal", n, shapes::normal);
  const Line even =
      lines::weighted(normal, "_weighted", [](std::size_t i) { return 0.1 * (1 + i % 7); });
  const Line heavy =
      lines::weighted(normal, "_one_heavy", [](std::size_t i) { return i == 7 ? 1e9 : 1.0; });
  for (const Line* line : {&normal, &even, &heavy}) {
    const ValueRange range = range_of(line->samples(), {});
    ASSERT_TRUE(FullCells::suit(n, range, -4));
    for (const simd::Table* table : common::tables()) {
      for (const bool weighted : {true, false}) {
        SCOPED_TRACE(std::string(table->name) + (weighted ? ", weighted" : ""));
        const Weights w = weighted ? Weights(line->weights()) : Weights::ones(n);
        const CellOrder order(line->samples(), w, range, -4, run_on(table));
        EXPECT_LE(difference(CellMoments(order, 28, run_on(table)),
                             CellMoments(line->samples(), w, range, -4, 28, run_on(table))),
                  2e-15);
      }
    }
  }
}

/// In more cells than FullCells takes; most of those of the second line are empty.
TEST(PartedCells, GiveTheMomentsOfSortedSamples) {
  const std::size_t n = PartedCells::kPartSize + 1001;
  const int exponent = -9, moments = 28;
  const simd::Table* table = common::tables().back();
  const Line normal = lines::make("normal", n, shapes::normal);
  const Line tails = lines::make("tails", n, [](std::mt19937_64& random) {
    return shapes::normal(random) * (random() % 1000 == 0 ? 1e6 : 1.0);
  });
  for (const Line& line : {normal, tails}) {
    const ValueRange range = range_of(line.samples(), {});
    ASSERT_FALSE(FullCells::suit(n, range, exponent));
    ASSERT_TRUE(PartedCells::suit(line.samples(), range, exponent));
    const Line even =
        lines::weighted(line, "_weighted", [](std::size_t i) { return 0.1 * (1 + i % 7); });
    for (const Weights w : {Weights::ones(n), Weights(even.weights())}) {
      const CellMoments wanted(CellOrder(line.samples(), w, range, exponent, run_on(table)),
                               moments, run_on(table));
      const PartedCells got(line.samples(), w, range, exponent, moments, run_on(table));
      const PartedCells on_three(line.samples(), w, range, exponent, moments, run_on(table, 3));
      ASSERT_EQ(got.cells(), wanted.cells());
      for (std::size_t c = 0; c < got.cells(); ++c) {
        ASSERT_EQ(got.key(c), wanted.key(c));
        for (int m = 0; m < moments; ++m) {
          ASSERT_NEAR(got.moment(c)[m], wanted.moment(c)[m], 2e-15 * wanted.moment(c)[0]);
          ASSERT_EQ(got.moment(c)[m], on_three.moment(c)[m]);
        }
      }
      const CellMoments pairs(line.samples(), w, range, exponent, moments, run_on(table));
      EXPECT_LE(difference(wanted, pairs), 2e-15) << line.name;
    }
  }
}

TEST(PartedCells, DoNotSuitSamplesThatAreMostlyAlone) {
  const std::size_t n = PartedCells::kPartSize + 1;
  const Line few = lines::make("few", PartedCells::kPartSize, shapes::uniform);
  const Line wide = lines::make("wide", n, [](std::mt19937_64& random) {
    return random() % 2 == 0 ? 0.0 : shapes::normal(random);
  });
  EXPECT_FALSE(PartedCells::suit(few.samples(), range_of(few.samples(), {}), -10));
  EXPECT_FALSE(PartedCells::suit(wide.samples(), range_of(wide.samples(), {}), -20));
  EXPECT_TRUE(PartedCells::suit(wide.samples(), range_of(wide.samples(), {}), -10));
}

// ---- many samples

namespace {

/// A few positions with many samples each: sums over them take little time in long double.
Line heaps(std::size_t places, std::size_t times, double weight) {
  Line line{"heaps", {}, std::vector<double>(places * times, weight)};
  for (std::size_t i = 0; i < places * times; ++i) {
    line.x.push_back(0.1 * static_cast<double>(i * 7919 % places));
  }
  return line;
}

}  // namespace

TEST(ManySamples, EqualTermsDoNotAddUpTheirRoundingErrors) {
  const std::size_t places = 40, times = 5000;
  for (const double weight : {1.0, 0.1}) {
    const Line line = heaps(places, times, weight);
    for (const double g : {0.03, 0.3, 1.1}) {
      const real w = static_cast<real>(weight) * times;
      oracle::Sum wanted;
      const real constant = oracle::normal_density(1, g, 0);
      wanted.add(places * static_cast<real>(weight) * weight * times * (times - 1) / 2 * constant);
      for (std::size_t a = 0; a < places; ++a) {
        for (std::size_t b = a + 1; b < places; ++b) {
          const real u =
              (0.1 * static_cast<double>(b) - static_cast<real>(0.1 * static_cast<double>(a))) / g;
          wanted.add(w * w * constant * std::exp(-u * u / 2));
        }
      }
      expect_near(fgt_pair_psi({line.samples(), line.weights()}, {&g, 1}, 0, threads(1))[0], wanted,
                  1);
    }
  }
}

TEST(ManySamples, GiveTheSameBitsOnAnyNumberOfThreadsAndUseThem) {
  const Line line = lines::make("long", common::under_tsan() ? 80000 : 150000, shapes::normal);
  const Line sparse = lines::of_every_kind(3000)[8];
  const std::vector<double> g{1e-5, 0.2, 0.3, 1.0};
  const auto all_of = [&](const Line& one, int count) {
    std::vector<double> all =
        fgt_pair_psi({one.samples(), one.weights()}, span(g), 6, threads(count));
    const PairCurve curve = fgt_pair_curve({one.samples(), one.weights()}, span(g), threads(count));
    all.insert(all.end(), curve.convolution.begin(), curve.convolution.end());
    all.insert(all.end(), curve.kernel.begin(), curve.kernel.end());
    std::vector<double> density(one.x.size());
    fgt_density({one.samples(), one.weights()}, one.samples(), 0.01, threads(count),
                {density.data(), density.size()});
    all.insert(all.end(), density.begin(), density.end());
    return all;
  };
  for (const Line* one : {&line, &sparse}) {
    const std::vector<double> alone = all_of(*one, 1);
    for (const int count : common::thread_counts()) {
      EXPECT_TRUE(common::same_bits(all_of(*one, count), alone)) << one->name;
      if (one == &line) {
        EXPECT_EQ(threads_last_used(), count);
      }
    }
  }
}

TEST(ManySamples, PollsAreAsked) {
  const Line line = lines::make("long", 150000, shapes::normal);
  RunOptions options = threads(1);
  options.parallel.poll = [](double) { throw std::runtime_error("stop"); };
  const double g = 0.2;
  EXPECT_THROW(
      for (int k = 0; k < 1000; ++k) {
        fgt_pair_psi({line.samples(), line.weights()}, {&g, 1}, 4, options);
      },
      std::runtime_error);
}

// ---- errors

TEST(CellErrors, AreOfTheInput) {
  const Line line = lines::make("small", 10, shapes::normal);
  const Span<const double> x = line.samples(), w = line.weights();
  const auto psi = [](Span<const double> x, Span<const double> w, double g, int order) {
    fgt_pair_psi({x, w}, {&g, 1}, order, threads(1));
  };
  const auto density = [](Span<const double> x, Span<const double> w, Span<const double> points,
                          double h) {
    std::vector<double> out(points.size);
    fgt_density({x, w}, points, h, threads(1), {out.data(), out.size()});
  };
  for (const double g : {0.0, -1.0, std::nan(""), HUGE_VAL, 1e-300, 1e300}) {
    EXPECT_THROW(psi(x, w, g, 4), error) << g;
    EXPECT_THROW(density(x, w, x, g), error) << g;
    EXPECT_THROW(fgt_pair_curve({x, w}, {&g, 1}, threads(1)), error) << g;
  }
  for (const int order : {-2, 1, 3, 12}) EXPECT_THROW(psi(x, w, 0.5, order), error);
  EXPECT_THROW(psi(x, {w.data, 9}, 0.5, 4), error);
  EXPECT_THROW(density(x, {w.data, 9}, x, 0.5), error);
  for (const double bad : {HUGE_VAL, -HUGE_VAL, std::nan(""), 1e300}) {
    std::vector<double> v = line.x;
    v[3] = bad;
    EXPECT_THROW(psi(span(v), w, 1e-9, 4), error) << bad;
    EXPECT_THROW(density(span(v), w, x, 1e-9), error) << bad;
    EXPECT_THROW(density(x, w, span(v), 1e-9), error) << bad;
  }
  for (const double bad : {-1.0, std::nan(""), HUGE_VAL}) {
    for (const double g : {1e-9, 0.5, 50.0}) {
      std::vector<double> v = line.w;
      v[3] = bad;
      EXPECT_THROW(psi(x, span(v), g, 4), error) << bad;
      EXPECT_THROW(density(x, span(v), x, g), error) << bad;
    }
  }
}

TEST(CellErrors, KeysBeyondTheIntegersAreStillRight) {
  // Cells of 1e-12 at 1e9 and at 1e280: there neighbouring values are ties or far apart.
  const std::vector<double> x{1e9, 1e9, std::nextafter(1e9, 2e9), 1e280, 1e280, 2e280};
  const std::vector<double> w(6, 1.0);
  const double g = 1e-12;
  oracle::Sum wanted;
  wanted.add(2 * oracle::normal_density(1, g, 0));
  expect_near(fgt_pair_psi({span(x), span(w)}, {&g, 1}, 0, threads(1))[0], wanted, 1 / real(g));
  std::vector<double> out(6);
  fgt_density({span(x), span(w)}, span(x), g, threads(1), {out.data(), 6});
  const double one = static_cast<double>(oracle::normal_density(1, g, 0));
  const std::vector<double> copies{2, 2, 1, 2, 2, 1};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(out[i], copies[i] * one, 1e-13 * one);
}
