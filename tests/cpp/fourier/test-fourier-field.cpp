// Gaussian sums and their derivatives, read off grids at any points, against sums pair by pair.
#include "common.hpp"
#include "core/direct/derivatives.hpp"
#include "core/fourier/field.hpp"
#include "core/kernel/derivative.hpp"
#include "points-expect.hpp"
#include "shapes.hpp"

using namespace kestrel;
using namespace common;
using shapes::Shape;

namespace {

constexpr double tolerance = 1e-12;

std::unique_ptr<FourierField> field_of(const Shape& shape, const RunOptions& how) {
  return FourierField::make(shape.samples(), shape.weights(), shape.evaluation(), shape.bandwidth(),
                            tolerance, 5e7, how);
}

/// The values at all points, 0 where there are none because no sample is within reach.
std::vector<double> read_all(const Shape& shape, const FourierField& field) {
  std::vector<double> out(field.values() * shape.m), at(shape.d), values(field.values());
  for (std::size_t i = 0; i < shape.m; ++i) {
    for (std::size_t k = 0; k < shape.d; ++k) at[k] = shape.points[k * shape.m + i];
    const bool read = field.read(at.data(), values.data());
    for (std::size_t t = 0; t < values.size(); ++t) out[t * shape.m + i] = read ? values[t] : 0;
  }
  return out;
}

/// By their definition: D_k f = -S_k, D_k D_l f = S_kl - S_0 [k = l], of sums S of monomials.
std::vector<double> by_pairs(const Shape& shape) {
  const Monomials all(shape.d, 2);
  EvaluationPoints points;
  points.matrix = shape.evaluation();
  std::vector<double> sums(all.size() * shape.m);
  direct_moments(shape.samples(), shape.weights(), points, shape.bandwidth(), 2,
                 run_on(tables()[0], 1), {sums.data(), sums.size()});
  for (std::size_t t = 1; t < all.size(); ++t) {
    const std::vector<int>& exponent = all.exponent(t);
    const bool square = *std::max_element(exponent.begin(), exponent.end()) == 2;
    for (std::size_t i = 0; i < shape.m; ++i) {
      double& value = sums[t * shape.m + i];
      value = all.degree(t) == 1 ? -value : value - (square ? sums[i] : 0);
    }
  }
  return sums;
}

std::vector<Shape> shapes_of_fields() {
  std::vector<Shape> all;
  for (const Shape& shape : shapes::data_of_every_kind()) {
    if (shape.d <= 3) all.push_back(shape);
  }
  for (const std::size_t n : {1, 2, 9}) {
    all.push_back(shapes::tilted(shapes::make("n" + std::to_string(n), n, 20, 2, 0.3)));
  }
  return all;
}

class Field : public testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(Shapes, Field, testing::ValuesIn(shapes_of_fields()), name_of);

}  // namespace

TEST_P(Field, HasTheDerivativesOfTheSums) {
  const Shape& shape = GetParam();
  if (field_of(shape, run_on(tables()[0], 1)) == nullptr) return;  // a grid that is too large
  const std::vector<double> wanted = by_pairs(shape);
  // f there is in the units of K_H; one factor is left open.
  const double factor = std::pow(2 * kPi, 0.5 * static_cast<double>(shape.d));
  for (const simd::Table* table : tables()) {
    SCOPED_TRACE(table->name);
    const auto field = field_of(shape, run_on(table, 1));
    const std::vector<double> got = read_all(shape, *field);
    for (std::size_t e = 0; e < got.size(); ++e) {
      ASSERT_LE(std::fabs(factor * got[e] - wanted[e]), tolerance * factor * field->largest()) << e;
      ASSERT_LE(got[e % shape.m], field->largest());
    }
    for (const int threads : thread_counts_of(table)) {
      EXPECT_TRUE(same_bits(read_all(shape, *field_of(shape, run_on(table, threads))), got));
    }
  }
}

TEST(Field, IsReadInTheBoxOfSamplesAndPointsOnly) {
  const Shape shape = shapes::make("box", 50, 10, 2, 0.3);
  const auto field = field_of(shape, run_on(tables()[0], 1));
  std::vector<double> values(field->values());
  const double sample[2] = {shape.x[0], shape.x[shape.n]}, far[2] = {1e3, 0};
  EXPECT_TRUE(field->read(sample, values.data()));
  EXPECT_FALSE(field->read(far, values.data()));
}

TEST(Field, IsNotMadeIfItsGridsAreTooLarge) {
  const Shape shape = shapes::make("narrow", 50, 10, 2, 1e-7);
  EXPECT_EQ(field_of(shape, run_on(tables()[0], 1)), nullptr);
}
