// The papers' programs in bench/papers for sums over pairs against the package's exact engines:
// reference programs must be right before they are timed.
#include <numeric>

#include "core/direct/direct.hpp"
#include "core/direct/lscv.hpp"
#include "core/direct/pairs.hpp"
#include "core/regression/regression.hpp"
#include "papers-expect.hpp"
#include "papers/andrzejewski-simd.hpp"
#include "papers/andrzejewski.hpp"
#include "papers/michailidis-margaritis.hpp"
#include "papers/rohlfs-zahran.hpp"

using namespace kestrel;
using namespace papers;
using shapes::Shape;

namespace {

// Tolerances for a program's relative errors, by its precision. Float: for sums of a few thousand
// terms of one sign, or for two sums of opposite sign that nearly cancel.
template <class Real>
constexpr double tolerance = 1e-12;
template <>
constexpr double tolerance<float> = 2e-5;

template <class Real>
std::vector<Real> copy_of(const std::vector<double>& x) {
  return std::vector<Real>(x.begin(), x.end());
}
// One sample after the other.
template <class Real>
std::vector<Real> transposed(const Shape& shape) {
  std::vector<Real> rows;
  for (std::size_t i = 0; i < shape.n; ++i) {
    for (std::size_t k = 0; k < shape.d; ++k) {
      rows.push_back(static_cast<Real>(shape.x[k * shape.n + i]));
    }
  }
  return rows;
}

// ---- Michailidis & Margaritis
template <class Real>
void check_serial(const Shape& shape) {
  std::vector<double> exact(shape.n);
  direct_density(shape.samples(), shape.weights(), {shape.samples(), {}}, {}, shape.bandwidth(),
                 exactly(), {exact.data(), exact.size()});
  const std::vector<Real> x = transposed<Real>(shape);
  const Real h = static_cast<Real>(shape.root[0]);
  std::vector<Real> pdf(shape.n);
  michailidis_margaritis::algorithm_2(x.data(), shape.n, x.data(), shape.n, shape.d, h, pdf.data());
  for (std::size_t i = 0; i < shape.n; ++i) {
    expect_near(pdf[i], exact[i] / static_cast<double>(shape.n), tolerance<Real>);
  }
  if (shape.d > 1) return;
  michailidis_margaritis::algorithm_1(x.data(), shape.n, x.data(), shape.n, h, pdf.data());
  for (std::size_t i = 0; i < shape.n; ++i) {
    expect_near(pdf[i], exact[i] / static_cast<double>(shape.n), tolerance<Real>);
  }
}

// ---- Andrzejewski, Gramacki & Gramacki
template <class Real>
void check_plugin(const andrzejewski::Plugin<Real>& plugin, const Shape& shape) {
  const double n = static_cast<double>(shape.n);
  const double mean = std::accumulate(shape.x.begin(), shape.x.end(), 0.0) / n;
  double squares = 0;
  for (const double x : shape.x) squares += (x - mean) * (x - mean);
  const double pi = kPi;
  const auto functional = [&](double g, int order, double at_zero) {
    const double pairs =
        direct_pair_laplacian(shape.samples(), shape.weights(), g, order, exactly());
    return (2 * pairs + n * at_zero / std::sqrt(2 * pi) / std::pow(g, order + 1)) / (n * n);
  };
  const double psi8 = 105 / (32 * std::sqrt(pi) * std::pow(squares / (n - 1), 4.5));
  const double g1 = std::pow(30 / (std::sqrt(2 * pi) * psi8 * n), 1.0 / 9);
  const double psi6 = functional(g1, 6, -15);
  const double psi4 = functional(std::pow(-6 / (std::sqrt(2 * pi) * psi6 * n), 1.0 / 7), 4, 3);
  expect_near(plugin.psi6, psi6, 5 * tolerance<Real>);
  expect_near(plugin.psi4, psi4, 5 * tolerance<Real>);
  expect_near(plugin.h, std::pow(1 / (2 * std::sqrt(pi) * psi4 * n), 0.2), 2 * tolerance<Real>);
}

// g(h), eq. 43, for the bandwidths h.
std::vector<double> exact_objective(const Shape& shape, const std::vector<double>& h) {
  const PairCurve curve = direct_lscv_curve(shape.samples(), shape.weights(), shape.bandwidth(),
                                            {h.data(), h.size()}, exactly());
  std::vector<double> g;
  for (std::size_t b = 0; b < h.size(); ++b) {
    const double n = static_cast<double>(shape.n);
    const double at_zero = andrzejewski::roughness(shape.d, determinant_of(shape)) /
                           std::pow(h[b], static_cast<double>(shape.d));
    g.push_back(2 / n / n * (curve.convolution[b] - 2 * curve.kernel[b]) + at_zero / n);
  }
  return g;
}
template <class Real>
andrzejewski::Sample<Real> sample_of(const Shape& shape) {
  return {transposed<Real>(shape), shape.d, copy_of<Real>(inverse_of(shape)),
          determinant_of(shape)};
}
andrzejewski::simd::Rows rows_of(const Shape& shape) {
  return {copy_of<float>(shape.x), shape.d, copy_of<float>(inverse_of(shape)),
          determinant_of(shape)};
}

// ---- Rohlfs & Zahran
struct Observations {
  std::vector<double> x, y, bandwidths;
  CrossValidation exact() const {
    const std::vector<double> w(x.size(), 1.0);
    const RegressionSample sample{{x.data(), x.size()}, {y.data(), y.size()}, {w.data(), w.size()}};
    return LocalRegression(sample, exactly().parallel)
        .cross_validate({bandwidths.data(), bandwidths.size()}, {Kernel::epanechnikov, 1, false},
                        exactly());
  }
};
// Section IV of the paper. Floats, so that both precisions see the same data.
Observations observations(std::size_t n) {
  std::mt19937_64 random(n);
  Observations data;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = static_cast<float>(shapes::uniform(random));
    data.x.push_back(x);
    data.y.push_back(static_cast<float>(0.5 * x + 10 * x * x + 0.5 * shapes::uniform(random)));
  }
  for (int b = 1; b <= 32; ++b) data.bandwidths.push_back(b / 32.0);
  return data;
}
template <class Real>
void check_cross_validation(const rohlfs_zahran::CrossValidation<Real>& got,
                            const Observations& data, double tolerance) {
  const CrossValidation exact = data.exact();
  for (std::size_t b = 0; b < data.bandwidths.size(); ++b) {
    expect_near(got.squares[b], exact.squares[b], tolerance);
    EXPECT_EQ(static_cast<std::size_t>(got.unsupported[b]), exact.unsupported[b]);
  }
}

}  // namespace

TEST(MichailidisMargaritis, DensitiesAtTheSamples) {
  for (const std::size_t d : {1, 2, 3, 6, 14}) {
    const Shape shape = shapes::make("serial" + std::to_string(d), 150, 1, d, 0.7);
    check_serial<double>(shape);
    check_serial<float>(shape);
  }
}

TEST(Andrzejewski, Reductions) {
  for (const std::size_t n : {0, 1, 3, 4, 5, 7, 1023, 1024, 1025, 2048, 5001}) {
    std::vector<float> a(n);
    std::iota(a.begin(), a.end(), -3.0f);
    andrzejewski::Reduction<float> sum;
    float exact = 0;
    for (const float value : a) {
      sum.add(value);
      exact += value;
    }
    EXPECT_FLOAT_EQ(sum.result(), exact) << n;
    EXPECT_FLOAT_EQ(andrzejewski::simd::reduce(a, 2), exact) << n;
  }
}

TEST(Andrzejewski, Exponential) {
  for (float x = -87; x <= 0; x += 0.0137f) {
    expect_near(andrzejewski::simd::exponential(andrzejewski::simd::all(x))[2], std::exp(double(x)),
                2e-7);
  }
  EXPECT_LT(andrzejewski::simd::exponential(andrzejewski::simd::all(-1e6f))[0], 1e-37);
  EXPECT_EQ(andrzejewski::simd::exponential(andrzejewski::simd::all(0))[0], 1);
}

TEST(Andrzejewski, Plugin) {
  for (const std::size_t n : {15, 16, 17, 31, 33, 200, 1030}) {
    SCOPED_TRACE(n);
    const Shape shape = shapes::make("plugin" + std::to_string(n), n, 1, 1, 1);
    check_plugin(andrzejewski::plugin(shape.x), shape);
    check_plugin(andrzejewski::plugin(copy_of<float>(shape.x)), shape);
    for (const int threads : {1, 2}) {
      check_plugin(andrzejewski::simd::plugin(copy_of<float>(shape.x), threads), shape);
    }
  }
}

TEST(Andrzejewski, LscvOfOneScalar) {
  const std::vector<double> h = {0.3, 0.6, 1.1, 2.0};
  for (const std::size_t n : {9, 16, 33, 75}) {
    for (const std::size_t d : {1, 2, 3, 5, 16}) {
      SCOPED_TRACE(testing::Message() << n << " samples, d = " << d);
      const Shape shape = correlated(n, d);
      const std::vector<double> exact = exact_objective(shape, h);
      const auto in_double = andrzejewski::lscv_h(sample_of<double>(shape), h);
      const auto in_float = andrzejewski::lscv_h(sample_of<float>(shape), h);
      const auto with_vectors = andrzejewski::simd::lscv_h(rows_of(shape), h, 2);
      for (std::size_t b = 0; b < h.size(); ++b) {
        // The terms that may cancel: the sums and the constant.
        const double size = andrzejewski::roughness(d, determinant_of(shape)) /
                            std::pow(h[b], static_cast<double>(d)) / static_cast<double>(n);
        EXPECT_NEAR(in_double[b], exact[b], tolerance<double> * (std::fabs(exact[b]) + size));
        EXPECT_NEAR(in_float[b], exact[b], tolerance<float> * (std::fabs(exact[b]) + size));
        EXPECT_NEAR(with_vectors[b], exact[b], tolerance<float> * (std::fabs(exact[b]) + size));
      }
    }
  }
}

TEST(Andrzejewski, SumOfLscvWithAMatrix) {
  for (const std::size_t n : {9, 16, 33, 130}) {
    for (const std::size_t d : {1, 2, 3, 5, 16}) {
      SCOPED_TRACE(testing::Message() << n << " samples, d = " << d);
      const Shape shape = correlated(n, d);
      const LscvPairSums sums =
          direct_lscv(shape.samples(), shape.weights(), shape.bandwidth(), false, exactly());
      const double exact = sums.convolution.sum - 2 * sums.kernel.sum;
      const double size = sums.convolution.sum + 2 * sums.kernel.sum;
      std::vector<std::size_t> all(n);
      std::iota(all.begin(), all.end(), std::size_t(0));
      EXPECT_NEAR(andrzejewski::lscv_H(sample_of<double>(shape), all), exact,
                  tolerance<double> * size);
      EXPECT_NEAR(andrzejewski::lscv_H(sample_of<float>(shape), all), exact,
                  tolerance<float> * size);
      EXPECT_NEAR(andrzejewski::simd::lscv_H(rows_of(shape), 2), exact, tolerance<float> * size);
    }
  }
  EXPECT_THROW(andrzejewski::simd::lscv_H(rows_of(correlated(9, 17)), 1), std::invalid_argument);
}

TEST(RohlfsZahran, Quicksort) {
  std::mt19937_64 random(3);
  for (const int n : {0, 1, 2, 3, 1000}) {
    std::vector<float> key(n), beside(n);
    for (int i = 0; i < n; ++i) beside[i] = 2 * (key[i] = static_cast<float>(random() % 50));
    std::vector<float> sorted = key;
    std::sort(sorted.begin(), sorted.end());
    rohlfs_zahran::quicksort_iterative(key.data(), beside.data(), n);
    EXPECT_EQ(key, sorted);
    for (int i = 0; i < n; ++i) EXPECT_EQ(beside[i], 2 * key[i]);
  }
}

TEST(RohlfsZahran, CrossValidation) {
  for (const std::size_t n : {5, 60, 700}) {  // 5: some without a neighbour; 700: above 512
    const Observations data = observations(n);
    std::vector<std::size_t> all(n);
    std::iota(all.begin(), all.end(), std::size_t(0));
    const int rows = static_cast<int>(n);
    check_cross_validation(rohlfs_zahran::lean(data.x, data.y, data.bandwidths, all), data, 1e-11);
    check_cross_validation(rohlfs_zahran::sequential(data.x, data.y, data.bandwidths, rows), data,
                           1e-10);
    check_cross_validation(rohlfs_zahran::sequential(copy_of<float>(data.x), copy_of<float>(data.y),
                                                     copy_of<float>(data.bandwidths), rows),
                           data, 1e-4);
  }
}
