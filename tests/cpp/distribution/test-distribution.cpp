// Distribution functions and quantiles of estimates, against sums over every sample in long double.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/distribution/distribution.hpp"
#include "line-oracle.hpp"

using namespace kestrel;
using lines::Line;
using lines::span;
using oracle::real;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The integral of the kernel up to u, by the rule of 16 nodes on [u, 0], where |u| is its only
/// kink. Exact for polynomials of degree 31.
real kernel_cdf(Kernel kernel, real u) {
  if (kernel == Kernel::gaussian) return std::erfc(-u / std::sqrt(2.0L)) / 2;
  if (u <= -1) return 0;
  if (u >= 1) return 1;
  if (u > 0) return 1 - kernel_cdf(kernel, -u);
  static const oracle::Rule rule = oracle::legendre_rule(16);
  const real half = (u + 1) / 2;
  real sum = 0;
  for (std::size_t k = 0; k < rule.node.size(); ++k) {
    sum += rule.weight[k] * oracle::profile(kernel, 1 - half * (1 + rule.node[k]));
  }
  return half * sum * oracle::constant(kernel, 1);
}

real distribution(const Line& line, Kernel kernel, double h, double t) {
  real sum = 0, total = 0;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    sum += line.w[i] * kernel_cdf(kernel, (static_cast<real>(t) - line.x[i]) / h);
    total += line.w[i];
  }
  return sum / total;
}

std::vector<Kernel> all_kernels() {
  return common::kernels_where([](Kernel) { return true; });
}

/// With the sample that it needs.
class Made {
 public:
  Made(const Line& line, Kernel kernel, double h, int threads = 1)
      : run_(common::run_on(common::tables()[0], threads)),
        sample_(line.samples(), line.weights()),
        f_(sample_, kernel, h, run_) {}

  std::vector<double> values(const std::vector<double>& points, int threads = 1) const {
    std::vector<double> out(points.size());
    f_.values(span(points), {threads, {}}, {out.data(), out.size()});
    return out;
  }
  std::vector<double> quantiles(const std::vector<double>& p, int threads = 1) const {
    std::vector<double> out(p.size());
    f_.quantiles(span(p), {threads, {}}, {out.data(), out.size()});
    return out;
  }
  const Distribution& operator*() const { return f_; }

 private:
  const RunOptions run_;
  const LineSample sample_;
  const Distribution f_;
};

void expect_distribution(const Line& line, Kernel kernel, double h) {
  SCOPED_TRACE(common::kernel_name(kernel) + (", h = " + std::to_string(h)));
  std::vector<double> points = lines::points_about(line, h, 40);
  for (const double far : {-30.0, -9.0, -5.0, 5.0, 30.0}) {
    points.push_back(far < 0 ? *std::min_element(line.x.begin(), line.x.end()) + far * h
                             : *std::max_element(line.x.begin(), line.x.end()) + far * h);
  }
  std::sort(points.begin(), points.end());
  points.insert(points.begin(), {-kInfinity, -std::numeric_limits<double>::max()});
  points.insert(points.end(), {std::numeric_limits<double>::max(), kInfinity});
  const std::vector<double> got = Made(line, kernel, h).values(points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const real wanted =
        std::isinf(points[i]) ? (points[i] > 0 ? 1 : 0) : distribution(line, kernel, h, points[i]);
    ASSERT_NEAR(got[i], static_cast<double>(wanted), 1e-14) << points[i];
    if (i > 0) {
      ASSERT_GE(got[i], got[i - 1] - 1e-15) << points[i];
    }
  }
  ASSERT_EQ(got.front(), 0);
  ASSERT_EQ(got[1], 0);
  ASSERT_EQ(got[got.size() - 2], 1);
  ASSERT_EQ(got.back(), 1);
}

/// The tolerance of a quantile.
double slack_of(double min, double max, double h, double reach) {
  return 1e-14 * h + 4 * oracle::kEpsilon * (std::fabs(max) + std::fabs(min) + reach);
}

/// Within the tolerance of the quantile lies a point with the probability.
void expect_quantile(const Line& line, Kernel kernel, double h, double p, double q, double slack) {
  ASSERT_LE(distribution(line, kernel, h, q - slack), p + 1e-14) << p;
  ASSERT_GE(distribution(line, kernel, h, q + slack), p - 1e-14) << p;
}

class DistributionOf : public testing::TestWithParam<Line> {};

std::vector<Line> shapes_of_every_kind() {
  std::vector<Line> all = lines::of_every_kind_and_size(400);
  for (const shapes::Shape& shape : shapes::data_of_every_kind()) {
    if (shape.d == 1) all.push_back({shape.name, shape.x, shape.w});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Lines, DistributionOf, testing::ValuesIn(shapes_of_every_kind()),
                         common::name_of);

}  // namespace

TEST_P(DistributionOf, AgreesWithTheOracle) {
  const Line& line = GetParam();
  for (const double h : lines::bandwidths_and_edges(line)) {
    for (const Kernel kernel : all_kernels()) {
      expect_distribution(line, kernel, h);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(DistributionOf, HasQuantiles) {
  const Line& line = GetParam();
  const std::vector<double> p{0, 1e-300, 1e-12, 1e-3, 0.25, 0.5, 2.0 / 3, 0.999, 1 - 1e-12, 1};
  double min = kInfinity, max = -kInfinity;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    if (line.w[i] > 0) min = std::min(min, line.x[i]), max = std::max(max, line.x[i]);
  }
  for (const double h : lines::bandwidths(line, 4)) {
    for (const Kernel kernel : all_kernels()) {
      SCOPED_TRACE(common::kernel_name(kernel) + (", h = " + std::to_string(h)));
      const std::vector<double> q = Made(line, kernel, h).quantiles(p);
      const bool compact = is_compact(kernel);
      ASSERT_EQ(q.front(), compact ? min - h : -kInfinity);
      ASSERT_EQ(q.back(), compact ? max + h : kInfinity);
      const double slack = slack_of(min, max, h, (compact ? 1 : 39) * h);
      for (std::size_t k = 1; k + 1 < p.size(); ++k) {
        expect_quantile(line, kernel, h, p[k], q[k], slack);
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// So many that the series of all cells are made: of one cluster, of two far apart, of equal
/// samples and of samples that do not count.
TEST(Distributions, HaveManyQuantiles) {
  Line apart = lines::make("apart", 600, shapes::normal), ties = apart, one = apart;
  for (std::size_t i = 0; i < 600; ++i) {
    if (i % 3 == 0) apart.x[i] += 1e4;
    ties.x[i] = std::round(ties.x[i]);
    one.w[i] = i == 17 ? 2 : 0;
  }
  std::vector<double> p{1, 0.5, 0, 1e-300, 1e-12, 1 - 1e-12, 1 - 1e-16, 2.0 / 3, 1.0 / 3};
  for (std::size_t i = 0; i < 9000; ++i) p.push_back(static_cast<double>(i * 7919 % 9001) / 9001);
  for (const Line& line : {apart, ties, one}) {
    const auto [min, max] = std::minmax_element(line.x.begin(), line.x.end());
    for (const double h : {0.05, 0.3, 20.0}) {
      SCOPED_TRACE(line.name + ", h = " + std::to_string(h));
      const Made made(line, Kernel::gaussian, h);
      const std::vector<double> q = made.quantiles(p);
      EXPECT_EQ(q[0], kInfinity);
      EXPECT_EQ(q[2], -kInfinity);
      const double slack = slack_of(*min, *max, h, 39 * h);
      for (std::size_t k = 1; k < p.size(); k += k < 12 ? 1 : 101) {
        if (p[k] == 0) continue;
        expect_quantile(line, Kernel::gaussian, h, p[k], q[k], slack);
        if (HasFatalFailure()) return;
      }
      // The others lie in order.
      std::vector<std::size_t> order(p.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::sort(order.begin(), order.end(), [&](auto a, auto b) { return p[a] < p[b]; });
      for (std::size_t k = 1; k < p.size(); ++k) {
        EXPECT_GE(q[order[k]], q[order[k - 1]] - slack);
      }
      for (const int threads : common::thread_counts()) {
        EXPECT_TRUE(common::same_bits(q, made.quantiles(p, threads)));
      }
    }
  }
}

/// Cells with thousands of samples, cells with none, and points in all of them.
TEST(Distributions, OfManyObservationsAreTheSameOnAnyNumberOfThreads) {
  const Line line = lines::weighted(lines::make("long", 30000, shapes::normal), "",
                                    [](std::size_t i) { return 0.1 * (1 + i % 17); });
  const std::vector<double> p{0.001, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999};
  // Threads know no other difference between kernels than these have.
  const std::vector<Kernel> few{Kernel::gaussian, Kernel::epanechnikov, Kernel::cosine};
  for (const Kernel kernel : common::under_tsan() ? few : all_kernels()) {
    for (const double h : {0.003, 0.2, 40.0}) {
      SCOPED_TRACE(common::kernel_name(kernel) + (", h = " + std::to_string(h)));
      const std::vector<double> points = lines::points_about(line, h, 2000);
      const Made one(line, kernel, h);
      const std::vector<double> value = one.values(points), quantile = one.quantiles(p);
      for (std::size_t i = 0; i < points.size(); i += i < 6 ? 1 : 97) {
        // Alone, and with others in its cell.
        ASSERT_NEAR(value[i], one.values({points[i]})[0], 2e-15);
        if (i >= 6) continue;
        ASSERT_NEAR(value[i], static_cast<double>(distribution(line, kernel, h, points[i])), 1e-14);
      }
      for (const int threads : common::thread_counts()) {
        const Made other(line, kernel, h, threads);
        EXPECT_TRUE(common::same_bits(value, other.values(points, threads)));
        EXPECT_TRUE(common::same_bits(quantile, other.quantiles(p, threads)));
      }
    }
  }
}

/// What is small is relatively accurate: a tail of the Gaussian has its digits.
TEST(Distributions, KeepTheDigitsOfALeftTail) {
  const Line line = lines::make("uniform", 5000, shapes::uniform);
  for (const Kernel kernel : all_kernels()) {
    const double h = 0.3, least = *std::min_element(line.x.begin(), line.x.end());
    for (const double u : {-0.99, -0.5, -2.0, -6.0, -12.0}) {
      const double t = least + u * h;
      const real wanted = distribution(line, kernel, h, t);
      EXPECT_NEAR(Made(line, kernel, h).values({t})[0], static_cast<double>(wanted),
                  static_cast<double>(1e-13L * wanted))
          << common::kernel_name(kernel) << " at " << u;
    }
  }
}

/// Where cells cannot number the samples.
TEST(Distributions, OfExtremeBandwidths) {
  const Line line{"extreme", {-1e10, 1, 1, 2, 1e300}, {1, 1, 1, 1, 1}};
  for (const Kernel kernel : all_kernels()) {
    for (const double h : {1e-300, 1e-8, 1e305}) {
      const std::vector<double> points{-2e10, 0, 1, 1.5, 1e299};
      const std::vector<double> got = Made(line, kernel, h).values(points);
      for (std::size_t i = 0; i < points.size(); ++i) {
        EXPECT_NEAR(got[i], static_cast<double>(distribution(line, kernel, h, points[i])), 1e-14);
      }
    }
    EXPECT_EQ(Made(line, kernel, 1e-300).quantiles({0.4})[0], 1) << common::kernel_name(kernel);
  }
}

TEST(Distributions, ReportProgressAndStop) {
  const Line line = lines::make("polled", 100000, shapes::normal);
  const Made f(line, Kernel::gaussian, 0.1);
  const std::vector<double> points(200000, 0.3);
  std::vector<double> out(points.size());
  const Poll stop = [](double) { throw std::runtime_error("stopped"); };
  EXPECT_THROW((*f).values(span(points), {1, stop}, {out.data(), out.size()}), std::runtime_error);
  const std::vector<double> p(100000, 0.3);
  EXPECT_THROW((*f).quantiles(span(p), {1, stop}, {out.data(), p.size()}), std::runtime_error);
}

TEST(Distributions, RefuseWhatTheyCannotSum) {
  const Line line{"two", {1, 2}, {1, 1}};
  EXPECT_THROW(Made(line, Kernel::gaussian, 0), error);
  EXPECT_THROW(Made({"zero", {1, 2}, {0, 0}}, Kernel::gaussian, 1), error);
  EXPECT_THROW(Made({"negative", {1, 2}, {2, -1}}, Kernel::gaussian, 1), error);
  EXPECT_THROW(Made({"short", {1, 2}, {1}}, Kernel::gaussian, 1), error);
  EXPECT_THROW(Made({"infinite", {1, kInfinity}, {1, 1}}, Kernel::gaussian, 1), error);
}
