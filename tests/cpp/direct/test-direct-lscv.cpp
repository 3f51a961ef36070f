// The direct engine's sums for cross-validation with a bandwidth matrix, against sums in long
// double.
#include "common.hpp"
#include "core/base/error.hpp"
#include "core/direct/lscv.hpp"
#include "core/direct/near_pairs.hpp"
#include "core/direct/pairs.hpp"
#include "oracle.hpp"

using namespace kestrel;
using namespace common;
using oracle::real;
using shapes::Shape;

namespace {

constexpr double tolerance = 1e-13;   // of the sum of absolute values
constexpr double underflow = 1e-300;  // long double has terms that are zero in double

// u = L^-1 (x_i - x_j).
std::vector<real> standardised(const Shape& shape, std::size_t i, std::size_t j) {
  std::vector<real> u(shape.d);
  for (std::size_t k = 0; k < shape.d; ++k) {
    const double* column = shape.x.data() + k * shape.n;
    u[k] = static_cast<real>(column[i]) - column[j];
    for (std::size_t l = 0; l < k; ++l) {
      u[k] -= static_cast<real>(shape.root[l * shape.d + k]) * u[l];
    }
    u[k] /= shape.root[k * shape.d + k];
  }
  return u;
}

// N(x_i - x_j; 0, factor H) w_i w_j for u = L^-1 (x_i - x_j), as `value`, and what its error is
// relative to as `absolute`: that times 1 + (0.01 + 0.002 condition) |u|^2 / factor.
class Term {
 public:
  Term(const Shape& shape, real factor)
      : factor_(factor),
        constant_(std::pow(2 * oracle::pi * factor, -static_cast<real>(shape.d) / 2)) {
    real condition = 0;
    for (std::size_t k = 0; k < shape.d; ++k) {
      constant_ /= shape.root[k * shape.d + k];
      for (std::size_t l = 0; l < k; ++l) {
        const real ratio = std::fabs(shape.root[l * shape.d + k]) / shape.root[k * shape.d + k];
        condition = std::max(condition, ratio);
      }
    }
    slope_ = 0.01L + 0.002L * condition;
  }

  oracle::Sum at(real q, real weight) const {
    const real peak = constant_ * weight, value = peak * std::exp(-q / (2 * factor_));
    // In double the exponential is zero below 2^-1022.
    return {value, value * (1 + slope_ * q / factor_) + 1e-292L * peak};
  }

 private:
  real factor_, constant_, slope_ = 0;
};

// Calls body(u, |u|^2, w_i w_j) for all pairs.
template <class Body>
void for_pairs(const Shape& shape, const Body& body) {
  for (std::size_t i = 0; i < shape.n; ++i) {
    for (std::size_t j = i + 1; j < shape.n; ++j) {
      const std::vector<real> u = standardised(shape, i, j);
      real q = 0;
      for (const real v : u) q += v * v;
      body(u, q, static_cast<real>(shape.w[i]) * shape.w[j]);
    }
  }
}

// The sums of these terms for some factors.
std::vector<oracle::Sum> kernel_sums(const Shape& shape, const std::vector<real>& factors) {
  std::vector<Term> terms;
  for (const real factor : factors) terms.emplace_back(shape, factor);
  std::vector<oracle::Sum> sums(factors.size());
  for_pairs(shape, [&](const std::vector<real>&, real q, real weight) {
    for (std::size_t s = 0; s < terms.size(); ++s) {
      const oracle::Sum term = terms[s].at(q, weight);
      sums[s].value += term.value;
      sums[s].absolute += term.absolute;
    }
  });
  return sums;
}

// The sum for a factor, and then d*d moments: the sums of terms times u u'. Their errors are
// relative to that times 1 + |u_k u_l|.
std::vector<oracle::Sum> gaussian_sums(const Shape& shape, real factor) {
  const std::size_t d = shape.d;
  const Term term(shape, factor);
  std::vector<oracle::Sum> sums(1 + d * d);
  for_pairs(shape, [&](const std::vector<real>& u, real q, real weight) {
    const oracle::Sum of = term.at(q, weight);
    sums[0].value += of.value;
    sums[0].absolute += of.absolute;
    for (std::size_t k = 0; k < d; ++k) {
      for (std::size_t l = 0; l < d; ++l) {
        sums[1 + k * d + l].value += of.value * u[k] * u[l];
        sums[1 + k * d + l].absolute += of.absolute * (1 + std::fabs(u[k] * u[l]));
      }
    }
  });
  return sums;
}

void expect_close(const std::vector<double>& got, const std::vector<oracle::Sum>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t t = 0; t < got.size(); ++t) {
    if (wanted[t].absolute > 1e300L) continue;  // leaves the range of a double
    EXPECT_LE(std::fabs(got[t] - wanted[t].value), tolerance * wanted[t].absolute + underflow)
        << "term " << t << ": " << got[t] << ", not " << static_cast<double>(wanted[t].value)
        << ", of " << static_cast<double>(wanted[t].absolute);
  }
}

std::vector<double> flat(const GaussianPairSums& sums) {
  std::vector<double> out{sums.sum};
  out.insert(out.end(), sums.moments.begin(), sums.moments.end());
  return out;
}

// Calls `sums(options)`, a vector, on every instruction set and number of threads.
template <class F>
void expect_everywhere(const std::vector<oracle::Sum>& wanted, F sums) {
  for (const simd::Table* table : tables()) {
    SCOPED_TRACE(table->name);
    const std::vector<double> one = sums(run_on(table, 1));
    expect_close(one, wanted);
    for (const int threads : common::thread_counts()) {
      EXPECT_TRUE(same_bits(sums(run_on(table, threads)), one)) << threads << " threads";
    }
  }
}

// A bandwidth with correlation 0.999999 between the first two variables.
Shape correlated(Shape shape) {
  const double h = shape.root[0], r = 0.999999;
  shape.diagonal = false;
  shape.root[1] = r * h;
  shape.root[shape.d + 1] = h * std::sqrt(1 - r * r);
  std::mt19937_64 random(3);
  for (std::size_t i = 0; i < shape.n; ++i) {  // and data with that correlation
    shape.x[shape.n + i] = shape.x[i] + 1.5e-3 * shapes::normal(random);
  }
  return shape;
}

std::vector<Shape> all_shapes() {
  std::vector<Shape> all = shapes::data_of_every_kind();
  for (const Shape& shape : shapes::sizes_of_every_kind()) {
    if (shape.n < 100 || shape.n > 500) all.push_back(shape);
  }
  for (const Shape& shape : shapes::dimensions_of_every_kind()) {
    if (shape.d <= 16) all.push_back(shape);
  }
  for (const Shape& shape : shapes::extremes_of_every_kind()) all.push_back(shape);
  const shapes::Draw outliers = [](std::mt19937_64& random) {
    return shapes::normal(random) * (random() % 50 == 0 ? 1e6 : 1.0);
  };
  const shapes::Draw clusters = [](std::mt19937_64& random) {
    return 20.0 * static_cast<double>(random() % 3) + 1e-3 * shapes::normal(random);
  };
  const shapes::Draw offset = [](std::mt19937_64& random) { return 1e9 + shapes::normal(random); };
  for (const std::size_t d : {1, 2, 3, 4, 5, 6, 16}) {
    const std::string in = "_d" + std::to_string(d);
    // Sizes near those of a block, of a group of points and of a vector.
    for (const std::size_t n : {1, 2, 7, 9, 31, 33, 255, 256, 257, 289}) {
      if (d > 6 && n > 40 && n != 257) continue;
      all.push_back(shapes::tilted(shapes::make("lscv" + std::to_string(n) + in, n, 1, d,
                                                0.4 * std::sqrt(static_cast<double>(d)))));
    }
    if (d == 1) continue;
    // Clusters out of reach of each other, and enough samples to leave pairs out.
    if (d <= 3) {
      all.push_back(shapes::tilted(shapes::make("towns" + in, 1030, 1, d, 1e-3, clusters)));
    }
    all.push_back(correlated(shapes::make("correlated" + in, 70, 1, d, 0.5)));
    if (d < 4) continue;
    // Blocks with points many bandwidths from the first one.
    all.push_back(shapes::make("outliers" + in, 70, 1, d, 1.0, outliers));
    all.push_back(shapes::make("clusters" + in, 70, 1, d, 1.0, clusters));
    all.push_back(shapes::make("at_the_edge" + in, 90, 1, d, 0.2));
    all.push_back(shapes::make("far_apart" + in, 90, 1, d, 0.05));
    all.push_back(shapes::tilted(shapes::make("offset" + in, 90, 1, d, 0.9, offset)));
    all.push_back(shapes::weighted(shapes::make("zero_weights" + in, 90, 1, d, 1.0),
                                   [](std::size_t i) { return i % 3 == 0 ? 0.0 : 1.0 + i % 7; }));
  }
  return all;
}

class Lscv : public testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(Shapes, Lscv, testing::ValuesIn(all_shapes()), name_of);

}  // namespace

TEST_P(Lscv, Sums) {
  const Shape& shape = GetParam();
  expect_everywhere(kernel_sums(shape, {2, 1}), [&](const RunOptions& options) {
    const LscvPairSums sums =
        direct_lscv(shape.samples(), shape.weights(), shape.bandwidth(), false, options);
    EXPECT_TRUE(sums.kernel.moments.empty() && sums.convolution.moments.empty());
    return std::vector<double>{sums.convolution.sum, sums.kernel.sum};
  });
}

TEST_P(Lscv, Moments) {
  const Shape& shape = GetParam();
  std::vector<oracle::Sum> wanted = gaussian_sums(shape, 2);
  const std::vector<oracle::Sum> kernel = gaussian_sums(shape, 1);
  wanted.insert(wanted.end(), kernel.begin(), kernel.end());
  expect_everywhere(wanted, [&](const RunOptions& options) {
    const LscvPairSums sums =
        direct_lscv(shape.samples(), shape.weights(), shape.bandwidth(), true, options);
    std::vector<double> both = flat(sums.convolution), second = flat(sums.kernel);
    both.insert(both.end(), second.begin(), second.end());
    return both;
  });
  expect_everywhere(kernel, [&](const RunOptions& options) {
    return flat(
        direct_gaussian_moments(shape.samples(), shape.weights(), shape.bandwidth(), options));
  });
}

TEST_P(Lscv, Curve) {
  const Shape& shape = GetParam();
  std::vector<double> h{1.0, 0.25, 4.0, 1.7, 0.03};
  // Bandwidths so far apart that no unit suits all of them.
  if (shape.d <= 3) h.insert(h.begin() + 2, {1e75, 1e-85});
  std::vector<real> factors;
  for (const double bandwidth : h) {
    const real squared = static_cast<real>(bandwidth) * bandwidth;
    factors.insert(factors.end(), {2 * squared, squared});
  }
  const std::vector<oracle::Sum> wanted = kernel_sums(shape, factors);
  expect_everywhere(wanted, [&](const RunOptions& options) {
    const PairCurve curve = direct_lscv_curve(shape.samples(), shape.weights(), shape.bandwidth(),
                                              {h.data(), h.size()}, options);
    std::vector<double> both;
    for (std::size_t s = 0; s < h.size(); ++s) {
      both.push_back(curve.convolution[s]);
      both.push_back(curve.kernel[s]);
    }
    return both;
  });
}

namespace {

// dS/dL, the lower triangle of L^-T (M / factor - S I), column-major: the header's formula.
std::vector<double> by_root(const GaussianPairSums& sums, const std::vector<double>& root,
                            std::size_t d, double factor) {
  std::vector<double> out(d * d, 0.0);
  for (std::size_t c = 0; c < d; ++c) {
    std::vector<double> v(d);
    for (std::size_t k = d; k-- > 0;) {  // L' v = column c
      v[k] = sums.moments[c * d + k] / factor - (k == c ? sums.sum : 0.0);
      for (std::size_t l = k + 1; l < d; ++l) v[k] -= root[k * d + l] * v[l];
      v[k] /= root[k * d + k];
      if (k >= c) out[c * d + k] = v[k];
    }
  }
  return out;
}

}  // namespace

TEST(NearPairs, AreLookedForIfTheyAreFew) {
  const RunOptions options = run_on(simd::find_table("auto"), 1);
  const auto few = [&](const Shape& shape) {
    const TileKernel kernel(*options.table, {}, shape.d, shape.bandwidth());
    return NearPairs(shape.samples(), shape.weights(), kernel, 1, options.parallel).is_worth();
  };
  std::size_t towns = 0;
  for (Shape shape : all_shapes()) {
    if (shape.name.rfind("towns", 0) != 0) continue;
    ++towns;
    EXPECT_TRUE(few(shape)) << shape.name;
    for (double& entry : shape.root) entry *= 1e4;
    EXPECT_FALSE(few(shape)) << shape.name;
  }
  EXPECT_EQ(towns, 2u);
  EXPECT_FALSE(few(shapes::make("normal", 3000, 1, 2, 0.3)));
}

TEST(LscvGradient, IsTheLimitOfDifferences) {
  for (const std::size_t d : {1, 2, 3, 5, 16}) {
    const Shape shape = shapes::tilted(
        shapes::make("gradient" + std::to_string(d), 60, 1, d, std::sqrt(static_cast<double>(d))));
    const RunOptions options = run_on(simd::find_table("auto"), 1);
    const LscvPairSums sums =
        direct_lscv(shape.samples(), shape.weights(), shape.bandwidth(), true, options);
    const std::vector<double> convolution = by_root(sums.convolution, shape.root, d, 2.0);
    const std::vector<double> kernel = by_root(sums.kernel, shape.root, d, 1.0);
    for (std::size_t c = 0; c < d; ++c) {
      for (std::size_t k = c; k < d; ++k) {
        Shape up = shape, down = shape;
        up.root[c * d + k] += 1e-6;
        down.root[c * d + k] -= 1e-6;
        const real width = static_cast<real>(up.root[c * d + k]) - down.root[c * d + k];
        const std::vector<oracle::Sum> above = kernel_sums(up, {2, 1}),
                                       below = kernel_sums(down, {2, 1});
        const auto change = [&](std::size_t factor) {
          return static_cast<double>((above[factor].value - below[factor].value) / width);
        };
        EXPECT_NEAR(convolution[c * d + k], change(0), 1e-9 * sums.convolution.sum);
        EXPECT_NEAR(kernel[c * d + k], change(1), 1e-9 * sums.kernel.sum);
      }
    }
  }
}

TEST(LscvSums, AreThoseOfOneMatrixAtATime) {
  const Shape shape = shapes::tilted(shapes::make("one_at_a_time", 700, 1, 4, 0.9));
  const RunOptions options = run_on(simd::find_table("auto"), 1);
  const LscvPairSums sums =
      direct_lscv(shape.samples(), shape.weights(), shape.bandwidth(), false, options);
  const double kernel =
      direct_pair_sum(shape.samples(), shape.weights(), {}, shape.bandwidth(), options);
  EXPECT_NEAR(sums.kernel.sum, kernel, 1e-13 * kernel);
}

TEST(LscvCurve, OfNoBandwidthIsEmpty) {
  const Shape shape = shapes::make("empty", 10, 1, 2, 0.5);
  const PairCurve curve = direct_lscv_curve(shape.samples(), shape.weights(), shape.bandwidth(),
                                            {nullptr, 0}, run_on(simd::find_table("auto"), 1));
  EXPECT_TRUE(curve.kernel.empty() && curve.convolution.empty());
}

TEST(LscvErrors, BandwidthsAndWeightsThatDoNotFit) {
  const Shape shape = shapes::make("errors", 10, 1, 2, 0.5);
  const RunOptions options = run_on(simd::find_table("auto"), 1);
  const std::vector<double> singular{0.5, 0.1, 0.0, 0.0};
  const Span<const double> bad{singular.data(), 4}, nine{shape.w.data(), 9};
  for (const bool moments : {false, true}) {
    EXPECT_THROW(direct_lscv(shape.samples(), shape.weights(), bad, moments, options), error);
    EXPECT_THROW(direct_lscv(shape.samples(), nine, shape.bandwidth(), moments, options), error);
  }
  EXPECT_THROW(direct_gaussian_moments(shape.samples(), shape.weights(), bad, options), error);
  EXPECT_THROW(direct_gaussian_moments(shape.samples(), nine, shape.bandwidth(), options), error);
  const double good = 1.0;
  EXPECT_THROW(direct_lscv_curve(shape.samples(), shape.weights(), bad, {&good, 1}, options),
               error);
  for (const double h : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    const std::vector<double> among{1.0, h, 2.0};
    EXPECT_THROW(direct_lscv_curve(shape.samples(), shape.weights(), shape.bandwidth(),
                                   {among.data(), 3}, options),
                 error);
  }
}

TEST(LscvPoll, RisesToTheEndOverAllBatches) {
  // 2^21 numbers a batch: about 140 items of 20,000 make two batches.
  const shapes::Draw places = [](std::mt19937_64& random) {
    return 1000.0 * static_cast<double>(random() % 150) + shapes::normal(random);
  };
  const Shape shape = shapes::make("batches", 450, 1, 1, 1.0, places);
  std::vector<double> h(10000, 1.0);
  RunOptions options = run_on(simd::find_table("auto"), 2);
  double last = 0.0;
  options.parallel.poll = [&](double fraction) {
    EXPECT_GE(fraction, last);
    EXPECT_LE(fraction, 1.0);
    last = fraction;
  };
  const PairCurve many = direct_lscv_curve(shape.samples(), shape.weights(), shape.bandwidth(),
                                           {h.data(), h.size()}, options);
  EXPECT_GT(last, 0.0);
  options.parallel.poll = nullptr;
  const double one = 1.0;
  const PairCurve single =
      direct_lscv_curve(shape.samples(), shape.weights(), shape.bandwidth(), {&one, 1}, options);
  EXPECT_NEAR(many.kernel[777], single.kernel[0], 1e-13 * single.kernel[0]);
}

TEST(LscvThreads, GiveTheSameBitsAndAreUsed) {
  for (const Shape& shape : shapes::work_for_three_threads()) {
    if (shape.n > 3000) continue;
    const std::vector<double> h{0.5, 1.0, 2.0};
    const auto run = [&](int threads) {
      const RunOptions options = run_on(simd::find_table("auto"), threads);
      const LscvPairSums sums =
          direct_lscv(shape.samples(), shape.weights(), shape.bandwidth(), true, options);
      std::vector<double> all = flat(sums.convolution), kernel = flat(sums.kernel);
      all.insert(all.end(), kernel.begin(), kernel.end());
      const PairCurve curve = direct_lscv_curve(shape.samples(), shape.weights(), shape.bandwidth(),
                                                {h.data(), h.size()}, options);
      all.insert(all.end(), curve.kernel.begin(), curve.kernel.end());
      all.insert(all.end(), curve.convolution.begin(), curve.convolution.end());
      all.push_back(direct_lscv(shape.samples(), shape.weights(), shape.bandwidth(), false, options)
                        .kernel.sum);
      return all;
    };
    const std::vector<double> one = run(1);
    for (const int threads : common::thread_counts()) {
      EXPECT_TRUE(same_bits(run(threads), one)) << shape.name;
      EXPECT_EQ(threads_last_used(), threads) << shape.name;
    }
  }
}
