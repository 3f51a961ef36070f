#include "core/sketch/circular_grid.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

using Long = long double;
using Position = std::array<Long, 3>;  // of each variable, in cells

constexpr Long kTurn = 2 * static_cast<Long>(kPi);

/// Where positions of a variable are relative to, in cells, and its period, 0 if there is none.
struct Circle {
  double period = 0;
  Long middle = 0;

  /// A position moved by whole periods to half of one from the middle, or less. The remainder of
  /// the position alone is exact.
  Long moved(Long g) const {
    if (period == 0) return g - middle;
    return std::remainder(std::remainder(g, static_cast<Long>(period)) - middle,
                          static_cast<Long>(period));
  }
};

/// A sketch, and what a sample with weight one adds to all cells, over all axes.
struct SpreadRows {
  const GridSketch& sketch;
  const std::vector<double> kept = kept_rows(sketch);
  const FourierWindow window{GridSketch::kTaps};
  const double along_axis = window.transform(0);
  const double over_all = std::pow(along_axis, static_cast<double>(sketch.d()));

  explicit SpreadRows(const GridSketch& of) : sketch(of) {}
};

/// Calls add(position, weight) for the samples that are kept.
template <class Add>
void each_kept(const SpreadRows& spread, const std::vector<Circle>& circles, const Add& add) {
  const GridSketch& sketch = spread.sketch;
  const std::size_t d = sketch.d();
  for (std::size_t begin = 0; begin < spread.kept.size(); begin += sketch.width_of_row()) {
    const double* row = spread.kept.data() + begin;
    Position at{};
    for (std::size_t k = 0; k < d; ++k) {
      at[k] = circles[k].moved(std::ldexp(row[k], -sketch.plan().exponent[k]));
    }
    add(at, sketch.plan().weighted() ? sketch.in_units(row[d]) : 1.0);
  }
}

/// Calls add(position, weight) for the cells that are not zero.
template <class Add>
void each_cell(const SpreadRows& spread, const std::vector<Circle>& circles, const Add& add) {
  const std::size_t d = spread.sketch.d();
  for (const GridSketch::Tile* tile : spread.sketch.tiles()) {
    if (tile->low.empty()) continue;
    std::array<std::vector<Long>, 3> along;  // by axis
    for (std::size_t a = 0; a < 3; ++a) {
      along[a].resize(std::size_t{1} << GridSketch::tile_bits(a, d));
      if (a < 3 - d) continue;
      for (std::size_t i = 0; i < along[a].size(); ++i) {
        const Long corner = static_cast<Long>(tile->key[a]) * static_cast<Long>(along[a].size());
        along[a][i] = circles[a + d - 3].moved(corner + static_cast<Long>(i));
      }
    }
    std::size_t c = 0;
    for (const Long first : along[0]) {
      for (const Long second : along[1]) {
        for (const Long third : along[2]) {
          const double value = tile->cell(c++);
          if (value == 0) continue;
          const Long of_axis[] = {first, second, third};
          Position at{};
          for (std::size_t k = 0; k < d; ++k) at[k] = of_axis[k + 3 - d];
          add(at, value / spread.over_all);
        }
      }
    }
  }
}

/// The angle of the sum of exp(i 2 pi g / period) over the samples, as a position. Spreading only
/// multiplies the sum over cells, by a positive number.
Long direction_of(const SpreadRows& spread, std::size_t k, double period) {
  std::vector<Circle> circles(spread.sketch.d());
  circles[k].period = period;
  std::complex<Long> of_kept, of_cells;
  const auto to = [&](std::complex<Long>* sum) {
    return
        [=](const Position& at, double v) { *sum += std::polar<Long>(v, kTurn * at[k] / period); };
  };
  each_kept(spread, circles, to(&of_kept));
  each_cell(spread, circles, to(&of_cells));
  const Long damped = spread.window.transform(1 / period) / spread.along_axis;
  return period * std::arg(of_kept + of_cells / damped) / kTurn;
}

/// Of weights, positions and their products.
struct PowersOnCircle {
  Long weight = 0;
  Position first{};
  std::array<Position, 3> second{};

  void add(const Position& at, const Position& square, Long v) {
    weight += v;
    for (std::size_t k = 0; k < 3; ++k) {
      first[k] += v * at[k];
      second[k][k] += v * square[k];
      for (std::size_t l = k + 1; l < 3; ++l) second[k][l] += v * at[k] * at[l];
    }
  }
};

/// Cells count as wide, with the same density in all of their width. Of one at an end of the period
/// a share is at the other end.
PowersOnCircle powers_of(const SpreadRows& spread, const std::vector<Circle>& circles) {
  const Long of_window = spread.window.variance(), widened = of_window + 1.0L / 12;
  PowersOnCircle powers;
  each_kept(spread, circles, [&](const Position& at, double v) {
    powers.add(at, {at[0] * at[0], at[1] * at[1], at[2] * at[2]}, v);
  });
  each_cell(spread, circles, [&](const Position& at, double v) {
    Position mean = at, square{};
    for (std::size_t k = 0; k < circles.size(); ++k) {
      // Widening adds half of a variance times the second derivative of g^2, which is 2.
      square[k] = at[k] * at[k] - of_window;
      const double period = circles[k].period;
      const Long share = std::fabs(at[k]) + 0.5L - 0.5L * period;
      if (period == 0 || share <= 0) continue;
      mean[k] -= std::copysign(period * share, at[k]);
      // At an end the slope of g^2 falls by twice the period, and widening adds that much less.
      square[k] += period * (widened - share * share);
    }
    powers.add(mean, square, v);
  });
  return powers;
}

}  // namespace

SampleCovariance circular_moments(const GridSketch& sketch, Span<const double> period) {
  const std::size_t d = sketch.d();
  const SpreadRows spread(sketch);
  SampleCovariance found = sketch.moments();
  std::vector<Circle> circles(d);
  for (std::size_t k = 0; k < d; ++k) {
    const int exponent = sketch.plan().exponent[k];
    if (period[k] == 0) {
      circles[k].middle = std::floor(std::ldexp(found.mean.first[k], -exponent));
      continue;
    }
    const double cells = std::ldexp(period[k], -exponent);
    if (!(cells >= GridSketch::kTaps)) {
      throw error(ErrorKind::unfit,
                  "a period has fewer than " + std::to_string(GridSketch::kTaps) + " of them");
    }
    circles[k] = {cells, direction_of(spread, k, cells)};
  }
  const PowersOnCircle sums = powers_of(spread, circles);
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = k; l < d; ++l) {
      // The others are known better.
      if (period[k] == 0 && period[l] == 0) continue;
      const Long product = sums.first[k] / sums.weight * (sums.first[l] / sums.weight);
      const double value = static_cast<double>(sums.second[k][l] / sums.weight - product);
      found.covariance[k * d + l] = found.covariance[l * d + k] =
          std::ldexp(k == l ? std::max(value, 0.0) : value,
                     sketch.plan().exponent[k] + sketch.plan().exponent[l]);
    }
    if (period[k] == 0) continue;
    found.mean.first[k] = 0;
    found.mean.second[k] =
        static_cast<double>(std::ldexp(sums.first[k] / sums.weight, sketch.plan().exponent[k]));
  }
  return found;
}

}  // namespace kestrel
