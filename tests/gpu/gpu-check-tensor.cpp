// Gaussian sums of many variables, which inner products on the tensor cores take over if the points
// are near enough, against sums in long double.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "gpu-check.hpp"
#include "gpu/density.hpp"

using namespace kestrel;

namespace {

/// The sum at point i; the root is lower triangular.
long double exact_sum(const Case& c, std::size_t i) {
  long double sum = 0, constant = 1;
  for (std::size_t k = 0; k < c.d; ++k)
    constant *= c.root[k * c.d + k] * std::sqrt(2 * std::acos(-1.0L));
  std::vector<long double> z(c.d);
  for (std::size_t j = 0; j < c.n; ++j) {
    long double square = 0;
    for (std::size_t k = 0; k < c.d; ++k) {
      z[k] = static_cast<long double>(c.points[k * c.m + i]) - c.x[k * c.n + j];
      for (std::size_t l = 0; l < k; ++l) z[k] -= c.root[l * c.d + k] * z[l];
      z[k] /= c.root[k * c.d + k];
      square += z[k] * z[k];
    }
    sum += c.w[j] * std::exp(-square / 2);
  }
  return sum / constant;
}

int check_sums(const char* name, const Case& c) {
  std::vector<long double> expected(c.m);
  long double largest = 0;
  for (std::size_t i = 0; i < c.m; ++i) {
    expected[i] = exact_sum(c, i);
    largest = std::fmax(largest, expected[i]);
  }
  EvaluationPoints at;
  at.matrix = matrix(c.points, c.m, c.d);
  int wrong = 0;
  for (const bool single : {false, true}) {
    std::vector<double> actual(c.m, NAN), again(c.m, NAN);
    for (std::vector<double>* out : {&actual, &again}) {
      gpu_density(matrix(c.x, c.n, c.d), {c.w.data(), c.n}, at,
                  {Kernel::gaussian, KernelType::radial}, {c.root.data(), c.root.size()}, single,
                  cpu(), {out->data(), c.m});
    }
    long double error = 0;
    for (std::size_t i = 0; i < c.m; ++i) {
      const long double here = std::fabs(actual[i] - expected[i]);
      error = here <= error ? error : here;  // NaN is kept
    }
    error /= largest > 0 ? largest : 1;
    const bool same = std::memcmp(actual.data(), again.data(), 8 * c.m) == 0;
    const bool good = error <= (single ? 1e-5L : 1e-12L) && same;
    wrong += good ? 0 : 1;
    std::printf("%s tensor %s d=%zu n=%zu m=%zu h=%.3g%s: error %.2Le of %.3Lg%s\n",
                good ? "ok  " : "BAD ", name, c.d, c.n, c.m, c.root[0], single ? " single" : "",
                error, largest, same ? "" : ", other bits the second time");
  }
  return wrong;
}

/// Every third point is a sample.
Case near_samples(std::size_t n, std::size_t m, std::size_t d, double h, bool correlated,
                  double offset) {
  Case c = make_case(n, m, d, h, false, correlated, offset);
  for (std::size_t i = 0; i < m; i += 3) {
    for (std::size_t k = 0; k < d; ++k) c.points[k * m + i] = c.x[k * n + i % n];
  }
  return c;
}

}  // namespace

int kestrel::check_tensor_tiny() {
  int wrong = 0;
  for (const std::size_t d : {8, 17, 62}) {
    wrong += check_sums("tiny   ", near_samples(130, 33, d, 3.0 * std::sqrt(1.0 * d), false, 0));
  }
  return wrong;
}

int kestrel::check_tensor() {
  int wrong = 0;
  const std::size_t sizes[][2] = {{1, 1},    {2, 17},    {31, 15},   {33, 16},
                                  {64, 129}, {127, 255}, {129, 257}, {1025, 31}};
  for (const std::size_t d : {8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 33, 40, 47, 57, 62, 64, 65}) {
    const double wide = 3.0 * std::sqrt(static_cast<double>(d));
    for (const auto& size : sizes) {
      wrong += check_sums("size   ", near_samples(size[0], size[1], d, wide, true, 0));
    }
    // From the tensor cores to differences.
    for (const double h : {0.1, 0.3, 0.4, 0.6, 0.8, 1.0, 1.3}) {
      wrong += check_sums("near   ", near_samples(500, 70, d, h * wide, false, 0));
    }
    wrong += check_sums("tiny h ", near_samples(300, 70, d, d > 20 ? 1e-3 : 1e-8, false, 0));
    wrong += check_sums("huge h ", near_samples(300, 70, d, d > 20 ? 1e4 : 1e12, false, 0));
    wrong += check_sums("offset ", near_samples(300, 70, d, wide, true, 1e9));
    Case far = near_samples(300, 70, d, wide, false, 0);
    for (std::size_t k = 0; k < d; ++k) far.x[k * far.n] = far.points[k * far.m] = 3e6;
    wrong += check_sums("outlier", far);
    Case light = near_samples(300, 70, d, wide, false, 0);
    for (std::size_t j = 0; j < light.n; ++j) light.w[j] *= std::exp(-0.3 * static_cast<double>(j));
    wrong += check_sums("weights", light);
  }
  return wrong;
}
