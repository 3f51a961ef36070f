// What the tests of engines for points anywhere share.
#ifndef KESTREL_TOOLS_POINTS_EXPECT_HPP
#define KESTREL_TOOLS_POINTS_EXPECT_HPP

#include "common.hpp"
#include "core/data/evaluation_points.hpp"
#include "oracle.hpp"

namespace common {

/// direct_density() or another engine of the same form.
template <class Engine>
std::vector<double> density_by(Engine engine, const shapes::Shape& shape,
                               const KernelChoice& choice, const kestrel::RunOptions& options) {
  std::vector<double> out(shape.m, -1.0);
  kestrel::EvaluationPoints points;
  points.matrix = shape.evaluation();
  engine(shape.samples(), shape.weights(), points, choice, shape.bandwidth(), options,
         {out.data(), out.size()});
  return out;
}

/// At most about fifty points, including the first and the last: the oracle is slow.
inline std::vector<std::size_t> some_of(std::size_t m) {
  const std::size_t step = m / 50 + 1;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < m; i += step) which.push_back(i);
  if (which.back() != m - 1) which.push_back(m - 1);
  return which;
}

/// To 1e-12 of the largest value.
inline void expect_close(const std::vector<double>& got, const std::vector<std::size_t>& which,
                         const std::vector<oracle::real>& wanted) {
  oracle::real largest = 0, worst = 0;
  for (std::size_t i = 0; i < which.size(); ++i) {
    EXPECT_GE(got[which[i]], 0.0);
    largest = std::max(largest, wanted[i]);
    worst = std::max(worst, std::fabs(got[which[i]] - wanted[i]));
  }
  EXPECT_LE(worst, 1e-12 * largest) << "relative " << worst / largest;
}

/// Axes of a grid of 5 * 7 * 11 points, which are written to the shape, too.
inline std::vector<std::vector<double>> axes_of_grid(shapes::Shape& shape) {
  std::vector<std::vector<double>> axes(3);
  const std::size_t length[] = {5, 7, 11};
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t i = 0; i < length[k]; ++i) axes[k].push_back(0.4 * static_cast<double>(i) - 1);
  }
  for (std::size_t i = 0; i < shape.m; ++i) {
    shape.points[i] = axes[0][i % 5];
    shape.points[shape.m + i] = axes[1][i / 5 % 7];
    shape.points[2 * shape.m + i] = axes[2][i / 35];
  }
  return axes;
}

}  // namespace common

#endif
