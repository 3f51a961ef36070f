// Queries of radial polynomial kernels: against integrals in long double, against themselves with
// the axes in another order, and against formulas.
#include <sys/resource.h>

#include <random>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/query/query.hpp"
#include "core/query/radial_nest.hpp"
#include "query-oracle.hpp"

using namespace kestrel;
using oracle::real;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A covariance matrix with this correlation for every pair, and standard deviations 1, 2, ...
std::vector<double> matrix(std::size_t m, double rho) {
  std::vector<double> H(m * m);
  for (std::size_t a = 0; a < m; ++a) {
    for (std::size_t b = 0; b < m; ++b) {
      H[b * m + a] = (a == b ? 1 : rho) * static_cast<double>((a + 1) * (b + 1));
    }
  }
  return H;
}

struct Limits {
  std::vector<double> from, to;
};

/// Limits near the ellipsoid: faces that cut it, touch it or miss it; some are infinite.
Limits limits_about(const std::vector<double>& H, std::size_t m, std::mt19937_64& random) {
  Limits limits;
  for (std::size_t k = 0; k < m; ++k) {
    const double reach = std::sqrt(H[k * m + k]);
    double a = reach * (2.6 * shapes::uniform(random) - 1.3);
    double b = reach * (2.6 * shapes::uniform(random) - 1.3);
    if (a > b) std::swap(a, b);
    const std::size_t kind = random() % 8;
    if (kind == 0) a = -kInfinity;
    if (kind == 1) b = kInfinity;
    if (kind == 2) b = a + 1e-4 * reach;
    if (kind == 3) a = 0, b = reach;
    limits.from.push_back(a);
    limits.to.push_back(b);
  }
  return limits;
}

}  // namespace

// The marginal on one axis is a power of 1 - u^2, and without correlation a box on two axes is a
// set of slices.
TEST(RadialNest, OneAxisAgreesWithTheIntegral) {
  for (const double power : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0}) {
    const RadialNest nest(1, {4.0}, power);
    const real c = std::tgamma(static_cast<real>(power) + 1.5L) /
                   std::tgamma(static_cast<real>(power) + 1) / std::sqrt(oracle::pi);
    for (const auto& ends : {std::make_pair(-2.0, 2.0), std::make_pair(-1.0, 0.5),
                             std::make_pair(1.9, 2.0), std::make_pair(0.3, 0.3 + 1e-7)}) {
      real mass = 0, first = 0, second = 0;
      // u = sin(t), so that the ends are smooth.
      const real start = std::asin(static_cast<real>(ends.first) / 2);
      oracle::in_pieces(start, std::asin(static_cast<real>(ends.second) / 2) - start,
                        [&](real t, real weight, real) {
                          const real part =
                              c * weight * std::pow(std::cos(t), 2 * static_cast<real>(power) + 1);
                          const real z = 2 * std::sin(t) - ends.first;
                          mass += part;
                          first += part * z;
                          second += part * z * z;
                        });
      const BoxMoments plain = nest.hold(&ends.first, &ends.second, false);
      const BoxMoments got = nest.hold(&ends.first, &ends.second, true);
      EXPECT_NEAR(plain.mass, static_cast<double>(mass), 1e-14 + 1e-13 * plain.mass);
      EXPECT_NEAR(got.mass, static_cast<double>(mass), 1e-12 * got.mass);
      EXPECT_NEAR(got.mean - ends.first, static_cast<double>(first / mass), 1e-14);
      EXPECT_NEAR(got.square, static_cast<double>(second - first * first / mass),
                  1e-10 * got.square);
    }
  }
}

// The error bound: more nodes give the same result.
TEST(RadialNest, ErrorIsBelowItsBound) {
  const RadialRules fine(120);
  std::mt19937_64 random(4);
  double worst = 0;
  for (const std::size_t m : {2, 3}) {
    for (const double rho : {0.0, 0.6, -0.3, 0.97}) {
      for (const double power : {0.0, 0.5, 1.0, 2.0, 3.0}) {
        const std::vector<double> H = matrix(m, rho);
        const RadialNest nest(m, H, power), close(m, H, power, fine);
        for (int box = 0; box < (m == 2 ? 200 : 6); ++box) {
          const Limits limits = limits_about(H, m, random);
          SCOPED_TRACE("m " + std::to_string(m) + " rho " + std::to_string(rho) + " power " +
                       std::to_string(power) + " box " + std::to_string(box));
          const double* from = limits.from.data();
          const double* to = limits.to.data();
          const BoxMoments got = nest.hold(from, to, true), wanted = close.hold(from, to, true);
          EXPECT_NEAR(got.mass, wanted.mass, 1e-11);
          EXPECT_NEAR(nest.hold(from, to, false).mass, wanted.mass, 1e-11);
          worst = std::max(worst, std::fabs(got.mass - wanted.mass));
          EXPECT_NEAR(got.mass * got.mean, wanted.mass * wanted.mean,
                      3e-11 * static_cast<double>(m));
          EXPECT_NEAR(got.square, wanted.square, 3e-11 * static_cast<double>(m * m));
          if (HasFailure()) return;
        }
      }
    }
  }
  RecordProperty("worst", std::to_string(worst));
}

TEST(RadialNest, RefusesAMatrixThatIsNotPositiveDefinite) {
  EXPECT_THROW(RadialNest(2, {1, 1, 1, 1}, 1), error);
}

TEST(RadialNest, OrthantsOfCorrelatedKernels) {
  // For every elliptical distribution: 1/4 + asin(rho) / (2 pi), and 1/8 + 3 asin(rho) / (4 pi).
  for (const double rho : {-0.4, 0.0, 0.6, 0.95}) {
    for (const double power : {0.0, 0.5, 1.0, 3.0}) {
      const double zero[3] = {0, 0, 0}, none[3] = {kInfinity, kInfinity, kInfinity};
      EXPECT_NEAR(RadialNest(2, matrix(2, rho), power).hold(zero, none, false).mass,
                  0.25 + std::asin(rho) / (2 * kPi), 1e-11);
      EXPECT_NEAR(RadialNest(3, matrix(3, rho), power).hold(zero, none, false).mass,
                  0.125 + 3 * std::asin(rho) / (4 * kPi), 1e-11);
    }
  }
}

namespace {

QueryAnswers answers(const shapes::Shape& shape, Kernel kernel, const std::vector<double>& lower,
                     const std::vector<double>& upper, std::ptrdiff_t of) {
  RunOptions options;
  options.table = simd::find_table("auto");
  const std::size_t m = lower.size() / shape.d;
  return query_boxes(
      {shape.samples(), shape.weights(), {kernel, KernelType::radial}, shape.bandwidth()},
      {lower.data(), m, shape.d}, {upper.data(), m, shape.d}, of, options);
}

}  // namespace

// Cells that fill the space add up, although each uses other marginals.
TEST(QueryRadial, TheWholeSpaceAndItsParts) {
  for (const std::size_t d : {2, 3}) {
    for (const bool tilted : {false, true}) {
      shapes::Shape shape = shapes::make("radial_parts", d == 2 ? 90 : 5, 1, d, 0.8);
      if (tilted) shape = shapes::tilted(shape);
      const std::vector<double> cuts = {-kInfinity, -0.7, 0.2, kInfinity};
      std::vector<double> lower, upper;
      const std::size_t cells = d == 2 ? 9 : 27;
      for (std::size_t k = 0, step = 1; k < d; ++k, step *= 3) {
        for (std::size_t i = 0; i < cells; ++i) {
          lower.push_back(cuts[i / step % 3]);
          upper.push_back(cuts[i / step % 3 + 1]);
        }
      }
      for (const Kernel kernel : {Kernel::uniform, Kernel::epanechnikov, Kernel::triweight}) {
        for (std::size_t of = 0; of < d; ++of) {
          const QueryAnswers parts =
              answers(shape, kernel, lower, upper, static_cast<std::ptrdiff_t>(of));
          const QueryAnswers counts = answers(shape, kernel, lower, upper, -1);
          real share = 0, first = 0, second = 0;
          for (std::size_t i = 0; i < cells; ++i) {
            EXPECT_NEAR(parts.share[i], counts.share[i], 1e-11);
            share += parts.share[i];
            if (parts.share[i] == 0) continue;
            first += parts.share[i] * parts.mean[i];
            second += parts.share[i] * (parts.variance[i] + parts.mean[i] * parts.mean[i]);
          }
          const QueryAnswers whole =
              answers(shape, kernel, std::vector<double>(d, -kInfinity),
                      std::vector<double>(d, kInfinity), static_cast<std::ptrdiff_t>(of));
          EXPECT_NEAR(whole.share[0], 1.0, 1e-15);
          EXPECT_NEAR(static_cast<double>(share), 1.0, 3e-11);
          EXPECT_NEAR(static_cast<double>(first), whole.mean[0], 3e-11);
          EXPECT_NEAR(static_cast<double>(second),
                      whole.variance[0] + whole.mean[0] * whole.mean[0], 1e-10);
        }
      }
    }
  }
}

// More boxes, times parts of the rows, than are kept at once.
TEST(QueryRadial, ManyBoxesTakeLittleMemory) {
  const shapes::Shape shape = shapes::make("many_boxes", 70000, 1, 2, 0.1);
  const std::size_t m = 20000;
  // Only every 997th box has a width, so that most take no time.
  std::vector<double> lower(2 * m, 50.0), upper(2 * m, 50.0);
  for (std::size_t i = 0; i < m; i += 997) {
    lower[i] = lower[m + i] = static_cast<double>(i) / 1e4 - 1;
    upper[i] = upper[m + i] = 9;
  }
  rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  const QueryAnswers got = answers(shape, Kernel::uniform, lower, upper, 0);
  getrusage(RUSAGE_SELF, &after);
  // ru_maxrss is in kilobytes; all parts at once would be 20,000 * 256 * 24 bytes.
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 60 * 1024);
  for (std::size_t i = 0; i < m; i += 997) {
    const QueryAnswers alone =
        answers(shape, Kernel::uniform, {lower[i], lower[m + i]}, {upper[i], upper[m + i]}, 0);
    EXPECT_EQ(got.share[i], alone.share[0]);
    EXPECT_EQ(got.mean[i], alone.mean[0]);
    EXPECT_EQ(got.variance[i], alone.variance[0]);
    EXPECT_GT(got.share[i], 0.0);
    EXPECT_EQ(got.share[i + 1], 0.0);
  }
}
