// Direct rows of the scanline engine: every compact kernel, radial and product, against densities
// summed point by point; and the rim of the uniform kernels against the direct engine.
#include "common.hpp"
#include "core/base/error.hpp"
#include "core/direct/direct.hpp"
#include "core/scanline/scanline.hpp"
#include "scanline-expect.hpp"

using namespace kestrel;
using scanline_oracle::Case;
using scanline_oracle::cases_of_every_kernel;
using scanline_oracle::density;
using scanline_oracle::expect_close;
using scanline_oracle::Expected;
using scanline_oracle::name_of;
using scanline_oracle::run_on;
using scanline_oracle::shuffled;
using scanline_oracle::with_kernel;

namespace {

/// The resolution of these checks: a value below that share of a peak may be lost.
constexpr oracle::real kUnseen = 1e-26L;

ScanlineSettings rows(std::size_t bytes = 0, int limbs = 0) {
  return {limbs, bytes, ScanlineMethod::rows};
}

class ScanlineRows : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Cases, ScanlineRows, testing::ValuesIn(cases_of_every_kernel()), name_of);

std::vector<Case> work_for_three_threads() {
  using scanline_oracle::inside;
  using scanline_oracle::make;
  const auto radial = KernelType::radial, product = KernelType::product;
  const Case line = make("line_d1", 60000, {500}, 20.0, 0, inside);
  const Case plane = make("plane_d2", 30000, {130, 170}, 9.0, 0.5, inside);
  const Case space = make("space_d3", 30000, {40, 50, 30}, 4.0, -0.4, inside);
  return {with_kernel(line, Kernel::biweight, radial),
          with_kernel(plane, Kernel::cosine, radial),
          with_kernel(plane, Kernel::triweight, product),
          with_kernel(plane, Kernel::uniform, product),
          with_kernel(plane, Kernel::uniform, radial),
          with_kernel(space, Kernel::triangular, radial)};
}

class ScanlineRowsThreads : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Long, ScanlineRowsThreads, testing::ValuesIn(work_for_three_threads()),
                         name_of);

/// Axes as a user has them: doubles that are each rounded, h a gap between two of them. Samples are
/// points of the axes.
struct Lattice {
  Case c;
  std::vector<std::vector<double>> values;

  Lattice(std::size_t d, std::size_t steps, double step, KernelType type)
      : c(with_kernel(scanline_oracle::make("lattice", 150, scanline_oracle::counts_of(d), 1.0, 0,
                                            scanline_oracle::inside),
                      Kernel::uniform, type)) {
    std::mt19937_64 random(d + 7 * steps);
    values.resize(d);
    for (std::size_t k = 0; k < d; ++k) {
      RegularAxis& axis = c.axes[k];
      axis.origin = -3.1;
      axis.step = step;
      for (std::size_t i = 0; i < axis.count; ++i) {
        values[k].push_back(axis.origin + static_cast<double>(i) * axis.step);
      }
      axis.values = {values[k].data(), values[k].size()};
      const std::size_t last = axis.count - 1, gap = std::min(steps, last);
      c.root[k * d + k] = values[k][last] - values[k][last - gap];
      for (std::size_t j = 0; j < c.n; ++j) {
        c.x[k * c.n + j] = values[k][random() % axis.count];
      }
    }
  }

  std::vector<double> direct(const simd::Table* table) const {
    EvaluationPoints points;
    for (const std::vector<double>& v : values) points.axes.push_back({v.data(), v.size()});
    std::vector<double> out(c.points(), -1.0);
    direct_density({c.x.data(), c.n, c.d}, {c.w.data(), c.n}, points, c.choice,
                   {c.root.data(), c.root.size()}, run_on(table, 1), {out.data(), out.size()});
    return out;
  }
};

}  // namespace

TEST_P(ScanlineRows, AgreeWithTheOracle) {
  const Case& c = GetParam();
  const Expected wanted = scanline_oracle::expect(c);
  const bool rim = c.choice.kernel != Kernel::uniform;
  expect_close(density(c, rows(), run_on(common::tables()[0], 1)), wanted, kUnseen, rim);
  const std::vector<double> one = density(c, rows(0, 1), run_on(common::tables()[0], 1));
  for (std::size_t p = 0; p < one.size(); ++p) {
    if (!rim && wanted.at_rim[p]) continue;
    EXPECT_LE(std::fabs(one[p] - wanted.value[p]),
              (1e-14L + std::ldexp(static_cast<double>(c.n), -50)) * wanted.largest);
    EXPECT_GE(one[p], 0);
  }
}

TEST_P(ScanlineRows, HaveTheSameBitsHoweverTheyAreRun) {
  const Case& c = GetParam();
  const std::vector<double> one = density(c, rows(), run_on(common::tables()[0], 1));
  const Case other = shuffled(c);
  for (const simd::Table* table : common::tables()) {
    SCOPED_TRACE(table->name);
    for (const std::size_t bytes : {0, 1000, 20000}) {
      const Case& some = bytes == 1000 ? other : c;
      const int threads = bytes == 0 ? 1 : bytes == 1000 ? 2 : 3;
      EXPECT_TRUE(common::same_bits(density(some, rows(bytes), run_on(table, threads)), one))
          << bytes;
    }
    const std::vector<double> limb = density(c, rows(0, 1), run_on(common::tables()[0], 1));
    EXPECT_TRUE(common::same_bits(density(c, rows(1000, 1), run_on(table, 1)), limb));
  }
  const RunOptions options = run_on(common::tables().back(), 2);
  const std::vector<RegularAxis> axes = c.grid();
  const ScanlineDensity runs({c.x.data(), c.n, c.d}, {c.w.data(), c.n}, {axes.data(), c.d},
                             c.choice, {c.root.data(), c.root.size()}, rows(3000), options);
  std::vector<double> out(c.points(), -1.0);
  for (std::size_t first = 0; first < runs.count(); first += 7) {
    const std::size_t count = std::min<std::size_t>(7, runs.count() - first);
    runs.slab(first, count, options, {out.data() + first * runs.points(), count * runs.points()});
  }
  EXPECT_TRUE(common::same_bits(out, one));
}

TEST_P(ScanlineRowsThreads, GiveTheSameBitsAndAreUsed) {
  const Case& c = GetParam();
  const std::vector<double> one = density(c, rows(), run_on(common::tables()[0], 1));
  for (const simd::Table* table : common::tables()) {
    for (const int threads : {1, 2, 3}) {
      EXPECT_TRUE(common::same_bits(density(c, rows(), run_on(table, threads)), one)) << threads;
      EXPECT_TRUE(threads == 1 || threads_last_used() > 1);
      EXPECT_TRUE(common::same_bits(density(shuffled(c), rows(40000), run_on(table, threads)), one))
          << threads;
    }
  }
}

// A radial Epanechnikov kernel may use either method, with runs of every length.
TEST(ScanlineMethods, AgreeAndAreChosenByTheLengthOfRuns) {
  for (const Case& c : scanline_oracle::cases_of_every_kind()) {
    if (c.n * c.points() > 250000) continue;
    SCOPED_TRACE(c.name);
    const Expected wanted = scanline_oracle::expect(c);
    const RunOptions options = run_on(common::tables()[0], 1);
    // A ScanlineLine would neglect how little points are moved.
    const bool sorted = !c.values.empty();
    const std::vector<double> events = density(c, {0, 0, ScanlineMethod::events, sorted}, options);
    const std::vector<double> best = density(c, {0, 0, ScanlineMethod::best, sorted}, options);
    expect_close(events, wanted);
    const ScanlineGeometry geometry({c.axes.data(), c.d}, {c.root.data(), c.root.size()});
    const bool is_rows = scanline_method(geometry, c.choice) == ScanlineMethod::rows;
    EXPECT_EQ(is_rows, c.d > 1 && geometry.radius() < 2);
    if (c.d == 1) {
      const Case product = with_kernel(c, Kernel::epanechnikov, KernelType::product);
      EXPECT_TRUE(
          common::same_bits(density(product, {0, 0, ScanlineMethod::best, sorted}, options), best));
    }
    EXPECT_TRUE(common::same_bits(best, is_rows ? density(c, rows(), options) : events));
    for (const simd::Table* table : common::tables()) {
      EXPECT_TRUE(common::same_bits(
          density(shuffled(c), {0, 5000, ScanlineMethod::events, sorted}, run_on(table, 2)),
          events));
    }
  }
}

// One limb of events: rounding moves a value by up to (d^2 + d + 1) / 2 units for each sample.
TEST(ScanlineOneLimb, IsAsGoodAsItsUnit) {
  for (const Case& c : scanline_oracle::cases_of_every_kind()) {
    if (c.n > 200 || c.n * c.points() > 250000) continue;
    SCOPED_TRACE(c.name);
    const Expected wanted = scanline_oracle::expect(c);
    const ScanlineGeometry geometry({c.axes.data(), c.d}, {c.root.data(), c.root.size()});
    const oracle::real radius = geometry.radius(), farthest = std::min(radius + 1, 8192.0L);
    const oracle::real unit = 0x1p-49L * (radius + 1) * (radius + 1) / (radius * radius);
    const oracle::real rounding =
        static_cast<oracle::real>(c.n) * (farthest * farthest + farthest + 1) / 2 * unit;
    const ScanlineSettings settings = {1, 0, ScanlineMethod::events};
    const std::vector<double> one = density(c, settings, run_on(common::tables()[0], 1));
    oracle::real worst = 0;
    for (std::size_t p = 0; p < one.size(); ++p) {
      worst = std::max(worst, std::fabs(one[p] - wanted.value[p]));
    }
    EXPECT_LE(worst, 1e-14L * wanted.largest + rounding * wanted.peak);
    for (const simd::Table* table : common::tables()) {
      EXPECT_TRUE(common::same_bits(
          density(shuffled(c), {1, 7000, ScanlineMethod::events}, run_on(table, 2)), one))
          << table->name;
    }
  }
}

TEST(ScanlineRim, IsThatOfTheDirectEngine) {
  for (std::size_t d = 1; d <= 6; ++d) {
    for (const KernelType type : {KernelType::radial, KernelType::product}) {
      for (const std::size_t steps : {1, 2, 3, 5, 10}) {
        for (const double step : {0.25, 0.1, 1.0 / 3}) {
          const Lattice lattice(d, steps, step, type);
          const RunOptions options = run_on(common::tables()[0], 1);
          const std::vector<double> runs = density(lattice.c, {}, options);
          for (const simd::Table* table : common::tables()) {
            // The others round twice where these fuse a product and a sum, or have one variable
            // only.
            if (table->lanes < 4 && d > 1 && type == KernelType::radial) continue;
            EXPECT_TRUE(common::same_bits(lattice.direct(table), runs))
                << table->name << " d " << d << " steps " << steps << " step " << step;
          }
          EXPECT_TRUE(common::same_bits(
              density(shuffled(lattice.c), {0, 1000}, run_on(common::tables().back(), 2)), runs));
        }
      }
    }
  }
}

TEST(ScanlineRowsErrors, Input) {
  const Case good = scanline_oracle::make("errors", 9, {5, 6}, 2.0, 0.3, scanline_oracle::inside);
  const auto expect_kind = [&](ErrorKind kind, Case c, const KernelChoice& choice,
                               const ScanlineSettings& settings) {
    c.choice = choice;
    try {
      density(c, settings, run_on(common::tables()[0], 1));
      ADD_FAILURE() << "no error";
    } catch (const error& e) {
      EXPECT_EQ(e.kind, kind) << e.what();
    }
  };
  expect_kind(ErrorKind::input, good, {Kernel::gaussian, KernelType::radial}, {});
  expect_kind(ErrorKind::input, good, {Kernel::biweight, KernelType::product}, {});
  expect_kind(ErrorKind::internal, good, {Kernel::biweight, KernelType::radial},
              {0, 0, ScanlineMethod::events});
  Case other_values = good;
  other_values.values = {{1, 2, 3}, {1, 2, 3}};
  expect_kind(ErrorKind::internal, other_values, {Kernel::uniform, KernelType::radial}, {});
}
