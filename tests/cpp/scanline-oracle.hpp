// Samples on grids for the tests of the scanline engine, and their densities point by point.
#ifndef KESTREL_TOOLS_SCANLINE_ORACLE_HPP
#define KESTREL_TOOLS_SCANLINE_ORACLE_HPP

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "core/scanline/scanline.hpp"
#include "oracle.hpp"
#include "shapes.hpp"

namespace scanline_oracle {

using kestrel::RegularAxis;
using oracle::real;

struct Case {
  std::string name;
  std::size_t n, d;
  std::vector<double> x, w, root;  // column-major
  std::vector<RegularAxis> axes;
  kestrel::KernelChoice choice = {kestrel::Kernel::epanechnikov, kestrel::KernelType::radial};
  std::vector<std::vector<double>> values;  // of points that are slightly moved; may be empty

  std::vector<RegularAxis> grid() const {
    std::vector<RegularAxis> all = axes;
    for (std::size_t k = 0; k < values.size(); ++k)
      all[k].values = {values[k].data(), values[k].size()};
    return all;
  }
  std::size_t points() const {
    std::size_t all = 1;
    for (const RegularAxis& axis : axes) all *= axis.count;
    return all;
  }
};

inline void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

/// The known density at every point of a grid.
struct Expected {
  std::vector<real> value;
  std::vector<bool> at_rim;  // of some sample's kernel, or of a factor of it: |q - 1| <= 1e-12
  real peak = 0;             // of the kernel of the heaviest sample
  real largest = 0;          // of the values and the peak
};

inline Expected expect(const Case& c) {
  const std::size_t d = c.d, points = c.points();
  Expected expected{std::vector<real>(points, 0), std::vector<bool>(points, false)};
  const bool product = c.choice.type == kestrel::KernelType::product;
  real constant = product ? std::pow(oracle::constant(c.choice.kernel, 1), static_cast<real>(d))
                          : oracle::constant(c.choice.kernel, d);
  for (std::size_t k = 0; k < d; ++k) constant /= c.root[k * d + k];
  for (std::size_t p = 0; p < points; ++p) {
    std::vector<real> e(d), y(d);
    std::size_t left = p;
    for (std::size_t k = 0; k < d; ++k) {
      const RegularAxis& axis = c.axes[k];
      const std::size_t i = left % axis.count;
      left /= axis.count;
      e[k] = c.values.empty() ? static_cast<real>(i) * axis.step
                              : c.values[k][i] - static_cast<real>(axis.origin);
    }
    for (std::size_t j = 0; j < c.n; ++j) {
      real q = 0, factors = 1;
      bool at_rim = false, outside = false;  // so far that it adds nothing
      for (std::size_t k = 0; k < d && !outside; ++k) {
        // Computed in this order, so that a far origin costs no digits.
        real u = e[k] + (static_cast<real>(c.axes[k].origin) - c.x[k * c.n + j]);
        for (std::size_t l = 0; l < k; ++l) u -= c.root[l * d + k] * y[l];
        y[k] = u / c.root[k * d + k];
        q += y[k] * y[k];
        factors *= oracle::profile(c.choice.kernel, std::fabs(y[k]));
        if (product && std::fabs(y[k] * y[k] - 1) <= 1e-12L) at_rim = true;
        outside = (product ? y[k] * y[k] : q) > 1.01L;
      }
      if (outside) continue;
      if (!product && std::fabs(q - 1) <= 1e-12L) at_rim = true;
      if (c.w[j] > 0 && at_rim) expected.at_rim[p] = true;
      expected.value[p] +=
          c.w[j] * constant * (product ? factors : oracle::profile(c.choice.kernel, std::sqrt(q)));
    }
    expected.largest = std::max(expected.largest, expected.value[p]);
  }
  for (const double w : c.w) expected.peak = std::max(expected.peak, w * constant);
  expected.largest = std::max(expected.largest, expected.peak);
  return expected;
}

/// Samples by draw(random, axis) in units of the grid, where 0 is its first and 1 its last point.
/// The bandwidth is h steps on every axis, with correlation rho between neighbouring axes.
inline Case make(const std::string& name, std::size_t n, const std::vector<std::size_t>& counts,
                 double h, double rho, const std::function<double(std::mt19937_64&)>& draw) {
  const std::size_t d = counts.size();
  Case c{name,
         n,
         d,
         std::vector<double>(n * d),
         std::vector<double>(n, 1.0),
         std::vector<double>(d * d, 0.0),
         {},
         {kestrel::Kernel::epanechnikov, kestrel::KernelType::radial},
         {}};
  std::mt19937_64 random(std::hash<std::string>()(name));
  for (std::size_t k = 0; k < d; ++k) {
    c.axes.push_back(
        {-3.1 + 0.7 * static_cast<double>(k), 0.1 + 0.037 * static_cast<double>(k), counts[k]});
    const RegularAxis& axis = c.axes[k];
    const double length = axis.step * static_cast<double>(std::max<std::size_t>(1, counts[k] - 1));
    for (std::size_t j = 0; j < n; ++j) c.x[k * n + j] = axis.origin + length * draw(random);
    // The Cholesky factor of the correlations rho^|k - l|.
    for (std::size_t l = 0; l <= k; ++l) {
      c.root[l * d + k] = h * axis.step * std::pow(rho, static_cast<double>(k - l)) *
                          (l == 0 ? 1.0 : std::sqrt(1 - rho * rho));
    }
  }
  return c;
}

inline double anywhere(std::mt19937_64& random) { return -0.2 + 1.4 * shapes::uniform(random); }
inline double inside(std::mt19937_64& random) { return 0.5 + 0.15 * shapes::normal(random); }

inline Case weighted(Case c, const std::string& name, const std::function<double(std::size_t)>& w) {
  c.name += "_" + name;
  for (std::size_t j = 0; j < c.n; ++j) c.w[j] = w(j);
  return c;
}

/// Points moved by up to `max` steps, or by rounding to doubles.
inline Case moved(Case c, const std::string& name, double max) {
  std::mt19937_64 random(std::hash<std::string>()(c.name + name));
  c.name += "_" + name;
  for (const RegularAxis& axis : c.axes) {
    c.values.emplace_back();
    for (std::size_t i = 0; i < axis.count; ++i) {
      const double by = max * (2 * shapes::uniform(random) - 1);
      c.values.back().push_back(axis.origin + axis.step * (static_cast<double>(i) + by));
    }
  }
  return c;
}

/// Counts for a dimension: odd numbers, a few thousand points in all.
inline std::vector<std::size_t> counts_of(std::size_t d) {
  const std::vector<std::size_t> all[] = {
      {}, {601}, {37, 53}, {19, 23, 17}, {7, 9, 11, 8}, {5, 6, 7, 4, 5}, {3, 4, 5, 3, 4, 3}};
  return all[d];
}

using AddCase = std::function<void(Case)>;

/// Weights of many kinds.
inline void add_weighted(std::size_t d, std::size_t n, const AddCase& add) {
  const Case plain = make("weights", n, counts_of(d), 3.7, 0.5, inside);
  std::mt19937_64 random(d);
  add(weighted(plain, "uniform", [&](std::size_t) { return shapes::uniform(random); }));
  add(weighted(plain, "thirds", [](std::size_t j) { return j % 2 == 0 ? 1.0 : 1.0 / 3; }));
  add(weighted(plain, "lognormal",
               [&](std::size_t) { return std::exp(3 * shapes::normal(random)); }));
  add(weighted(plain, "zero", [](std::size_t j) { return j % 3 == 0 ? 0.0 : 2.0; }));
  add(weighted(plain, "tiny", [](std::size_t j) { return 1e-305 * static_cast<double>(1 + j); }));
  add(weighted(plain, "all_zero", [](std::size_t) { return 0.0; }));
}

/// Steps and bandwidths that doubles hold exactly: points at q = 1, and samples on points.
inline void add_lattices(std::size_t d, std::size_t n, const AddCase& add) {
  std::mt19937_64 random(100 + d);
  for (const double h : {1.0, 2.0, 5.0}) {
    Case lattice =
        make("lattice" + std::to_string(static_cast<int>(h)), n, counts_of(d), h, 0, inside);
    for (std::size_t k = 0; k < d; ++k) {
      lattice.axes[k].origin = -2.5;
      lattice.axes[k].step = 0.25;
      lattice.root[k * d + k] = 0.25 * h;
      for (std::size_t j = 0; j < n; ++j) {
        lattice.x[k * n + j] = 0.25 * std::floor(shapes::uniform(random) * 20 - 8);
      }
    }
    add(lattice);
    // Whether a point is in the support then depends on how far it was moved.
    add(moved(lattice, "moved", 4e-7));
    add(moved(lattice, "moved_a_little", 1e-13));
  }
}

/// Grids that are shifted, far from the origin, or have one point along an axis.
inline void add_odd_grids(std::size_t d, std::size_t n, const AddCase& add) {
  const std::vector<std::size_t> counts = counts_of(d);
  add(moved(make("full", n, counts, 4.1, -0.7, inside), "moved", 4e-7));
  add(moved(make("narrow", n, counts, 0.2, 0.7, inside), "moved", 4e-7));
  Case offset = make("offset", n, counts, 3.0, 0.4, inside);
  for (std::size_t k = 0; k < d; ++k) {
    offset.axes[k].origin += 1e6;
    for (std::size_t j = 0; j < n; ++j) offset.x[k * n + j] += 1e6;
  }
  add(offset);
  add(moved(offset, "rounded", 0));
  for (std::size_t k = 0; k < d; ++k) {
    std::vector<std::size_t> flat = counts;
    flat[k] = 1;
    Case one_point = make("one_point_" + std::to_string(k), n, flat, 3.0, 0.4, inside);
    if (d > 1) one_point.axes[k].step = 0;
    add(one_point);
  }
}

/// As many active samples at a point as the bound allows.
inline void add_crowds(const AddCase& add) {
  std::mt19937_64 random(11);
  for (const std::vector<std::size_t>& counts :
       {std::vector<std::size_t>{41}, std::vector<std::size_t>{9, 11}}) {
    const Case crowd = make("crowd", 20000, counts, 15.0, 0.5, [](std::mt19937_64& draw) {
      return 0.5 + 0.001 * shapes::normal(draw);
    });
    add(crowd);
    add(weighted(crowd, "uniform", [&](std::size_t) { return shapes::uniform(random); }));
  }
}

inline std::vector<Case> cases_of_every_kind() {
  std::vector<Case> all;
  const auto add = [&](Case c) {
    c.name += "_d" + std::to_string(c.d);
    all.push_back(std::move(c));
  };
  for (std::size_t d = 1; d <= 6; ++d) {
    const std::vector<std::size_t> counts = counts_of(d);
    const std::size_t n = d <= 4 ? 120 : 40;
    add(make("diagonal", n, counts, 2.6, 0, anywhere));
    add(make("full", n, counts, 3.3, -0.6, inside));
    add(make("one_sample", 1, counts, 2.9, 0.4, inside));
    if (d > 4) continue;
    for (const double h : {0.05, 0.3, 0.9, 7.0, 40.0, 1000.0, 1e9}) {
      add(make("h" + std::to_string(std::lround(100 * h)), n, counts, h, 0.3, anywhere));
    }
    add(make("near_singular", n, counts, 9.0, d == 1 ? 0 : 0.99, inside));
    add(make("off_the_grid", n, counts, 2.0, 0.3,
             [](std::mt19937_64& random) { return 5 + shapes::uniform(random); }));
    add_weighted(d, n, add);
    add_lattices(d, n, add);
    add_odd_grids(d, n, add);
  }
  add_crowds(add);
  add(make("long_rows", 200, {20011}, 900.0, 0, anywhere));
  add(make("very_long_runs", 200, {20011}, 50000.0, 0, anywhere));
  add(make("narrow_on_long_rows", 200, {20011}, 0.4, 0, anywhere));
  add(make("long_rows", 60, {3, 9001}, 700.0, 0.5, anywhere));
  add(moved(make("long_rows", 60, {3, 9001}, 300.0, 0.5, anywhere), "moved", 4e-7));
  add(weighted(make("long_rows", 60, {9001, 3}, 500.0, 0.5, anywhere), "lognormal",
               [](std::size_t j) { return std::exp(static_cast<double>(j % 13) - 6); }));
  return all;
}

}  // namespace scanline_oracle

#endif
