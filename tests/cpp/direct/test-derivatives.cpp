// Derivatives of Gaussian sums: the engines that compute them, against sums in long double.
#include <set>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/direct/derivatives.hpp"
#include "core/direct/direct.hpp"
#include "core/fgt/density.hpp"
#include "core/fourier/derivatives.hpp"
#include "core/fourier/layout.hpp"
#include "core/kernel/derivative.hpp"
#include "oracle.hpp"
#include "points-expect.hpp"

using namespace kestrel;
using namespace common;
using oracle::real;
using shapes::Shape;

namespace {

/// D_a1 ... D_ar phi / phi, phi(v) = exp(-v'P v / 2), by D phi = -P v phi and the product rule.
/// With signs left out: the sum of the absolute values of the terms.
real derivative_over_phi(const std::vector<real>& pv, const std::vector<real>& p, std::size_t d,
                         std::vector<std::size_t> axes, bool absolute) {
  const real sign = absolute ? 1 : -1;
  // By one variable: the recurrence of the Hermite polynomials.
  if (std::set<std::size_t>(axes.begin(), axes.end()).size() <= 1) {
    real before = 0, now = 1;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const std::size_t a = axes[0];
      const real next = sign * ((absolute ? std::fabs(pv[a]) : pv[a]) * now +
                                static_cast<real>(k) * p[a * d + a] * before);
      before = now;
      now = next;
    }
    return now;
  }
  const std::size_t a = axes.back();
  axes.pop_back();
  real sum =
      sign * (absolute ? std::fabs(pv[a]) : pv[a]) * derivative_over_phi(pv, p, d, axes, absolute);
  for (std::size_t j = 0; j < axes.size(); ++j) {
    std::vector<std::size_t> rest = axes;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(j));
    const real entry = p[axes[j] * d + a];
    sum += sign * (absolute ? std::fabs(entry) : entry) *
           derivative_over_phi(pv, p, d, rest, absolute);
  }
  return sum;
}

std::vector<std::vector<std::size_t>> sorted_tuples(std::size_t d, int order) {
  std::vector<std::vector<std::size_t>> all{{}};
  for (int r = 0; r < order; ++r) {
    std::vector<std::vector<std::size_t>> longer;
    for (const auto& tuple : all) {
      for (std::size_t k = tuple.empty() ? 0 : tuple.back(); k < d; ++k) {
        longer.push_back(tuple);
        longer.back().push_back(k);
      }
    }
    all.swap(longer);
  }
  return all;
}

/// Forward and back substitution: L^-1 v, or (L L')^-1 v.
std::vector<real> solve(const Shape& shape, std::vector<real> v, bool both) {
  const std::size_t d = shape.d;
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l < k; ++l) v[k] -= shape.root[l * d + k] * v[l];
    v[k] /= shape.root[k * d + k];
  }
  if (!both) return v;
  for (std::size_t k = d; k-- > 0;) {
    for (std::size_t l = k + 1; l < d; ++l) v[k] -= shape.root[k * d + l] * v[l];
    v[k] /= shape.root[k * d + k];
  }
  return v;
}

/// What some points should have, for each multi-index.
using Wanted = std::vector<std::vector<oracle::Sum>>;

/// sum_j w_j D^a K_H(e - x_j) for all a of an order, at the chosen points.
Wanted derivatives_of(const Shape& shape, int order) {
  const std::size_t d = shape.d;
  const auto tuples = sorted_tuples(d, order);
  const std::vector<std::size_t> which = some_of(shape.m);
  std::vector<real> p(d * d);
  real constant = std::pow(2 * oracle::pi, -static_cast<real>(d) / 2);
  for (std::size_t k = 0; k < d; ++k) {
    std::vector<real> unit(d, 0);
    unit[k] = 1;
    const std::vector<real> column = solve(shape, unit, true);
    std::copy(column.begin(), column.end(), p.begin() + static_cast<std::ptrdiff_t>(k * d));
    constant /= shape.root[k * d + k];
  }
  Wanted wanted(tuples.size(), std::vector<oracle::Sum>(which.size()));
  for (std::size_t i = 0; i < which.size(); ++i) {
    for (std::size_t j = 0; j < shape.n; ++j) {
      std::vector<real> v(d);
      for (std::size_t k = 0; k < d; ++k) {
        v[k] = static_cast<real>(shape.points[k * shape.m + which[i]]) - shape.x[k * shape.n + j];
      }
      const std::vector<real> u = solve(shape, v, false), pv = solve(shape, v, true);
      real q = 0;
      for (const real one : u) q += one * one;
      const real phi = shape.w[j] * constant * std::exp(-q / 2);
      if (phi == 0) continue;
      for (std::size_t t = 0; t < tuples.size(); ++t) {
        wanted[t][i].value += phi * derivative_over_phi(pv, p, d, tuples[t], false);
        wanted[t][i].absolute += phi * derivative_over_phi(pv, p, d, tuples[t], true);
      }
    }
  }
  return wanted;
}

std::vector<double> by_pairs(const Shape& shape, int order, const RunOptions& how) {
  std::vector<double> out(shape.m * derivative_count(shape.d, order));
  EvaluationPoints points;
  points.matrix = shape.evaluation();
  direct_derivatives(shape.samples(), shape.weights(), points, shape.bandwidth(), order, how,
                     {out.data(), out.size()});
  return out;
}

std::vector<double> by_cells(const Shape& shape, int order, const RunOptions& how) {
  std::vector<double> out(shape.m);
  fgt_density({{shape.x.data(), shape.n}, shape.weights()}, {shape.points.data(), shape.m},
              shape.root[0], how, {out.data(), shape.m}, order);
  return out;
}

/// Nothing if the engine does not suit the shape.
std::vector<double> by_transform(const Shape& shape, int order, const RunOptions& how) {
  EvaluationPoints points;
  points.matrix = shape.evaluation();
  const DataRange extent =
      measure_density(shape.samples(), shape.weights(), points, shape.bandwidth(), how);
  const DensityLayout layout = lay_derivatives(extent, 1e-12, order);
  if (layout.bytes > 2e7 || layout.rounding > 1e-12) return {};
  std::vector<double> out(shape.m * derivative_count(shape.d, order), -1.0);
  fourier_derivatives(shape.samples(), shape.weights(), points, shape.bandwidth(), extent, order,
                      1e-12, 1e9, how, {out.data(), out.size()});
  return out;
}

/// To 1e-12 of the largest sum of |terms|.
void expect_derivatives(const Shape& shape, const Wanted& wanted, const std::vector<double>& got) {
  const std::vector<std::size_t> which = some_of(shape.m);
  for (std::size_t t = 0; t < wanted.size(); ++t) {
    real largest = 0;
    for (const oracle::Sum& sum : wanted[t]) largest = std::max(largest, sum.absolute);
    for (std::size_t i = 0; i < which.size(); ++i) {
      const double value = got[t * shape.m + which[i]];
      ASSERT_LE(std::fabs(value - wanted[t][i].value), 1e-12 * largest)
          << "number " << t << ", point " << which[i] << ": " << value << ", not "
          << static_cast<double>(wanted[t][i].value);
    }
  }
}

std::vector<Shape> shapes_of_derivatives() {
  std::vector<Shape> all = shapes::data_of_every_kind();
  for (const std::size_t n : {1, 2, 7, 8, 9, 513}) {
    all.push_back(shapes::make("n" + std::to_string(n), n, 40, 1, 0.3));
  }
  all.push_back(shapes::tilted(shapes::make("d4", 60, 12, 4, 0.8)));
  all.push_back(shapes::tilted(shapes::make("d6", 40, 6, 6, 1.1)));
  all.push_back(shapes::weighted(shapes::make("weights", 300, 40, 1, 0.2),
                                 [](std::size_t i) { return i % 3 == 0 ? 0.0 : 1e-3 * i; }));
  all.push_back(shapes::make("many", 5000, 700, 1, 0.05));
  // Many sums for each point, so that blocks have few points.
  all.push_back(shapes::make("d16", 30000, 3, 16, 3));
  return all;
}

class Derivatives : public testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(Shapes, Derivatives, testing::ValuesIn(shapes_of_derivatives()), name_of);

}  // namespace

TEST_P(Derivatives, AgreeWithTheOracle) {
  const Shape& shape = GetParam();
  for (const int order : {0, 1, 2, 3, 4, 8}) {
    if (order > (shape.d == 1 ? 8 : shape.d < 4 ? 4 : 2)) continue;
    SCOPED_TRACE(order);
    const Wanted wanted = derivatives_of(shape, order);
    for (const simd::Table* table : tables()) {
      SCOPED_TRACE(table->name);
      const std::vector<double> one = by_pairs(shape, order, run_on(table, 1));
      expect_derivatives(shape, wanted, one);
      for (const int threads : thread_counts_of(table)) {
        EXPECT_TRUE(same_bits(by_pairs(shape, order, run_on(table, threads)), one));
      }
      if (shape.d > 3) continue;
      const std::vector<double> transform = by_transform(shape, order, run_on(table, 1));
      if (!transform.empty()) {
        SCOPED_TRACE("fourier");
        expect_derivatives(shape, wanted, transform);
        for (const int threads : thread_counts_of(table)) {
          EXPECT_TRUE(same_bits(by_transform(shape, order, run_on(table, threads)), transform));
        }
      }
      if (shape.d > 1) continue;
      const std::vector<double> cells = by_cells(shape, order, run_on(table, 1));
      expect_derivatives(shape, wanted, cells);
      for (const int threads : thread_counts_of(table)) {
        EXPECT_TRUE(same_bits(by_cells(shape, order, run_on(table, threads)), cells));
      }
    }
  }
}

TEST_P(Derivatives, HaveMomentsOfTheKernel) {
  const Shape& shape = GetParam();
  const Monomials all(shape.d, 2);
  EvaluationPoints points;
  points.matrix = shape.evaluation();
  std::vector<double> got(shape.m * all.size());
  direct_moments(shape.samples(), shape.weights(), points, shape.bandwidth(), 2,
                 run_on(tables()[0], 1), {got.data(), got.size()});
  const std::vector<std::size_t> which = some_of(shape.m);
  std::vector<std::vector<oracle::Sum>> wanted(all.size(), std::vector<oracle::Sum>(which.size()));
  for (std::size_t i = 0; i < which.size(); ++i) {
    for (std::size_t j = 0; j < shape.n; ++j) {
      std::vector<real> v(shape.d);
      for (std::size_t k = 0; k < shape.d; ++k) {
        v[k] = static_cast<real>(shape.points[k * shape.m + which[i]]) - shape.x[k * shape.n + j];
      }
      const std::vector<real> u = solve(shape, v, false);
      real q = 0;
      for (const real value : u) q += value * value;
      const real kernel = shape.w[j] * std::exp(-q / 2);
      for (std::size_t t = 0; t < all.size(); ++t) {
        real product = kernel;
        for (std::size_t k = 0; k < shape.d; ++k) {
          product *= oracle::integer_power(u[k], all.exponent(t)[k]);
        }
        wanted[t][i].add(product);
      }
    }
  }
  for (std::size_t t = 0; t < all.size(); ++t) {
    real largest = 0;
    for (const oracle::Sum& sum : wanted[t]) largest = std::max(largest, sum.absolute);
    for (std::size_t i = 0; i < which.size(); ++i) {
      ASSERT_LE(std::fabs(got[t * shape.m + which[i]] - wanted[t][i].value), 1e-12 * largest) << t;
    }
  }
}

TEST(DerivativeMap, ListsTheMultiIndicesOfAnOrder) {
  const std::vector<double> root{1, 0, 0, 1};
  const DerivativeMap map(2, 2, {root.data(), root.size()});
  ASSERT_EQ(map.size(), 3u);
  const std::size_t first = map.monomials().first(2);
  EXPECT_EQ(map.monomials().exponent(first), (std::vector<int>{2, 0}));
  EXPECT_EQ(map.monomials().exponent(first + 1), (std::vector<int>{1, 1}));
  EXPECT_EQ(map.monomials().exponent(first + 2), (std::vector<int>{0, 2}));
  for (int order = 0; order <= 5; ++order) {
    EXPECT_EQ(derivative_count(3, order), sorted_tuples(3, order).size());
  }
}

TEST(Derivatives, RefuseTooManyOfThem) {
  EXPECT_EQ(derivative_count(6, 8), 1287u);
  EXPECT_THROW(derivative_count(10, 8), error);
}

TEST(Derivatives, RefuseOrdersAndSizes) {
  const Shape shape = shapes::make("one", 5, 3, 1, 0.3);
  EXPECT_THROW(by_pairs(shape, -1, run_on(tables()[0], 1)), error);
  EXPECT_THROW(by_pairs(shape, 9, run_on(tables()[0], 1)), error);
  EXPECT_THROW(by_cells(shape, 9, run_on(tables()[0], 1)), error);
}
