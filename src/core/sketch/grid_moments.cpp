// The weights, mean and covariance of a sketch on a grid.
#include <algorithm>
#include <cmath>

#include "core/base/two_part.hpp"
#include "core/sketch/grid_sketch.hpp"
#include "simd/sketch/whole_moments.hpp"

namespace kestrel {

WeightSums GridSketch::weight_sums() const {
  const double n = static_cast<double>(n_);
  if (!plan_.weighted()) return {n, n, n_ > 0 ? 1.0 : 0.0, 1.0, static_cast<std::size_t>(n_)};
  TwoPart sum, squares;
  for (const Tile* tile : tiles()) {
    if (!tile->full) continue;
    sum = sum + TwoPart{tile->moments[0].value() / simd::kQuanta, 0};
    squares = squares + TwoPart{tile->moments[1].value() / simd::kQuanta, 0};
  }
  const std::vector<double> kept = kept_rows(*this);
  for (std::size_t at = d(); at < kept.size(); at += width_of_row()) {
    const TwoPart v{in_units(kept[at]), 0};
    sum = sum + v;
    squares = squares + v * v;
  }
  const double unit = std::ldexp(1.0, plan_.weight_exponent);
  return {sum.value() * unit, squares.value() * unit * unit, weight_range_.max, weight_range_.min,
          static_cast<std::size_t>(n_)};
}

namespace {

/// Sums of the positions, in cells, and of their products, about a cell.
struct GridPowers {
  TwoPart weight, first[3], second[3][3];
};

void add_whole_tile(const GridSketch& sketch, const GridSketch::Tile& tile, const double* origin,
                    GridPowers* sums) {
  const std::size_t d = sketch.d();
  const auto moment = [&](std::size_t m) { return tile.moments[m].value() / simd::kQuanta; };
  const TwoPart weight{moment(0), 0};
  TwoPart centre[3];
  double side[3], one[3];
  for (std::size_t k = 0; k < d; ++k) {
    const std::size_t axis = k + 3 - d;
    side[k] = static_cast<double>(std::size_t{1} << GridSketch::tile_bits(axis, d));
    centre[k] = exact_difference(sketch.middle(tile.key, axis), origin[k]);
    one[k] = side[k] * moment(2 + k);
    sums->first[k] = sums->first[k] + centre[k] * weight + TwoPart{one[k], 0};
  }
  std::size_t at = 2 + d;
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = k; l < d; ++l, ++at) {
      sums->second[k][l] = sums->second[k][l] + centre[k] * centre[l] * weight +
                           centre[k] * one[l] + centre[l] * one[k] +
                           TwoPart{side[k] * side[l] * moment(at), 0};
    }
  }
  sums->weight = sums->weight + weight;
}

}  // namespace

SampleCovariance GridSketch::moments() const {
  const std::size_t n = d(), width = width_of_row();
  const std::vector<const Tile*> all = tiles();
  // In one order, whatever that of the parts was.
  const std::vector<double> kept = kept_rows(*this);
  const auto sums_about = [&](const double* origin) {
    GridPowers sums;
    for (const Tile* tile : all) {
      if (tile->full) add_whole_tile(*this, *tile, origin, &sums);
    }
    for (std::size_t begin = 0; begin < kept.size(); begin += width) {
      const double* row = kept.data() + begin;
      const TwoPart v{plan_.weighted() ? in_units(row[n]) : 1.0, 0};
      TwoPart at[3];
      sums.weight = sums.weight + v;
      for (std::size_t k = 0; k < n; ++k) {
        at[k] = exact_difference(row[k] * scale_[k], origin[k]);
        sums.first[k] = sums.first[k] + at[k] * v;
      }
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t l = k; l < n; ++l) {
          sums.second[k][l] = sums.second[k][l] + at[k] * at[l] * v;
        }
      }
    }
    return sums;
  };
  double origin[3] = {};
  const GridPowers about_zero = sums_about(origin);
  for (std::size_t k = 0; k < n; ++k) {
    origin[k] = std::floor((about_zero.first[k] / about_zero.weight).value());
  }
  const GridPowers sums = sums_about(origin);
  TwoPart away[3];
  SampleCovariance found;
  found.covariance.resize(n * n);
  for (std::size_t k = 0; k < n; ++k) {
    away[k] = sums.first[k] / sums.weight;
    const TwoPart mean = TwoPart{origin[k], 0} + away[k];
    found.mean.first.push_back(mean.high / scale_[k]);
    found.mean.second.push_back(mean.low / scale_[k]);
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t l = k; l < n; ++l) {
      double value = (sums.second[k][l] / sums.weight - away[k] * away[l]).value();
      if (k == l) value = std::max(0.0, value);
      found.covariance[k * n + l] = found.covariance[l * n + k] = value / scale_[k] / scale_[l];
    }
  }
  return found;
}

}  // namespace kestrel
