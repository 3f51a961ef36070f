// Long rows of one axis in the scanline engine: by third differences of the samples in the order
// given, against densities summed point by point, and against the events of sorted samples.
#include "core/base/error.hpp"
#include "core/scanline/line.hpp"
#include "scanline-expect.hpp"

using namespace kestrel;
using scanline_oracle::Case;
using scanline_oracle::density;
using scanline_oracle::make;
using scanline_oracle::run_on;
using scanline_oracle::shuffled;
using scanline_oracle::weighted;

namespace {

std::vector<Case> with_weights(const Case& plain) {
  std::mt19937_64 random(7);
  return {plain,
          weighted(plain, "third_each", [](std::size_t) { return 1.0 / 3; }),
          weighted(plain, "uniform", [&](std::size_t) { return shapes::uniform(random); }),
          weighted(plain, "two", [](std::size_t j) { return j % 2 == 0 ? 1.0 : 1.0 / 3; }),
          weighted(plain, "whole", [](std::size_t j) { return static_cast<double>(j % 5); }),
          weighted(plain, "lognormal",
                   [&](std::size_t) { return std::exp(3 * shapes::normal(random)); }),
          weighted(plain, "zero", [](std::size_t j) { return j % 3 == 0 ? 0.0 : 0.1; })};
}

/// Samples on points, many on the same one, with steps and a bandwidth that doubles hold exactly.
Case with_ties(std::size_t points, double h) {
  Case c = make("ties", 150, {points}, h, 0, scanline_oracle::inside);
  std::mt19937_64 random(13);
  c.axes[0].origin = -2.5;
  c.axes[0].step = 0.25;
  c.root[0] = 0.25 * h;
  for (double& x : c.x) {
    x = -2.5 + 0.25 * std::floor(shapes::uniform(random) * 20) * static_cast<double>(points / 20);
  }
  return c;
}

/// With a step of few digits: otherwise the oracle's points of this row are off by 2^-64 of
/// themselves, which narrow kernels reveal.
Case with_exact_points(Case c, double h) {
  const RegularAxis axis = c.axes[0];
  for (double& x : c.x) x = -3 + (x - axis.origin) / axis.step * 0.125;
  c.axes[0].origin = -3;
  c.axes[0].step = 0.125;
  c.root[0] = h * 0.125;
  return c;
}

/// Cases on a row of that many points.
std::vector<Case> cases_on(std::size_t points) {
  using scanline_oracle::anywhere;
  std::vector<Case> all;
  const auto add = [&](Case c, double h) {
    c.name += "_" + std::to_string(points) + "_" + std::to_string(std::lround(10 * h));
    all.push_back(std::move(c));
  };
  for (const double h : {0.3, 2.6, 40.0, 886.0, 8864.0, 26018.0}) {
    Case c = make("long", 90, {points}, h, 0, anywhere);
    if (h < 1) c = with_exact_points(c, h);
    for (const Case& each : with_weights(c)) add(each, h);
  }
  for (const double h : {1.0, 37.0, 886.0}) {
    add(with_ties(points, h), h);
    Case offset = make("offset", 90, {points}, h, 0, anywhere);
    offset.axes[0].origin += 1e6;
    for (double& x : offset.x) x += 1e6;
    add(offset, h);
    add(make("off_the_grid", 50, {points}, h, 0,
             [](std::mt19937_64& random) { return 2 + shapes::uniform(random); }),
        h);
    add(make("about_the_ends", 60, {points}, h, 0,
             [&](std::mt19937_64& random) {
               const double end = random() % 2 == 0 ? 0 : 1;
               return end + 2 * h / static_cast<double>(points) * (shapes::uniform(random) - 0.5);
             }),
        h);
  }
  return all;
}

std::vector<double> slabs(const Case& c, std::size_t thick, const RunOptions& options) {
  const ScanlineDensity runs({c.x.data(), c.n, 1}, {c.w.data(), c.n}, {c.axes.data(), 1}, c.choice,
                             {c.root.data(), 1}, {}, options);
  std::vector<double> out(c.points(), -1.0);
  for (std::size_t first = 0; first < c.points(); first += thick) {
    const std::size_t count = std::min(thick, c.points() - first);
    runs.slab(first, count, options, {out.data() + first, count});
  }
  return out;
}

std::unique_ptr<const ScanlineLine> make_line(const Case& c, int limbs) {
  const ScanlineGeometry geometry({c.axes.data(), c.d}, {c.root.data(), c.root.size()});
  return ScanlineLine::make(geometry, {c.x.data(), c.n, c.d}, {c.w.data(), c.n},
                            {c.choice, ScanlineMethod::events, limbs},
                            run_on(common::tables()[0], 1));
}

void expect_same_in_threads(const Case& c) {
  SCOPED_TRACE(c.name);
  const std::vector<double> one = density(c, {}, run_on(common::tables()[0], 1));
  const auto expect_same = [&](const simd::Table* table, int threads) {
    EXPECT_TRUE(common::same_bits(density(c, {}, run_on(table, threads)), one)) << threads;
    EXPECT_GT(threads_last_used(), 1);
  };
  for (const simd::Table* table : common::tables()) expect_same(table, 3);
  for (const int threads : {2, 7}) expect_same(common::tables()[0], threads);
}

class ScanlineLong : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Rows, ScanlineLong, testing::ValuesIn(cases_on(40000)),
                         scanline_oracle::name_of);

class ScanlineOneBlock : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Rows, ScanlineOneBlock, testing::ValuesIn(cases_on(kScanlineBlock)),
                         scanline_oracle::name_of);

}  // namespace

TEST_P(ScanlineLong, AgreesWithTheOracle) {
  const Case& c = GetParam();
  const scanline_oracle::Expected wanted = scanline_oracle::expect(c);
  const std::vector<double> one = density(c, {}, run_on(common::tables()[0], 1));
  scanline_oracle::expect_close(one, wanted);
  const Case other = shuffled(c);
  for (const simd::Table* table : common::tables()) {
    SCOPED_TRACE(table->name);
    for (const int threads : {1, 2, 3}) {
      EXPECT_TRUE(common::same_bits(density(other, {}, run_on(table, threads)), one)) << threads;
    }
    for (const std::size_t thick : {std::size_t{777}, std::size_t{8192}, std::size_t{60001}}) {
      EXPECT_TRUE(common::same_bits(slabs(c, thick, run_on(table, 2)), one)) << thick;
    }
  }
}

// If anchors stay within the same block, the integers are the same.
TEST_P(ScanlineOneBlock, HasTheBitsOfSortedSamples) {
  const Case& c = GetParam();
  ScanlineSettings sorted;
  sorted.sorted = true;
  for (const simd::Table* table : common::tables()) {
    EXPECT_TRUE(
        common::same_bits(density(c, {}, run_on(table, 2)), density(c, sorted, run_on(table, 2))));
  }
}

// More samples than a chunk, on threads with cells of their own, also with fewer cells than
// threads.
TEST(ScanlineLongThreads, GiveTheSameBitsAndAreUsed) {
  for (const Case& c :
       with_weights(make("short", 260000, {3000}, 120.0, 0, scanline_oracle::inside))) {
    expect_same_in_threads(c);
  }
  expect_same_in_threads(make("long", 260000, {250000}, 120.0, 0, scanline_oracle::inside));
}

TEST(ScanlineLong, IsTakenWhereItSuits) {
  using scanline_oracle::inside;
  const Case row = make("row", 100, {100000}, 886.0, 0, inside);
  EXPECT_NE(make_line(row, 0), nullptr);
  EXPECT_NE(make_line(row, 2), nullptr);
  EXPECT_EQ(make_line(row, 4), nullptr);
  EXPECT_EQ(make_line(make("row", 100, {200000}, 886.0, 0, inside), 0), nullptr);
  EXPECT_EQ(make_line(make("plane", 100, {30, 30}, 4.0, 0, inside), 0), nullptr);
  // Equal weights count as one; others need the memory that long runs allow.
  for (const double h : {100.0, 26018.0}) {
    for (const Case& c : with_weights(make("weights", 100, {100000}, h, 0, inside))) {
      const bool whole = c.name.find("uniform") == std::string::npos &&
                         c.name.find("two") == std::string::npos &&
                         c.name.find("lognormal") == std::string::npos;
      EXPECT_EQ(make_line(c, 0) != nullptr, whole || h < 1000) << c.name;
    }
  }
  const auto line =
      make_line(make("off", 100, {100000}, 3.0, 0,
                     [](std::mt19937_64& random) { return 2 + shapes::uniform(random); }),
                0);
  ASSERT_NE(line, nullptr);
  EXPECT_TRUE(line->empty());
}

// Points as far from their exact positions as ScanlineLine allows, or farther: in the latter case
// samples are sorted.
TEST(ScanlineLineShifts, MatterLittleOrAreHeeded) {
  const Case exact = make("shifts", 3000, {700}, 40.0, 0, scanline_oracle::inside);
  for (const double max : {1e-12, 1e-9, 4e-7}) {
    const Case c = scanline_oracle::moved(exact, "moved", max);
    const scanline_oracle::Expected wanted = scanline_oracle::expect(c);
    const std::vector<double> got = density(c, {}, run_on(common::tables().back(), 1));
    for (std::size_t p = 0; p < got.size(); ++p) {
      EXPECT_NEAR(got[p], static_cast<double>(wanted.value[p]),
                  static_cast<double>(1e-13L * wanted.largest));
    }
  }
}

TEST(ScanlineLongErrors, AreThoseOfOtherGrids) {
  const Case good = make("errors", 50000, {700}, 2.0, 0, scanline_oracle::inside);
  const auto message = [&](const Case& c, int threads) {
    try {
      density(c, {}, run_on(common::tables().back(), threads));
    } catch (const error& e) {
      EXPECT_EQ(e.kind, ErrorKind::input);
      return std::string(e.what());
    }
    return std::string();
  };
  for (const std::size_t at : {std::size_t{0}, std::size_t{40001}, good.n - 1}) {
    for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      Case bad = good;
      bad.x[at] = value;
      EXPECT_EQ(message(bad, 2), "samples must be finite");
      bad = good;
      bad.w[at] = value;
      EXPECT_EQ(message(bad, 2), "weights must be finite and not negative");
    }
    Case bad = good;
    bad.w[at] = -1e-300;
    EXPECT_EQ(message(bad, 1), "weights must be finite and not negative");
  }
  Case few = good;
  few.w.pop_back();
  EXPECT_THROW(
      scanline_density({few.x.data(), few.n, 1}, {few.w.data(), few.n - 1}, {few.axes.data(), 1},
                       few.choice, {few.root.data(), 1}, {}, {}, {nullptr, 700}),
      error);
}
