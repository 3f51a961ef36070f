// Sums over pairs with images, against sums over all samples and maps in long doubles.
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/fgt/image_sums.hpp"
#include "lines.hpp"
#include "oracle.hpp"

using namespace kestrel;
using common::name_of;
using common::run_on;
using lines::Line;
using oracle::real;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

RunOptions threads(int count) { return run_on(common::tables().back(), count); }

Span<const double> span(const std::vector<double>& v) { return {v.data(), v.size()}; }

struct Map {
  real sign, shift;
};

/// All images up to so many periods, or pairs of reflections, without the samples themselves.
std::vector<Map> maps_of(const ReflectingAxis& axis, int times) {
  const real lower = axis.lower, upper = axis.upper;
  if (!std::isfinite(axis.lower)) return {{-1, 2 * upper}};
  if (!std::isfinite(axis.upper)) return {{-1, 2 * lower}};
  std::vector<Map> maps;
  for (int k = -times; k <= times; ++k) {
    const real step = (axis.periodic ? 1 : 2) * k * (upper - lower);
    if (k != 0) maps.push_back({1, step});
    if (!axis.periodic) maps.push_back({-1, 2 * lower + step});
  }
  return maps;
}

/// phi_g^(r)(u) for r = 0, 2, 4 and 6.
std::vector<real> derivatives(real u, real g) {
  u /= g;
  const real density = oracle::normal_density(1, g, 0) * std::exp(-u * u / 2);
  std::vector<real> out;
  real before = 0, now = 1, unit = 1;
  for (int r = 0; r <= 6; ++r) {
    if (r % 2 == 0) out.push_back(density * now * unit);
    const real next = u * now - r * before;
    before = now;
    now = next;
    unit /= g;
  }
  return out;
}

struct Sums {
  std::vector<real> pairs, size;  // for each order; the size has the pairs without images, too
  real own = 0;
};

Sums wanted(const Line& line, const ReflectingAxis& axis, double g, int times) {
  Sums sums{std::vector<real>(4), std::vector<real>(4), 0};
  std::vector<Map> maps = maps_of(axis, times);
  maps.push_back({1, 0});
  for (std::size_t m = 0; m < maps.size(); ++m) {
    const bool image = m + 1 < maps.size();
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      for (std::size_t j = 0; j < line.x.size(); ++j) {
        const real u = line.x[i] - (maps[m].sign * line.x[j] + maps[m].shift);
        if (std::fabs(u) > 40 * g) continue;
        const real weight = static_cast<real>(line.w[i]) * line.w[j];
        const std::vector<real> d = derivatives(u, g);
        for (std::size_t r = 0; r < d.size(); ++r) {
          if (image) sums.pairs[r] += weight * d[r];
          sums.size[r] += std::fabs(weight * d[r]);
        }
        if (image && i == j) sums.own += weight * d[0];
      }
    }
  }
  return sums;
}

/// The bounds that tests give to samples: at their ends, beyond them, and far away.
std::vector<ReflectingAxis> axes_for(const Line& line) {
  const ValueRange range = range_of(line.samples(), {});
  const double length = std::max(range.max - range.min, 1e-3);
  return {{range.min, infinity, 0, false},
          {-infinity, range.max + 0.123 * length, 0, false},
          {range.min - 0.01 * length, range.max + 0.3 * length, 0, false},
          {range.min, range.min + 1.1 * length, 0, true},
          // Samples of several periods.
          {range.min, range.min + 0.37 * length, 0, true}};
}

class Images : public testing::TestWithParam<Line> {};

std::vector<Line> lines_of_every_kind() {
  std::vector<Line> all = lines::of_every_kind(60);
  for (const Line& line : lines::of_every_small_size()) all.push_back(line);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Lines, Images, testing::ValuesIn(lines_of_every_kind()), name_of);

TEST_P(Images, AreThoseOfTheOracle) {
  const Line& line = GetParam();
  const LineSample sample(line.samples(), line.weights());
  const ValueRange range = range_of(line.samples(), {});
  const double length = std::max(range.max - range.min, 1e-3);
  for (const ReflectingAxis& axis : axes_for(line)) {
    for (const double share : {0.02, 0.3, 1.2}) {
      const double g = share * length;
      const Sums sums = wanted(line, axis, g, 60);
      SCOPED_TRACE(testing::Message()
                   << axis.lower << " " << axis.upper << " " << axis.periodic << " g " << g);
      for (int r = 0; r <= 6; r += 2) {
        const std::size_t k = static_cast<std::size_t>(r / 2);
        const double found = fgt_image_psi(sample, axis, span({g}), r, threads(1))[0];
        EXPECT_LE(std::fabs(found - sums.pairs[k]), 3e-14 * sums.size[k]) << "order " << r;
      }
      const double own = fgt_own_images(sample, nullptr, axis, span({g}), threads(1))[0];
      EXPECT_LE(std::fabs(own - sums.own), 1e-13 * sums.size[0]);
    }
  }
}

TEST(ImageSums, OfManyBandwidthsAreThoseOfEach) {
  const Line line = lines::of_every_kind(500)[1];
  const LineSample sample(line.samples(), line.weights());
  const ReflectingAxis axis{-5, infinity, 0, false};
  const std::vector<double> g{3, 0.1, 0.11, 0.7};
  const std::vector<double> all = fgt_image_psi(sample, axis, span(g), 4, threads(2));
  for (std::size_t k = 0; k < g.size(); ++k) {
    const LineSample again(line.samples(), line.weights());
    const double one = fgt_image_psi(again, axis, span({g[k]}), 4, threads(1))[0];
    EXPECT_NEAR(all[k], one, 1e-12 * std::fabs(one) + 1e-300);
  }
  EXPECT_EQ(fgt_image_psi(sample, {-infinity, infinity, 0, false}, span(g), 0, threads(1)),
            std::vector<double>(g.size(), 0.0));
}

TEST(ImageSums, RefuseOrdersAndSquaredWeightsThatCellsLack) {
  const Line line = lines::of_every_kind(100)[1];
  const LineSample sample(line.samples(), line.weights());
  const ReflectingAxis axis{-5, infinity, 0, false};
  EXPECT_THROW(fgt_image_psi(sample, axis, span({1}), 3, threads(1)), error);
  const GivenCells cells{{0}, std::vector<double>(16, 0.0), {5}, {2}, 16};
  const LineSample weighted({3, 5, 2, 1, 2}, {0, 1},
                            std::make_unique<const CellMoments>(cells, -6, 16, threads(1)));
  EXPECT_THROW(fgt_own_images(weighted, nullptr, axis, span({1}), threads(1)), error);
}

}  // namespace
