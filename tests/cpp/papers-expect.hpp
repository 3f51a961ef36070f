// Helpers for the tests of the papers' programs.
#ifndef KESTREL_TOOLS_PAPERS_EXPECT_HPP
#define KESTREL_TOOLS_PAPERS_EXPECT_HPP

#include <cmath>
#include <string>
#include <vector>

#include "common.hpp"
#include "core/base/run_options.hpp"

namespace papers {

inline kestrel::RunOptions exactly() {
  kestrel::RunOptions options;
  options.table = common::tables().front();
  options.parallel.threads = 1;
  return options;
}

inline void expect_near(double value, double exact, double tolerance) {
  EXPECT_NEAR(value, exact, tolerance * std::fabs(exact));
}

// A shape whose bandwidth L L' has correlations; L is lower triangular, column-major.
inline shapes::Shape correlated(std::size_t n, std::size_t d) {
  shapes::Shape shape = shapes::make("papers" + std::to_string(d), n, 1, d, 0.9);
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l < k; ++l) shape.root[l * d + k] = 0.3 / static_cast<double>(k - l);
  }
  return shape;
}
// (L L')^-1 = L^-T L^-1.
inline std::vector<double> inverse_of(const shapes::Shape& shape) {
  const std::size_t d = shape.d;
  std::vector<double> solved(d * d), inverse(d * d);  // column c: L^-1 times the unit vector c
  for (std::size_t c = 0; c < d; ++c) {
    for (std::size_t k = 0; k < d; ++k) {
      double value = k == c;
      for (std::size_t l = 0; l < k; ++l) value -= shape.root[l * d + k] * solved[c * d + l];
      solved[c * d + k] = value / shape.root[k * d + k];
    }
  }
  for (std::size_t a = 0; a < d; ++a) {
    for (std::size_t b = 0; b < d; ++b) {
      for (std::size_t k = 0; k < d; ++k) {
        inverse[a * d + b] += solved[a * d + k] * solved[b * d + k];
      }
    }
  }
  return inverse;
}
inline double determinant_of(const shapes::Shape& shape) {
  double product = 1;
  for (std::size_t k = 0; k < shape.d; ++k) product *= shape.root[k * shape.d + k];
  return product * product;
}

}  // namespace papers

#endif
