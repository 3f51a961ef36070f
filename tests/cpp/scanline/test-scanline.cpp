// The scanline engine: every instruction set, number of threads, size of tiles and order of samples
// against densities summed point by point.
#include "core/base/error.hpp"
#include "core/scanline/geometry.hpp"
#include "core/scanline/sample.hpp"
#include "core/scanline/scanline.hpp"
#include "scanline-expect.hpp"

using namespace kestrel;
using scanline_oracle::Case;
using scanline_oracle::density;
using scanline_oracle::expect_close;
using scanline_oracle::name_of;
using scanline_oracle::run_on;
using scanline_oracle::shuffled;

namespace {

class Scanline : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Cases, Scanline, testing::ValuesIn(scanline_oracle::cases_of_every_kind()),
                         name_of);

/// Enough samples and points for several chunks of samples and many tiles.
std::vector<Case> work_for_three_threads() {
  using scanline_oracle::inside;
  using scanline_oracle::make;
  return {
      make("line_d1", 60000, {500}, 20.0, 0, inside),
      make("long_line_d1", 40000, {130000}, 800.0, 0, inside),
      make("plane_d2", 30000, {130, 170}, 9.0, 0.5, inside),
      scanline_oracle::weighted(make("space_d3", 30000, {40, 50, 30}, 4.0, -0.4, inside), "wild",
                                [](std::size_t j) { return std::exp((j * j % 19) / 3.0); })};
}

class ScanlineThreads : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Long, ScanlineThreads, testing::ValuesIn(work_for_three_threads()),
                         name_of);

}  // namespace

TEST_P(Scanline, AgreesWithTheOracle) {
  const Case& c = GetParam();
  const scanline_oracle::Expected wanted = scanline_oracle::expect(c);
  // ScanlineLine neglects small moves of points; see test-scanline-line.cpp.
  ScanlineSettings settings;
  settings.sorted = !c.values.empty();
  expect_close(density(c, settings, run_on(common::tables()[0], 1)), wanted);
  expect_close(density(c, {4, 0}, run_on(common::tables()[0], 1)), wanted);
}

TEST_P(Scanline, HasTheSameBitsHoweverItIsRun) {
  const Case& c = GetParam();
  const std::vector<double> one = density(c, {}, run_on(common::tables()[0], 1));
  const Case other = shuffled(c);
  for (const simd::Table* table : common::tables()) {
    SCOPED_TRACE(table->name);
    for (const std::size_t bytes : {0, 3000, 40000}) {
      ScanlineSettings settings;
      settings.tile_bytes = bytes;
      const Case& some = bytes == 3000 ? other : c;
      const int threads = bytes == 0 ? 1 : bytes == 3000 ? 2 : 3;
      EXPECT_TRUE(common::same_bits(density(some, settings, run_on(table, threads)), one)) << bytes;
    }
    const std::vector<double> four = density(c, {4, 0}, run_on(common::tables()[0], 1));
    EXPECT_TRUE(common::same_bits(density(c, {4, 5000}, run_on(table, 1)), four));
  }
}

TEST_P(Scanline, HasTheSameBitsSlabBySlab) {
  const Case& c = GetParam();
  const RunOptions options = run_on(common::tables().back(), 2);
  const std::vector<double> whole = density(c, {}, options);
  const std::vector<RegularAxis> axes = c.grid();
  const ScanlineDensity runs({c.x.data(), c.n, c.d}, {c.w.data(), c.n}, {axes.data(), c.d},
                             c.choice, {c.root.data(), c.root.size()}, {0, 3000}, options);
  EXPECT_EQ(runs.count() * runs.points(), c.points());
  EXPECT_THROW(runs.slab(runs.count(), 1, options, {nullptr, runs.points()}), error);
  for (const std::size_t thick : {std::size_t{1}, std::size_t{7}, runs.count() / 2 + 1}) {
    std::vector<double> out(c.points(), -1.0);
    for (std::size_t first = 0; first < runs.count(); first += thick) {
      const std::size_t count = std::min(thick, runs.count() - first);
      runs.slab(first, count, options, {out.data() + first * runs.points(), count * runs.points()});
    }
    EXPECT_TRUE(common::same_bits(out, whole)) << thick;
  }
}

TEST_P(ScanlineThreads, GiveTheSameBitsAndAreUsed) {
  const Case& c = GetParam();
  const std::vector<double> one = density(c, {}, run_on(common::tables()[0], 1));
  for (const simd::Table* table : common::tables()) {
    for (const int threads : {1, 2, 3}) {
      EXPECT_TRUE(common::same_bits(density(c, {}, run_on(table, threads)), one)) << threads;
      EXPECT_TRUE(threads == 1 || threads_last_used() > 1);
      EXPECT_TRUE(common::same_bits(density(shuffled(c), {0, 100000}, run_on(table, threads)), one))
          << threads;
    }
  }
}

TEST(ScanlinePoll, IsAskedAndStopsTheWork) {
  const Case c = work_for_three_threads()[2];
  RunOptions options = run_on(common::tables()[0], 2);
  int polls = 0;
  options.parallel.poll = [&](double) {
    if (++polls == 2) throw std::runtime_error("enough");
  };
  const auto work = [&] {
    for (int i = 0; i < 1000; ++i) density(c, {}, options);
  };
  EXPECT_THROW(work(), std::runtime_error);
}

// One tile with more samples than are added between two polls.
TEST(ScanlinePoll, IsAskedWithinATile) {
  struct Interrupt {};
  const Case c = scanline_oracle::make("long", std::size_t{1} << 21, {16, 16}, 6.0, 0.5,
                                       scanline_oracle::inside);
  RunOptions options = run_on(simd::baseline_table());
  int polls = 0;
  options.parallel.poll = [&](double fraction) {
    // Only sorting is done yet.
    if (fraction > 0.199 && fraction < 0.201 && ++polls == 2) throw Interrupt();
  };
  EXPECT_THROW(density(c, {}, options), Interrupt);
}

// The sum of a density over the points times the volume of a cell is the sum of the weights.
TEST(ScanlineMass, IsThatOfTheSamples) {
  const Case c =
      scanline_oracle::make("mass", 500, {90, 80, 70}, 6.0, 0.5, scanline_oracle::inside);
  oracle::real sum = 0;
  for (const double v : density(c, {}, run_on(common::tables()[0], 1))) sum += v;
  for (const RegularAxis& axis : c.axes) sum *= axis.step;
  EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(c.n), 0.01 * static_cast<double>(c.n));
}

// Where a box covers whole rows, all bins along them are taken: samples that meet it are among
// these.
TEST(ScanlineSamples, OfAWholeSliceAreOneRange) {
  const Case c =
      scanline_oracle::make("slices", 3000, {50, 60, 40}, 4.0, 0.5, scanline_oracle::inside);
  const RunOptions options = run_on(common::tables()[0], 1);
  const std::vector<RegularAxis> axes = c.grid();
  const ScanlineDensity runs({c.x.data(), c.n, c.d}, {c.w.data(), c.n}, {axes.data(), c.d},
                             c.choice, {c.root.data(), c.root.size()}, {}, options);
  const ScanlineGeometry& geometry = runs.geometry();
  std::size_t fewest = c.n;
  for (std::size_t slice = 0; slice < geometry.count(0); ++slice) {
    ScanlineBox box;
    box.first = {slice, 0, 0};
    box.last = {slice, geometry.count(1) - 1, geometry.count(2) - 1};
    std::vector<simd::ScanlineRange> ranges;
    runs.sample()->find(box, &ranges);
    ASSERT_EQ(ranges.size(), 1u);
    fewest = std::min<std::size_t>(fewest, ranges[0].end - ranges[0].begin);
  }
  EXPECT_LT(fewest, c.n / 2);
  const std::size_t slices = std::size_t{1} << 20;
  EXPECT_TRUE(common::same_bits(density(c, {0, slices}, options), density(c, {0, 3000}, options)));
}

// The number of samples that are active at a point, counted, never exceeds the histogram's bound.
TEST(ScanlineScaleBound, HoldsAtEveryPoint) {
  for (const Case& c : scanline_oracle::cases_of_every_kind()) {
    if (c.d > 3) continue;
    const ScanlineGeometry geometry({c.axes.data(), c.d}, {c.root.data(), c.root.size()});
    ScanlineHistogram histogram(geometry);
    ScanlineIndex place;
    std::vector<ScanlineIndex> places;
    for (std::size_t j = 0; j < c.n; ++j) {
      if (!geometry.grid_index({c.x.data(), c.n, c.d}, j, &place)) continue;
      histogram.add(place, static_cast<double>(j % 4) / 3);
      places.push_back(place);
    }
    const ScanlineActive bound = histogram.max_active();
    std::mt19937_64 random(5);
    for (int trial = 0; trial < 300; ++trial) {
      std::array<double, simd::kScanlineAxes> point{};
      for (std::size_t a = 0; a < geometry.axes(); ++a) {
        point[a] = static_cast<double>(random() % geometry.count(a));
      }
      double active = 0;
      for (const ScanlineIndex& p : places) {
        bool near = true;
        for (std::size_t a = 0; a < geometry.axes(); ++a) {
          near = near && std::fabs(point[a] - p.base[a] - p.part[a]) <= geometry.reach(a);
        }
        if (near) ++active;
      }
      EXPECT_LE(active, bound.samples) << c.name;
    }
  }
}

// A step of many digits, and a kernel whose centre is far from the grid.
TEST(ScanlinePlaces, LoseNothingHoweverFarTheSample) {
  const RegularAxis axis{0.0, 0.1, 3, {}};
  const double root = 1e12;
  const ScanlineGeometry geometry({&axis, 1}, {&root, 1});
  for (const double x : {0.04, 0.15, 1e4 / 3, 1.3e7, 1.4e7, 2.6e7 / 3, 2.6e7, 1e8 / 3, 1e8, 1e11}) {
    for (const double sample : {x, -x}) {
      ScanlineIndex place;
      ASSERT_TRUE(geometry.grid_index({&sample, 1, 1}, 0, &place));
      const oracle::real base = place.base[1], step = axis.step;
      const oracle::real rest = std::fma(-base, step, static_cast<oracle::real>(sample)) / step;
      EXPECT_LE(std::abs(place.base[1]), 1 << 27) << sample;
      EXPECT_LE(std::fabs(place.part[1] - rest), 0x1p-51L * std::max(1.0L, std::fabs(rest)))
          << sample;
    }
  }
}

TEST(ScanlineAxis, HasAtMostSoManyPointsAsIndicesAreExact) {
  const RegularAxis axis{0.0, 0.1, (1u << 27) + 1, {}};
  const double root = 1;
  EXPECT_THROW(ScanlineGeometry({&axis, 1}, {&root, 1}), error);
}

/// Samples on a lattice, each off a point by less than a bandwidth, which is lost in units of
/// steps.
TEST(ScanlineAxis, HasNoStepsInWhichABandwidthHasNoDigits) {
  const double root = 1;
  for (const double step : {1.0, 255.0, 256.0, 257.0, 1e4, 1e12}) {
    const RegularAxis axis{0.1, step, 50, {}};
    if (step > 256) {
      EXPECT_THROW(ScanlineGeometry({&axis, 1}, {&root, 1}), error) << step;
      continue;
    }
    std::vector<double> x, w;
    std::vector<oracle::real> wanted(axis.count, 0);
    for (std::size_t i = 0; i < axis.count; ++i) {
      x.push_back(axis.origin + static_cast<double>(i) * step + 0.9 * std::sin(1.0 + i));
      w.push_back(1);
    }
    for (std::size_t i = 0; i < axis.count; ++i) {
      const oracle::real at =
          static_cast<oracle::real>(axis.origin) + static_cast<oracle::real>(i) * step;
      for (const double v : x) {
        wanted[i] += 0.75L * oracle::profile(Kernel::epanechnikov, std::fabs(at - v));
      }
    }
    std::vector<double> out(axis.count);
    scanline_density({x.data(), x.size(), 1}, {w.data(), w.size()}, {&axis, 1},
                     {Kernel::epanechnikov, KernelType::radial}, {&root, 1}, {},
                     run_on(common::tables().back()), {out.data(), out.size()});
    for (std::size_t i = 0; i < axis.count; ++i) {
      EXPECT_LE(std::fabs(out[i] - wanted[i]), 1e-13L * 0.75L) << step << ' ' << i;
    }
  }
}

TEST(ScanlineAxis, IsFoundWhereValuesAreRegular) {
  RegularAxis axis;
  const auto find = [&](const std::vector<double>& values) {
    return find_regular_axis({values.data(), values.size()}, &axis);
  };
  std::vector<double> exact, rounded, other;
  for (int i = 0; i < 33; ++i) {
    exact.push_back(-2 + 0.125 * i);
    rounded.push_back(-2 + 0.1 * i);
    other.push_back(-2 + 0.125 * i + (i == 20 ? 0.125 * 4e-7 : 0.0));
  }
  ASSERT_TRUE(find(exact));
  EXPECT_EQ(axis.origin, -2);
  EXPECT_EQ(axis.step, 0.125);
  EXPECT_EQ(axis.count, 33u);
  for (const double shift : shifts_of(axis, 3)) EXPECT_EQ(shift, 0);
  EXPECT_EQ(shifts_of(axis, 3).size(), 36u);
  ASSERT_TRUE(find(rounded));
  for (const double shift : shifts_of(axis, 0)) EXPECT_LT(std::fabs(shift), 1e-14);
  ASSERT_TRUE(find(other));
  EXPECT_NEAR(shifts_of(axis, 0)[20], 4e-7, 1e-15);
  other[20] += 0.125 * 2e-7;
  EXPECT_FALSE(find(other));
  EXPECT_TRUE(find({4.5}));
  EXPECT_EQ(axis.count, 1u);
  EXPECT_FALSE(find({}));
  EXPECT_FALSE(find({1, 1}));
  EXPECT_FALSE(find({2, 1}));
  EXPECT_FALSE(find({1, 2, HUGE_VAL}));
  EXPECT_FALSE(find({1, std::nan(""), 3}));
}

TEST(ScanlineErrors, Input) {
  const Case good = scanline_oracle::make("errors", 9, {5, 6}, 2.0, 0.3, scanline_oracle::inside);
  const auto expect_kind = [&](ErrorKind kind, const Case& c, const ScanlineSettings& settings) {
    try {
      density(c, settings, run_on(common::tables()[0], 2));
      ADD_FAILURE() << "no error";
    } catch (const error& e) {
      EXPECT_EQ(e.kind, kind) << e.what();
    }
  };
  expect_kind(ErrorKind::internal, good, {3, 0});
  Case bad = good;
  bad.x[3] = std::nan("");
  expect_kind(ErrorKind::input, bad, {});
  for (const double weight : {-1.0, HUGE_VAL, std::nan("")}) {
    bad = good;
    bad.w[4] = weight;
    expect_kind(ErrorKind::input, bad, {});
  }
  for (const double step : {0.0, -1.0, HUGE_VAL}) {
    bad = good;
    bad.axes[1].step = step;
    expect_kind(ErrorKind::input, bad, {});
  }
  expect_kind(ErrorKind::input, scanline_oracle::moved(good, "moved", 1e-4), {});
  bad = good;
  bad.root[0] = 0;
  expect_kind(ErrorKind::input, bad, {});
  bad.root[0] = 1e30;
  expect_kind(ErrorKind::input, bad, {});
}
