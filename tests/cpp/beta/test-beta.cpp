// Sums of beta kernels from the nodes of cells, against all kernels in long double.
#include <algorithm>
#include <cmath>

#include "common.hpp"
#include "core/base/error.hpp"
#include "core/beta/beta_sums.hpp"

using namespace kestrel;

namespace {

using real = long double;

const real pi = std::acos(-1.0L);

/// Chen (1999), the second form, from its formulas; at the end itself a shape is 1.
real shape(real u, real b) {
  if (u >= 2 * b) return u / b;
  if (u == 0) return 1;
  const real root = std::sqrt(4 * b * b * b * b + 6 * b * b + 2.25L - u * u - u / b);
  return std::max(2 * b * b + 2.5L - root, 1.0L);
}

/// log Gamma(z) less Stirling's formula. Its series where lgamma(), a large number, has no digit
/// left for it.
real stirling_rest(real z) {
  if (z < 20) return std::lgamma(z) - (z - 0.5L) * std::log(z) + z - std::log(2 * pi) / 2;
  const real r = 1 / (z * z);
  return (1 / 12.0L -
          r * (1 / 360.0L -
               r * (1 / 1260.0L -
                    r * (1 / 1680.0L - r * (1 / 1188.0L - r * (691 / 360360.0L - r / 156)))))) /
         z;
}

/// The logarithm of 1 / Beta(p, q), of terms no larger than those of the kernel.
real log_factor(real p, real q) {
  return (p - 0.5L) * std::log1p(q / p) + (q - 0.5L) * std::log1p(p / q) + std::log(p + q) / 2 -
         std::log(2 * pi) / 2 + stirling_rest(p + q) - stirling_rest(p) - stirling_rest(q);
}

real chen(real x, real u, real b) {
  const real p = shape(u, b), q = shape(1 - u, b);
  if ((x == 0 && p > 1) || (x == 1 && q > 1)) return 0;
  const real log_x = x == 0 ? 0 : (p - 1) * std::log(x);
  const real log_rest = x == 1 ? 0 : (q - 1) * std::log1p(-x);
  return std::exp(log_x + log_rest + log_factor(p, q));
}

/// Between the ends, near them, on them, and tied.
std::vector<double> samples(std::size_t n) {
  std::vector<double> x{0, 0, 1, 1e-300, 1e-9, 1 - 1e-9, 0.5, 0.5};
  for (std::size_t i = x.size(); i < n; ++i) {
    const double u = std::fmod(0.618033988749895 * static_cast<double>(i), 1.0);
    x.push_back(i % 3 == 0 ? u * u * u : i % 3 == 1 ? 1 - u * u / 9 : u);
  }
  return x;
}

const std::vector<double> kPoints{0, 1e-12, 1e-6, 1e-3, 0.01, 0.09, 0.3, 0.5, 0.77, 0.999, 1};

ParallelOptions threads(int count) {
  ParallelOptions options;
  options.threads = count;
  return options;
}

TEST(Beta, SumsAreThoseOfAllKernels) {
  const std::vector<double> x = samples(300);
  for (const double b : {1e-5, 1e-3, 0.01, 0.1, 0.25}) {
    SCOPED_TRACE(b);
    const BetaSums sums({x.data(), x.size(), 1}, Weights::ones(x.size()), {&b, 1}, threads(1));
    std::vector<double> found(kPoints.size()), grid(kPoints.size());
    sums.at_points({kPoints.data(), kPoints.size(), 1}, threads(1), {found.data(), found.size()});
    sums.on_grid({{kPoints.data(), kPoints.size()}}, threads(1), {grid.data(), grid.size()});
    for (std::size_t i = 0; i < kPoints.size(); ++i) {
      real wanted = 0, largest = chen(kPoints[i], kPoints[i], b);
      for (const double value : x) {
        const real one = chen(value, kPoints[i], b);
        wanted += one;
        largest = std::max(largest, one);
      }
      // Beyond the reach a kernel is 2e-18 of its largest value.
      EXPECT_LE(std::fabs(found[i] - wanted), 1e-13L * wanted + 1e-15L * largest) << kPoints[i];
      EXPECT_EQ(found[i], grid[i]);
    }
    for (const int count : common::thread_counts()) {
      const BetaSums same({x.data(), x.size(), 1}, Weights::ones(x.size()), {&b, 1},
                          threads(count));
      std::vector<double> again(kPoints.size());
      same.at_points({kPoints.data(), kPoints.size(), 1}, threads(count),
                     {again.data(), again.size()});
      EXPECT_EQ(again, found);
    }
  }
}

TEST(Beta, ProductsOfTwoAndThree) {
  for (const std::size_t d : {std::size_t{2}, std::size_t{3}}) {
    const std::size_t n = d == 2 ? 60 : 20;
    const std::vector<double> x = samples(n * d);
    std::vector<double> w;
    for (std::size_t i = 0; i < n; ++i) w.push_back(static_cast<double>(i % 5));
    const std::vector<double> b{0.02, 0.1, 0.25};
    const BetaSums sums({x.data(), n, d}, {w.data(), n}, {b.data(), d}, threads(2));
    const std::vector<std::vector<double>> axis{{0, 0.02, 0.6}, {0, 0.3, 0.9, 1}, {0.001, 0.7}};
    std::vector<Span<const double>> axes;
    std::size_t size = 1;
    for (std::size_t k = 0; k < d; ++k) {
      axes.push_back({axis[k].data(), axis[k].size()});
      size *= axis[k].size();
    }
    std::vector<double> grid(size), points(size * d), found(size);
    sums.on_grid(axes, threads(2), {grid.data(), size});
    for (std::size_t i = 0; i < size; ++i) {
      std::size_t rest = i;
      for (std::size_t k = 0; k < d; ++k) {
        points[k * size + i] = axis[k][rest % axis[k].size()];
        rest /= axis[k].size();
      }
    }
    sums.at_points({points.data(), size, d}, threads(2), {found.data(), size});
    const double highest = *std::max_element(grid.begin(), grid.end());
    for (std::size_t i = 0; i < size; ++i) {
      real wanted = 0;
      for (std::size_t j = 0; j < n; ++j) {
        real product = w[j];
        for (std::size_t k = 0; k < d; ++k)
          product *= chen(x[k * n + j], points[k * size + i], b[k]);
        wanted += product;
      }
      EXPECT_LE(std::fabs(grid[i] - wanted), 1e-12L * wanted + 1e-14L * highest) << i;
      EXPECT_LE(std::fabs(found[i] - wanted), 1e-12L * wanted + 1e-14L * highest) << i;
    }
  }
}

TEST(Beta, SizesThatDoNotMatchAreRefused) {
  const std::vector<double> x = samples(8), b(4, 0.1);
  EXPECT_THROW(BetaSums({x.data(), 4, 2}, Weights::ones(4), {b.data(), 1}, threads(1)), error);
  EXPECT_THROW(BetaSums({x.data(), 2, 4}, Weights::ones(2), {b.data(), 4}, threads(1)), error);
}

}  // namespace
