// Nearest-neighbour bandwidths: distances against those of all pairs, and leave-one-out fits on
// every instruction set against sums in long double.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common.hpp"
#include "core/data/neighbours.hpp"
#include "core/regression/regression.hpp"
#include "line-oracle.hpp"
#include "regression-expect.hpp"

using namespace kestrel;
using common::run_on;
using lines::Line;
using oracle::real;
using namespace fits;

namespace {

/// The different distances of a point, ascending.
std::vector<double> distances(const Line& line, double point) {
  std::set<double> all;
  for (const double x : line.x) {
    const double apart = std::fabs(point - x);
    all.insert(apart < std::numeric_limits<double>::min() ? 0.0 : apart);
  }
  return {all.begin(), all.end()};
}

std::size_t most_of_all(const Line& line) {
  std::size_t most = line.x.size();
  for (const double x : line.x) most = std::min(most, distances(line, x).size() - 1);
  return most;
}

/// The sum of w e^2 over local constant leave-one-out fits, with the Gaussian or Epanechnikov
/// kernel.
real squares(const Line& line, const std::vector<double>& y, const LocalKernel& kernel) {
  const std::size_t n = line.x.size(), k = static_cast<std::size_t>(kernel.h);
  std::vector<double> h;
  for (const double x : line.x) h.push_back(distances(line, x)[k]);
  real all = 0;
  for (std::size_t i = 0; i < n; ++i) {
    real sum = 0, with_y = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const double reach = h[kernel.type == BandwidthType::adaptive_nn ? j : i];
      const real apart = static_cast<real>(line.x[j]) - line.x[i], u = apart / reach;
      const bool seen = kernel.gaussian() || std::fabs(line.x[j] - line.x[i]) < reach;
      if (j == i || !seen) continue;
      const real value = kernel.gaussian() ? std::exp(-u * u / 2) : (1 - u) * (1 + u);
      sum += line.w[j] * value / reach;
      with_y += line.w[j] * value / reach * (static_cast<real>(y[j]) - y[i]);
    }
    if (sum > 0) all += line.w[i] * (with_y / sum) * (with_y / sum);
  }
  return all;
}

}  // namespace

TEST(Neighbours, AreAtTheDifferentDistances) {
  for (const Line& line : lines::of_every_kind(70)) {
    if (line.x.empty()) continue;
    SCOPED_TRACE(line.name);
    const SortedSample sample(line.samples(), {}, {}, {});
    const std::size_t n = line.x.size();
    for (const double point : {line.x[0], line.x[n / 2], 0.5 * (line.x[0] + line.x[n / 2])}) {
      const std::vector<double> wanted = distances(line, point);
      NeighbourWalk walk(sample.x(), n, point);
      for (std::size_t k = 0; k < wanted.size(); ++k) EXPECT_EQ(walk.to(k), wanted[k]);
      EXPECT_TRUE(std::isnan(walk.to(wanted.size())));
      EXPECT_EQ(walk.met() + 1, wanted.size());
    }
    EXPECT_EQ(most_neighbours(sample, n, {}), most_of_all(line));
  }
}

TEST(Neighbours, FitsAreThoseOfSumsInLongDouble) {
  std::mt19937_64 random(11);
  for (const std::size_t n : {2, 7, 33, 150}) {
    Line line{"normal", {}, {}};
    for (std::size_t i = 0; i < n; ++i) {
      line.x.push_back(std::cbrt(shapes::uniform(random) - 0.5));
      line.w.push_back(0.5 + shapes::uniform(random));
    }
    const std::vector<double> y = lines::response(line);
    for (const Kernel shape : {Kernel::gaussian, Kernel::epanechnikov}) {
      for (const BandwidthType type : {BandwidthType::generalized_nn, BandwidthType::adaptive_nn}) {
        LocalKernel kernel{shape, std::ceil(0.3 * static_cast<double>(n)), false};
        kernel.type = type;
        const real wanted = squares(line, y, kernel);
        for (const simd::Table* table : common::tables()) {
          SCOPED_TRACE(std::string(table->name) + ", n = " + std::to_string(n));
          const RunOptions run = run_on(table);
          const CrossValidation got = LocalRegression(sample_of(line, y), run.parallel)
                                          .cross_validate({&kernel.h, 1}, kernel, run);
          EXPECT_NEAR(got.squares[0], static_cast<double>(wanted),
                      1e-12 * static_cast<double>(wanted));
        }
      }
    }
  }
}
