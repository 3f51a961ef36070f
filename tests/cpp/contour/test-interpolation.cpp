// Interpolation in grids.
#include <cmath>
#include <random>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/contour/interpolation.hpp"

using namespace kestrel;

namespace {

struct Grid {
  std::vector<std::vector<double>> axes;
  std::vector<double> values;

  std::vector<Span<const double>> spans() const {
    std::vector<Span<const double>> all;
    for (const auto& axis : axes) all.push_back({axis.data(), axis.size()});
    return all;
  }
};

/// Axes with equal steps, unequal ones, far from zero and of two points.
Grid make(std::size_t d) {
  const std::vector<std::vector<double>> kinds = {
      {0, 0.25, 0.5, 0.75, 1}, {-1, -0.999, -0.5, 0, 40, 41}, {1e9, 1e9 + 1, 1e9 + 3}, {-2, 7}};
  Grid grid;
  std::size_t size = 1;
  for (std::size_t k = 0; k < d; ++k) {
    grid.axes.push_back(kinds[k]);
    size *= kinds[k].size();
  }
  std::mt19937_64 random(d);
  for (std::size_t i = 0; i < size; ++i) {
    grid.values.push_back(std::uniform_real_distribution<double>(0, 1)(random));
  }
  return grid;
}

/// Points in the grid, on its lines, at its ends and beyond them; column-major.
std::vector<double> points_for(const Grid& grid, std::size_t m) {
  std::mt19937_64 random(m);
  std::vector<double> points;
  for (const auto& axis : grid.axes) {
    const double length = axis.back() - axis.front();
    std::uniform_real_distribution<double> within(axis.front() - 0.05 * length,
                                                  axis.back() + 0.05 * length);
    for (std::size_t i = 0; i < m; ++i) {
      points.push_back(i % 3 == 0 ? axis[random() % axis.size()] : within(random));
    }
  }
  return points;
}

/// One axis after the other, the last first.
double interpolated(const Grid& grid, const std::vector<double>& x) {
  std::vector<double> values = grid.values;
  for (std::size_t k = grid.axes.size(); k-- > 0;) {
    const std::vector<double>& axis = grid.axes[k];
    if (!(x[k] >= axis.front() && x[k] <= axis.back())) return NAN;
    std::size_t cell = 0;
    while (cell + 2 < axis.size() && x[k] >= axis[cell + 1]) ++cell;
    const double share = (x[k] - axis[cell]) / (axis[cell + 1] - axis[cell]);
    const std::size_t slice = values.size() / axis.size();
    std::vector<double> left;
    for (std::size_t i = 0; i < slice; ++i) {
      left.push_back((1 - share) * values[cell * slice + i] +
                     share * values[(cell + 1) * slice + i]);
    }
    values = left;
  }
  return values[0];
}

std::vector<double> compute(const Grid& grid, const std::vector<double>& points, int threads) {
  const std::size_t d = grid.axes.size(), m = points.size() / d;
  std::vector<double> out(m);
  ParallelOptions options;
  options.threads = threads;
  interpolate(grid.spans(), {grid.values.data(), grid.values.size()}, {points.data(), m, d},
              {out.data(), m}, options);
  return out;
}

}  // namespace

TEST(Interpolation, IsLinearAlongEveryAxis) {
  for (std::size_t d = 1; d <= 4; ++d) {
    const Grid grid = make(d);
    const std::size_t m = 3000;
    const std::vector<double> points = points_for(grid, m), found = compute(grid, points, 1);
    std::size_t beyond = 0;
    for (std::size_t i = 0; i < m; ++i) {
      std::vector<double> x;
      for (std::size_t k = 0; k < d; ++k) x.push_back(points[k * m + i]);
      const double wanted = interpolated(grid, x);
      if (std::isnan(wanted)) {
        ++beyond;
        EXPECT_TRUE(std::isnan(found[i]));
      } else {
        EXPECT_NEAR(found[i], wanted, 1e-15);
      }
    }
    EXPECT_GT(beyond, 0u);
    EXPECT_LT(beyond, m);
  }
}

TEST(Interpolation, HasTheSameBitsOnThreads) {
  const Grid grid = make(2);
  const std::vector<double> points = points_for(grid, 20000), one = compute(grid, points, 1);
  for (const int threads : common::thread_counts()) {
    EXPECT_TRUE(common::same_bits(compute(grid, points, threads), one));
  }
}

TEST(Interpolation, RefusesSizesThatDiffer) {
  Grid grid = make(2);
  EXPECT_THROW(compute({{grid.axes[0]}, grid.values}, {0.5}, 1), error);
  EXPECT_THROW(compute({{{1.0}}, {1.0}}, {1.0}, 1), error);
  std::vector<double> out(2), points = {0.5, 0};
  EXPECT_THROW(interpolate(grid.spans(), {grid.values.data(), grid.values.size()},
                           {points.data(), 1, 2}, {out.data(), 2}, {}),
               error);
}
