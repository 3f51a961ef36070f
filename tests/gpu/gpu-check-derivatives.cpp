// Derivatives of densities on the device, against the CPU's direct engine.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "core/direct/derivatives.hpp"
#include "core/kernel/derivative.hpp"
#include "gpu-check.hpp"
#include "gpu/derivatives.hpp"
#include "gpu/loader.hpp"

namespace kestrel {

namespace {

EvaluationPoints points_of(const Case& c) {
  EvaluationPoints at;
  at.matrix = matrix(c.points, c.m, c.d);
  return at;
}

std::vector<double> derivatives_on_gpu(const Case& c, int order) {
  std::vector<double> out(c.m * derivative_count(c.d, order), NAN);
  gpu_derivatives(matrix(c.x, c.n, c.d), {c.w.data(), c.n}, points_of(c),
                  {c.root.data(), c.root.size()}, order, cpu(), {out.data(), out.size()});
  return out;
}

/// The largest sum of the absolute values of the terms, which are the derivatives of one sample
/// each.
double largest_terms(const Case& c, int order) {
  std::vector<double> sum(c.m * derivative_count(c.d, order)), term(sum);
  for (std::size_t j = 0; j < c.n; ++j) {
    std::vector<double> x;
    for (std::size_t k = 0; k < c.d; ++k) x.push_back(c.x[k * c.n + j]);
    direct_derivatives(matrix(x, 1, c.d), {&c.w[j], 1}, points_of(c),
                       {c.root.data(), c.root.size()}, order, cpu(), {term.data(), term.size()});
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += std::fabs(term[i]);
  }
  return *std::max_element(sum.begin(), sum.end());
}

/// Prints a line for each order; returns how many are wrong.
int check_case(const char* name, const Case& c, const std::vector<int>& orders) {
  int wrong = 0;
  for (const int order : orders) {
    const std::vector<double> actual = derivatives_on_gpu(c, order);
    const std::vector<double> again = derivatives_on_gpu(c, order);
    const bool same = std::memcmp(actual.data(), again.data(), 8 * actual.size()) == 0;
    std::vector<double> expected(actual.size());
    direct_derivatives(matrix(c.x, c.n, c.d), {c.w.data(), c.n}, points_of(c),
                       {c.root.data(), c.root.size()}, order, cpu(),
                       {expected.data(), expected.size()});
    double error = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const double here = std::fabs(actual[i] - expected[i]);
      error = here <= error ? error : here;  // NaN is kept
    }
    const double terms = largest_terms(c, order);
    error /= terms > 0 ? terms : 1.0;
    const bool good = error <= 1e-12 && same;
    wrong += good ? 0 : 1;
    std::printf("%s %s d=%zu n=%zu m=%zu order %d: error %.2e of %.3g%s\n", good ? "ok  " : "BAD ",
                name, c.d, c.n, c.m, order, error, terms,
                same ? "" : ", other bits the second time");
  }
  return wrong;
}

}  // namespace

int check_derivatives_tiny() {
  return check_case("derivatives", make_case(300, 50, 2, 1.5, false, true, 0.0), {0, 2}) +
         check_case("derivatives", make_case(200, 30, 5, 4.0, false, true, 0.0), {3});
}

int check_derivatives() {
  int wrong = check_derivatives_tiny();
  for (const std::size_t d : {1, 2, 3, 4, 6}) {
    const double h = 1.2 * std::sqrt(static_cast<double>(d));
    wrong += check_case("plain      ", make_case(1500, 90, d, h, false, false, 0.0), {0, 1, 2, 4});
    wrong += check_case("correlated ", make_case(700, 33, d, h, false, true, 0.0), {1, 3});
    wrong += check_case("offset     ", make_case(700, 33, d, h, false, false, 1e6), {1, 2});
  }
  // Points that do not share a centre.
  wrong += check_case("narrow     ", make_case(2000, 100, 2, 1e-3, false, false, 0.0), {1, 2});
  for (const std::size_t d : {1, 2}) {
    wrong += check_case("high orders", make_case(1000, 60, d, 1.5, false, true, 0.0), {5, 6, 7, 8});
  }
  wrong += check_case("variables  ", make_case(300, 20, 18, 9.0, false, true, 0.0), {1, 2});
  wrong += check_case("one        ", make_case(1, 1, 1, 1.0, false, false, 0.0), {1, 8});
  wrong += check_case("one point  ", make_case(70000, 1, 2, 1.0, false, true, 0.0), {2});
  wrong += check_case("points     ", make_case(17, 3000, 3, 2.0, false, true, 0.0), {2});
  return wrong;
}

void time_derivatives() {
  for (const std::size_t d : {1, 2, 3, 4, 6, 10}) {
    for (const int order : {1, 2, 4}) {
      const Case c = make_case(65536, 65536, d, 3.0, false, false, 0.0);
      std::vector<double> seconds;
      for (int repetition = 0; repetition < 4; ++repetition) {
        const auto begin = std::chrono::steady_clock::now();
        derivatives_on_gpu(c, order);
        seconds.push_back(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      }
      seconds.erase(seconds.begin());
      std::sort(seconds.begin(), seconds.end());
      std::printf("derivatives d=%zu order %d: %.1f ms, %.1f ps a pair, expected %.1f ms\n", d,
                  order, 1e3 * seconds[1], 1e12 * seconds[1] / 65536.0 / 65536.0,
                  1e3 * gpu_derivative_seconds(65536, 65536, d, order, gpu_device()));
    }
  }
}

}  // namespace kestrel
