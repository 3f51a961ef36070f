// Awkward data for engines that cut, pad, whiten and vectorise.
#ifndef KESTREL_TOOLS_SHAPES_HPP
#define KESTREL_TOOLS_SHAPES_HPP

#include <cmath>
#include <cstddef>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/base/span.hpp"

namespace shapes {

using kestrel::MatrixView;
using kestrel::Span;

struct Shape {
  std::string name;
  std::size_t n, m, d;
  std::vector<double> x, w, points, root;  // column-major; root: lower Cholesky factor of H
  bool diagonal = true;

  MatrixView samples() const { return {x.data(), n, d}; }
  MatrixView evaluation() const { return {points.data(), m, d}; }
  Span<const double> weights() const { return {w.data(), n}; }
  Span<const double> bandwidth() const { return {root.data(), root.size()}; }
};

using Draw = std::function<double(std::mt19937_64&)>;

inline double normal(std::mt19937_64& random) { return std::normal_distribution<double>()(random); }
inline double uniform(std::mt19937_64& random) {
  return std::uniform_real_distribution<double>()(random);
}

/// Independent draws; a third of the points are samples, a third lie near one, a third anywhere.
inline Shape make(const std::string& name, std::size_t n, std::size_t m, std::size_t d, double h,
                  const Draw& draw = normal) {
  std::mt19937_64 random(std::hash<std::string>()(name));
  Shape shape{name,
              n,
              m,
              d,
              {},
              std::vector<double>(n, 1.0),
              std::vector<double>(m * d),
              std::vector<double>(d * d, 0.0)};
  for (std::size_t i = 0; i < n * d; ++i) shape.x.push_back(draw(random));
  for (std::size_t i = 0; i < m; ++i) {
    const std::size_t near = random() % n;
    for (std::size_t k = 0; k < d; ++k) {
      const double sample = shape.x[k * n + near];
      shape.points[k * m + i] = i % 3 == 0   ? sample
                                : i % 3 == 1 ? sample + 0.3 * h * normal(random)
                                             : draw(random);
    }
  }
  for (std::size_t k = 0; k < d; ++k) shape.root[k * d + k] = h;
  return shape;
}

/// Fills the lower triangle: a correlated bandwidth with different scales in different directions.
inline Shape tilted(Shape shape) {
  shape.diagonal = false;
  const double h = shape.root[0];
  for (std::size_t k = 0; k < shape.d; ++k) {
    const double own = h * (0.6 + 0.8 * static_cast<double>((7 * k) % 5) / 4);
    for (std::size_t l = 0; l < k; ++l) {
      const double sign = (k + l) % 2 == 0 ? 1.0 : -1.0;
      shape.root[l * shape.d + k] = sign * 0.5 * h / std::sqrt(static_cast<double>(k));
    }
    shape.root[k * shape.d + k] = own;
  }
  return shape;
}

inline Shape weighted(Shape shape, const std::function<double(std::size_t)>& weight) {
  for (std::size_t i = 0; i < shape.n; ++i) shape.w[i] = weight(i);
  return shape;
}

/// Samples and points on a lattice with this gap, which is also the bandwidth, so that many pairs
/// lie exactly on the edge of a compact kernel.
inline Shape lattice(const std::string& name, std::size_t d, double gap) {
  const std::size_t m = 41;
  Shape shape = make(name, d == 1 ? 90 : 130, m, d, gap, [gap](std::mt19937_64& random) {
    return gap * static_cast<double>(random() % 12);
  });
  std::mt19937_64 random(7);
  for (double& v : shape.points) v = gap * static_cast<double>(random() % 14);
  return shape;
}

inline std::vector<Shape> data_of_every_kind() {
  std::vector<Shape> all;
  const Draw clusters = [](std::mt19937_64& random) {
    return 1000.0 * static_cast<double>(random() % 4) + 1e-4 * normal(random);
  };
  const Draw heavy = [](std::mt19937_64& random) {
    return std::tan(3.141592653589793 * (uniform(random) - 0.5));
  };
  const Draw outliers = [](std::mt19937_64& random) {
    return normal(random) * (random() % 50 == 0 ? 1e6 : 1.0);
  };
  const Draw ties = [](std::mt19937_64& random) { return std::round(normal(random)); };
  const Draw offset = [](std::mt19937_64& random) { return 1e9 + normal(random); };
  const Draw constant = [](std::mt19937_64&) { return 3.25; };
  for (const std::size_t d : {1, 2, 3}) {
    const std::string in = "_d" + std::to_string(d);
    all.push_back(make("ties" + in, 110, 45, d, 0.4, ties));
    all.push_back(make("all_equal" + in, 40, 9, d, 0.5, constant));
    all.push_back(make("outliers" + in, 110, 45, d, 0.5, outliers));
    all.push_back(tilted(make("offset" + in, 110, 45, d, 0.3, offset)));
    all.push_back(make("clusters" + in, 110, 45, d, 1e-4, clusters));
    all.push_back(make("clusters_wide" + in, 110, 45, d, 900, clusters));
    all.push_back(tilted(make("heavy" + in, 110, 45, d, 0.6, heavy)));
    all.push_back(make("tiny_h" + in, 100, 30, d, 1e-7));
    all.push_back(make("huge_h" + in, 100, 30, d, 1e7));
    all.push_back(lattice("lattice_half" + in, d, 0.25));
    all.push_back(weighted(make("zero_weights" + in, 110, 45, d, 0.5),
                           [](std::size_t i) { return i % 3 == 0 ? 0.0 : 1.0 + 0.1 * (i % 7); }));
    all.push_back(weighted(make("wild_weights" + in, 110, 45, d, 0.5), [](std::size_t i) {
      return std::pow(10.0, static_cast<double>(i % 13) - 6);
    }));
  }
  all.push_back(lattice("lattice_tenth_d1", 1, 0.1));
  return all;
}

/// Coordinates of all magnitudes, some of them ties. For engines that take points anywhere, and any
/// pairs.
inline std::vector<Shape> extremes_of_every_kind() {
  std::vector<Shape> all;
  const Draw extremes = [](std::mt19937_64& random) {
    const double far = std::pow(10.0, 15 + 290 * uniform(random));
    return random() % 2 == 0 ? normal(random) : random() % 2 == 0 ? far : -far;
  };
  for (const std::size_t d : {1, 2, 3}) {
    const std::string in = "_d" + std::to_string(d);
    all.push_back(make("extremes" + in, 110, 45, d, 0.5, extremes));
    all.push_back(tilted(make("extremes_tilted" + in, 110, 45, d, 0.5, extremes)));
    all.push_back(make("extremes_wide" + in, 110, 45, d, 1e20, extremes));
  }
  return all;
}

/// Sizes near those of one vector, one group of points, one block of points and one tile of
/// samples.
inline std::vector<Shape> sizes_of_every_kind() {
  std::vector<Shape> all;
  for (const std::size_t n : {1, 2, 3, 7, 8, 9, 15, 16, 17, 511, 512, 513}) {
    all.push_back(make("n" + std::to_string(n) + "_d1", n, 13, 1, 0.4));
  }
  for (const std::size_t m : {1, 7, 8, 9, 255, 256, 257}) {
    all.push_back(tilted(make("m" + std::to_string(m) + "_d2", 30, m, 2, 0.5)));
  }
  for (const std::size_t n : {1, 2, 9, 31}) {
    all.push_back(tilted(make("n" + std::to_string(n) + "_d3", n, 10, 3, 0.7)));
  }
  return all;
}

inline std::vector<Shape> dimensions_of_every_kind() {
  std::vector<Shape> all;
  for (const std::size_t d : {4, 5, 6, 16, 62}) {
    const std::string in = "_d" + std::to_string(d);
    const double h = 0.8 * std::sqrt(static_cast<double>(d));
    all.push_back(make("diagonal" + in, 90, 20, d, h));
    all.push_back(tilted(make("full" + in, 90, 20, d, h)));
    all.push_back(make("narrow" + in, 40, 12, d, 1e-3));
  }
  return all;
}

/// Enough work for every thread: several blocks of points and, in the first, several chunks of
/// samples.
inline std::vector<Shape> work_for_three_threads() {
  return {make("long_d1", 13001, 770, 1, 0.2), tilted(make("long_d2", 2000, 1025, 2, 0.3)),
          tilted(make("long_d6", 700, 770, 6, 1.5))};
}

}  // namespace shapes

#endif
