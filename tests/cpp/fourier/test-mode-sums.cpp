// Values on grids as sums over modes: beside the same sums one by one, and beside sums over pairs.
#include <algorithm>
#include <cmath>
#include <complex>
#include <random>

#include "common.hpp"
#include "core/direct/derivatives.hpp"
#include "core/fourier/derivatives.hpp"
#include "core/fourier/mode_sums.hpp"
#include "core/kernel/derivative.hpp"
#include "shapes.hpp"

using namespace kestrel;

namespace {

using real = long double;

Span<const double> view(const std::vector<double>& values) {
  return {values.data(), values.size()};
}

/// Modes of a box, drawn, and the points of a grid.
struct Drawing {
  FourierGeometry geometry;
  std::vector<double> modes;
  std::vector<std::vector<double>> axis;

  Drawing(std::size_t d, const std::array<std::size_t, 3>& max,
          const std::array<std::size_t, 3>& points) {
    geometry.d = d;
    geometry.taps = 12;
    geometry.scale = {1, 2, 0.5};
    geometry.box = {{1, 1, 1}, {0, 0, 0}};
    std::mt19937_64 random(d);
    for (std::size_t k = 0; k < d; ++k) {
      const std::size_t a = geometry.axis(k);
      geometry.box.max[a] = max[a];
      geometry.box.cells[a] = 3 * max[a] + 2 + max[a] % 2;
      geometry.period[a] = 7 + static_cast<double>(a);
      geometry.origin[a] = -2;
      axis.emplace_back();
      for (std::size_t i = 0; i < points[k]; ++i) {
        axis.back().push_back((shapes::uniform(random) * 6 - 1.5) / geometry.scale[k]);
      }
    }
    modes.resize(geometry.box.size());
    for (double& v : modes) v = shapes::normal(random);
  }
  std::vector<double> sums(int order, double limit, double bytes, const RunOptions& how) const {
    std::array<AxisWaves, 3> waves;
    std::size_t size = derivative_count(geometry.d, order);
    for (std::size_t k = 0; k < geometry.d; ++k) {
      waves[k] = derivatives_of_waves(geometry, k, view(axis[k]), {-1.4, 4.4}, order);
      size *= axis[k].size();
    }
    std::vector<double> out(size, -1.0);
    sum_over_modes(geometry.box, geometry.d, factors(), limit, modes.data(), waves, order, bytes,
                   how, {out.data(), out.size()});
    return out;
  }
  ModeFactors factors() const {
    return ModeFactors(geometry, FourierWindow(geometry.taps), {1, .3, 0, .3, 1, .2, 0, .2, 1}, 1);
  }
};

/// The sum of all modes for one point, with a factor (i t)^a, and of their absolute values.
std::pair<real, real> sum_at(const Drawing& drawn, const std::vector<double>& point,
                             const std::vector<int>& exponent) {
  const FourierGeometry& geometry = drawn.geometry;
  const TransformBox& box = geometry.box;
  const ModeFactors factors = drawn.factors();
  std::vector<double> factor(box.max[2] + 1 + kRowPadding);
  real sum = 0, absolute = 0;
  const auto of = [](std::size_t max) { return static_cast<std::ptrdiff_t>(max); };
  for (std::ptrdiff_t k0 = -of(box.max[0]); k0 <= of(box.max[0]); ++k0) {
    for (std::ptrdiff_t k1 = -of(box.max[1]); k1 <= of(box.max[1]); ++k1) {
      factors.fill(k0, k1, 0, box.max[2] + 1, factor.data());
      const double* row =
          drawn.modes.data() + box.row(box.cell_of_mode(0, k0), box.cell_of_mode(1, k1));
      for (std::ptrdiff_t k2 = 0; k2 <= of(box.max[2]); ++k2) {
        std::complex<real> value(row[2 * k2], row[2 * k2 + 1]);
        value *= (k2 > 0 ? 2 : 1) * static_cast<real>(factor[static_cast<std::size_t>(k2)]);
        const std::ptrdiff_t mode[] = {k0, k1, k2};
        for (std::size_t k = 0; k < geometry.d; ++k) {
          const std::size_t a = geometry.axis(k);
          const real t = 2 * std::acos(real(-1)) * static_cast<real>(mode[a]) / geometry.period[a];
          const real z = static_cast<real>(point[k]) * geometry.scale[k] - geometry.origin[a];
          value *= std::polar(real(1), t * z);
          for (int r = 0; r < exponent[k]; ++r) {
            value *= std::complex<real>(0, t * geometry.scale[k]);
          }
        }
        sum += value.real();
        absolute += std::abs(value);
      }
    }
  }
  return {sum, absolute};
}

struct WantedSum {
  std::size_t at;  // in the output
  real sum, absolute;
};

/// At every eleventh point.
std::vector<WantedSum> wanted_sums(const Drawing& drawn, int order) {
  const std::size_t d = drawn.geometry.d;
  const Monomials monomials(d, order);
  std::size_t m = 1;
  for (const std::vector<double>& axis : drawn.axis) m *= axis.size();
  std::vector<WantedSum> wanted;
  for (std::size_t t = 0; t < derivative_count(d, order); ++t) {
    for (std::size_t i = t % 11; i < m; i += 11) {
      std::vector<double> point;
      bool readable = true;
      for (std::size_t k = 0, rest = i; k < d; rest /= drawn.axis[k++].size()) {
        point.push_back(drawn.axis[k][rest % drawn.axis[k].size()]);
        const double z = point.back() * drawn.geometry.scale[k];
        readable = readable && z >= -1.4 && z <= 4.4;
      }
      const auto [sum, absolute] =
          sum_at(drawn, point, monomials.exponent(monomials.first(order) + t));
      wanted.push_back({t * m + i, readable ? sum : 0, absolute});
    }
  }
  return wanted;
}

}  // namespace

TEST(ModeSums, AreThoseOfAllModes) {
  struct Case {
    std::size_t d;
    std::array<std::size_t, 3> max, points;
  };
  // Numbers of modes and of points beside those of a block.
  for (const Case& c : {Case{2, {0, 1, 1}, {1, 1, 0}}, Case{2, {0, 7, 11}, {25, 3, 0}},
                        Case{2, {0, 40, 12}, {24, 9, 0}}, Case{3, {3, 5, 11}, {26, 2, 5}},
                        Case{3, {4, 1, 13}, {1, 5, 4}}, Case{3, {1, 4, 6}, {49, 1, 3}}}) {
    const Drawing drawn(c.d, c.max, c.points);
    for (const int order : {0, 1, 2, 5}) {
      const std::vector<WantedSum> wanted = wanted_sums(drawn, order);
      for (const simd::Table* table : common::tables()) {
        const std::vector<double> all =
            drawn.sums(order, std::numeric_limits<double>::infinity(), 1e9, common::run_on(table));
        for (const WantedSum& one : wanted) {
          ASSERT_LE(std::fabs(all[one.at] - one.sum), 4e-15 * one.absolute) << order << one.at;
        }
        RunOptions three = common::run_on(table);
        three.parallel.threads = 3;
        EXPECT_TRUE(common::same_bits(
            drawn.sums(order, std::numeric_limits<double>::infinity(), 0, three), all));
      }
    }
  }
}

TEST(ModeSums, LeaveOutModesBeyondALimit) {
  const Drawing drawn(3, {30, 28, 33}, {9, 8, 7});
  const std::vector<double> all = drawn.sums(1, 1e9, 1e9, common::run_on(simd::baseline_table())),
                            most = drawn.sums(1, 90, 1e9, common::run_on(simd::baseline_table())),
                            few = drawn.sums(1, 5, 1e9, common::run_on(simd::baseline_table()));
  const double largest = std::fabs(*std::max_element(
      all.begin(), all.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b); }));
  double of_most = 0, of_few = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    of_most = std::max(of_most, std::fabs(most[i] - all[i]));
    of_few = std::max(of_few, std::fabs(few[i] - all[i]));
  }
  EXPECT_LE(of_most, 1e-14 * largest);
  EXPECT_GE(of_few, 1e-4 * largest);
}

TEST(ModeSums, MakeGridsOfDerivatives) {
  for (const std::size_t d : {2, 3}) {
    for (const bool tilted : {false, true}) {
      shapes::Shape shape = shapes::make("normal", 200, 1, d, 0.3);
      if (tilted) shape = shapes::tilted(shape);
      std::vector<std::vector<double>> axis(d);
      EvaluationPoints points;
      for (std::size_t k = 0; k < d; ++k) {
        for (int i = 0; i < (d == 2 ? 31 : 9) + static_cast<int>(k); ++i) {
          axis[k].push_back(-2 + 0.13 * i);
        }
      }
      for (const std::vector<double>& values : axis) points.axes.push_back(view(values));
      const RunOptions how = common::run_on(common::tables().back());
      const DataRange extent =
          measure_density(shape.samples(), shape.weights(), points, shape.bandwidth(), how);
      for (const int order : {0, 1, 4, 8}) {
        EXPECT_TRUE(lay_derivatives(extent, 1e-12, order).by_modes) << d << order;
        std::vector<double> got(points.size() * derivative_count(d, order)), wanted(got);
        fourier_derivatives(shape.samples(), shape.weights(), points, shape.bandwidth(), extent,
                            order, 1e-12, 1e9, how, {got.data(), got.size()});
        direct_derivatives(shape.samples(), shape.weights(), points, shape.bandwidth(), order, how,
                           {wanted.data(), wanted.size()});
        double largest = 0, off = 0;
        for (std::size_t i = 0; i < got.size(); ++i) {
          largest = std::max(largest, std::fabs(wanted[i]));
          off = std::max(off, std::fabs(got[i] - wanted[i]));
        }
        EXPECT_LE(off, 1e-12 * largest) << d << ", order " << order << ", tilted " << tilted;
      }
    }
  }
}
