// The direct engine over all pairs, against the oracle.
#include <set>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/direct/pairs.hpp"
#include "oracle.hpp"

using namespace kestrel;
using namespace common;
using shapes::Shape;

namespace {

constexpr double tolerance = 1e-12;   // of the sum of absolute values
constexpr double underflow = 1e-300;  // long double has terms that are zero in double

// Calls `sum(options)`, a vector, on every instruction set and number of threads.
template <class F>
void expect_everywhere(const std::vector<oracle::Sum>& wanted, F sum) {
  for (const simd::Table* table : tables()) {
    SCOPED_TRACE(table->name);
    const std::vector<double> one = sum(run_on(table, 1));
    ASSERT_EQ(one.size(), wanted.size());
    for (std::size_t t = 0; t < one.size(); ++t) {
      const oracle::real error = std::fabs(one[t] - wanted[t].value);
      EXPECT_LE(error, tolerance * wanted[t].absolute + underflow)
          << "term " << t << ": " << one[t] << ", not " << static_cast<double>(wanted[t].value);
    }
    for (const int threads : common::thread_counts()) {
      EXPECT_TRUE(same_bits(sum(run_on(table, threads)), one)) << threads << " threads";
    }
  }
}

std::vector<Shape> small_shapes() {
  std::vector<Shape> all = shapes::data_of_every_kind();
  for (const Shape& shape : shapes::sizes_of_every_kind()) {
    if (shape.n < 100) all.push_back(shape);
  }
  for (const Shape& shape : shapes::dimensions_of_every_kind()) all.push_back(shape);
  for (const Shape& shape : shapes::extremes_of_every_kind()) all.push_back(shape);
  // Sizes near that of a block.
  for (const std::size_t n : {255, 256, 257, 265}) {
    all.push_back(shapes::make("pairs" + std::to_string(n), n, 1, 1, 0.4));
  }
  return all;
}

class Pairs : public testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(Shapes, Pairs, testing::ValuesIn(small_shapes()), name_of);

}  // namespace

TEST_P(Pairs, KernelSums) {
  const Shape& shape = GetParam();
  for (const KernelChoice& choice : choices_for(shape)) {
    SCOPED_TRACE(describe(choice));
    oracle::ScaledKernel kernel(choice, shape.d, shape.root);
    const oracle::Sum wanted = oracle::over_pairs(
        shape.samples(), shape.w,
        [&](const double* a, const double* b) { return kernel(a, shape.n, b, shape.n); });
    expect_everywhere({wanted}, [&](const RunOptions& options) {
      return std::vector<double>{
          direct_pair_sum(shape.samples(), shape.weights(), choice, shape.bandwidth(), options)};
    });
  }
}

TEST_P(Pairs, Laplacians) {
  const Shape& shape = GetParam();
  const double g = shape.root[0];
  oracle::Sum wanted[6];
  for (std::size_t i = 0; i < shape.n; ++i) {
    for (std::size_t j = i + 1; j < shape.n; ++j) {
      const oracle::real weight = static_cast<oracle::real>(shape.w[i]) * shape.w[j];
      const oracle::real squared =
          oracle::squared_distance(shape.x.data() + i, shape.x.data() + j, shape.n, shape.d);
      const oracle::real density = oracle::normal_density(shape.d, g, squared);
      for (int r = 0; r < 6; ++r) {
        wanted[r].add(weight * density * oracle::laplacian_factor(r, shape.d, g, squared));
      }
    }
  }
  for (const int order : {0, 2, 4, 6, 8, 10}) {
    SCOPED_TRACE("order " + std::to_string(order));
    const oracle::Sum& sum = wanted[order / 2];
    if (sum.absolute > 1e300L) continue;  // the units x^-(d + order) leave the range of a double
    expect_everywhere({sum}, [&](const RunOptions& options) {
      return std::vector<double>{
          direct_pair_laplacian(shape.samples(), shape.weights(), g, order, options)};
    });
  }
}

TEST_P(Pairs, Moments) {
  const Shape& shape = GetParam();
  if (shape.d > 6) return;  // thousands of moments
  const double g = 1.5 * shape.root[0];
  const int order = shape.d <= 3 ? 8 : 4;
  const auto index = even_multi_indices(shape.d, order);
  std::vector<oracle::Sum> wanted(index.size());
  for (std::size_t i = 0; i < shape.n; ++i) {
    for (std::size_t j = i + 1; j < shape.n; ++j) {
      std::vector<oracle::real> u(shape.d);
      oracle::real q = 0;
      for (std::size_t k = 0; k < shape.d; ++k) {
        const double* column = shape.x.data() + k * shape.n;
        u[k] = (static_cast<oracle::real>(column[i]) - column[j]) / g;
        q += u[k] * u[k];
      }
      const oracle::real e = static_cast<oracle::real>(shape.w[i]) * shape.w[j] * std::exp(-q / 2);
      for (std::size_t t = 0; t < index.size(); ++t) {
        oracle::real term = e;
        for (std::size_t k = 0; k < shape.d; ++k) {
          for (int power = 0; power < index[t][k]; ++power) term *= u[k];
        }
        wanted[t].add(term);
      }
    }
  }
  expect_everywhere(wanted, [&](const RunOptions& options) {
    return direct_pair_moments(shape.samples(), shape.weights(), g, order, options);
  });
}

TEST(PairIndices, AreAllEvenDegreesOnce) {
  for (const std::size_t d : {1, 2, 3, 4}) {
    for (const int order : {0, 2, 4, 8}) {
      std::size_t wanted = 0;
      for (std::size_t degree = 0; degree <= static_cast<std::size_t>(order); degree += 2) {
        std::size_t choose = 1;  // (degree + d - 1) choose (d - 1)
        for (std::size_t k = 1; k < d; ++k) choose = choose * (degree + k) / k;
        wanted += choose;
      }
      const auto index = even_multi_indices(d, order);
      EXPECT_EQ(index.size(), wanted);
      EXPECT_EQ(std::set<std::vector<int>>(index.begin(), index.end()).size(), wanted);
    }
  }
}

TEST(PairErrors, OrdersPilotsAndWeightsThatDoNotFit) {
  const Shape shape = shapes::make("good", 10, 1, 2, 0.5);
  const RunOptions options = run_on(simd::baseline_table(), 1);
  for (const int order : {-2, 1, 3, 12}) {
    EXPECT_THROW(direct_pair_laplacian(shape.samples(), shape.weights(), 0.5, order, options),
                 error);
    EXPECT_THROW(direct_pair_moments(shape.samples(), shape.weights(), 0.5, order, options), error);
  }
  for (const double g : {0.0, -1.0, std::nan("")}) {
    EXPECT_THROW(direct_pair_laplacian(shape.samples(), shape.weights(), g, 4, options), error);
    EXPECT_THROW(direct_pair_moments(shape.samples(), shape.weights(), g, 4, options), error);
  }
  EXPECT_THROW(
      direct_pair_sum(shape.samples(), {shape.w.data(), 9}, {}, shape.bandwidth(), options), error);
}

TEST(PairThreads, GiveTheSameBitsAndAreUsed) {
  for (const Shape& shape : shapes::work_for_three_threads()) {
    if (shape.n > 3000) continue;
    const auto run = [&](int threads) {
      return std::vector<double>{direct_pair_sum(shape.samples(), shape.weights(), {},
                                                 shape.bandwidth(),
                                                 run_on(simd::find_table("auto"), threads))};
    };
    const std::vector<double> one = run(1);
    for (const int threads : common::thread_counts()) {
      EXPECT_TRUE(same_bits(run(threads), one)) << shape.name;
      EXPECT_EQ(threads_last_used(), threads) << shape.name;
    }
  }
}
