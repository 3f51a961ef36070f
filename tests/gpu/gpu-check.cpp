// The CUDA object on a real device, without R: every kernel, many dimensions, both precisions,
// against the CPU's direct engine; the same bits twice; rates with transfers. Returns 1 if anything
// is wrong. Built and run by tools/gpu-check.sh.
//
//   gpu-check OBJECT
//   [device|check|check-tensor|check-derivatives|check-variable|check-pairs|check-scanline|
//     check-regression|check-mixed|brief|tiny-density|tiny-tensor|tiny-derivatives|tiny-variable|
//     tiny-pairs|tiny-scanline|tiny-regression|tiny-mixed|time|time-derivatives|time-variable|
//     time-pairs|time-scanline|time-regression|time-mixed|bench-scanline|check-devices|check-lost|
//     tiny-devices|bench-devices|bench-devices-grid]
//
// check-lost: OBJECT must be that of failing-cuda.cpp. bench-devices: with that of timed-cuda.cpp
// it also prints where the time goes. brief, tiny: fewer shapes, for the memcheck and the racecheck
// of compute-sanitizer.
#include "gpu-check.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/direct/direct.hpp"
#include "gpu/density.hpp"
#include "gpu/loader.hpp"

using namespace kestrel;

namespace {

std::vector<double> on_cpu(const Case& c, const KernelChoice& choice) {
  std::vector<double> out(c.m);
  EvaluationPoints at;
  at.matrix = matrix(c.points, c.m, c.d);
  direct_density(matrix(c.x, c.n, c.d), {c.w.data(), c.n}, at, choice,
                 {c.root.data(), c.root.size()}, cpu(), {out.data(), c.m});
  return out;
}

std::vector<double> on_gpu(const Case& c, const KernelChoice& choice, bool single) {
  std::vector<double> out(c.m, NAN);
  EvaluationPoints at;
  at.matrix = matrix(c.points, c.m, c.d);
  gpu_density(matrix(c.x, c.n, c.d), {c.w.data(), c.n}, at, choice, {c.root.data(), c.root.size()},
              single, cpu(), {out.data(), c.m});
  return out;
}

/// Prints one line for each kernel and precision; returns how many are wrong.
int check_case(const char* name, const Case& c, bool product_too) {
  int wrong = 0;
  for (const KernelRow& row : kKernelRows) {
    const char* kernel = row.name;
    for (int product = 0; product <= (product_too ? 1 : 0); ++product) {
      const KernelChoice choice{kernel_of_name(kernel),
                                product ? KernelType::product : KernelType::radial};
      const std::vector<double> expected = on_cpu(c, choice);
      double largest = 0;
      for (double value : expected) largest = std::fmax(largest, value);
      for (int single = 0; single <= 1; ++single) {
        const std::vector<double> actual = on_gpu(c, choice, single != 0);
        const std::vector<double> again = on_gpu(c, choice, single != 0);
        const bool same = std::memcmp(actual.data(), again.data(), 8 * c.m) == 0;
        double error = 0;
        for (std::size_t i = 0; i < c.m; ++i) {
          const double here = std::fabs(actual[i] - expected[i]);
          error = here <= error ? error : here;  // NaN is kept
        }
        error /= largest > 0 ? largest : 1.0;
        const bool good = error <= (single ? 1e-5 : 1e-12) && same;
        wrong += good ? 0 : 1;
        if (!good || (single == 0 && std::strcmp(kernel, "gaussian") == 0)) {
          std::printf("%s %s d=%zu n=%zu m=%zu %s %s: error %.2e of %.3g%s\n",
                      good ? "ok  " : "BAD ", name, c.d, c.n, c.m, kernel,
                      single ? (product ? "product single" : "single") : (product ? "product" : ""),
                      error, largest, same ? "" : ", other bits the second time");
        }
      }
    }
  }
  return wrong;
}

/// One sample exactly a bandwidth from the centre, where the points that pad the last block lie.
Case make_rim_at_centre() {
  Case c = make_case(40, 50, 2, 3.0, true, false, 0.0);
  for (double& e : c.points) e = std::fmin(std::fmax(e, -5.0), 5.0);
  c.points[0] = c.points[c.m] = -5.0;
  c.points[1] = c.points[c.m + 1] = 5.0;
  c.x[0] = 3.0;
  c.x[c.n] = 0.0;
  return c;
}

int check_brief() {
  int wrong = check_case("centre    ", make_rim_at_centre(), false);
  for (std::size_t d : {1, 3, 7, 17}) {
    wrong += check_case("plain     ", make_case(1500, 300, d, 3.0 * d, false, false, 0.0), true);
    wrong += check_case("rim       ", make_case(500, 100, d, 5.0, true, true, 0.0), false);
  }
  wrong += check_tensor_tiny();
  wrong += check_derivatives_tiny();
  wrong += check_variable_tiny();
  wrong += check_pairs_tiny();
  wrong += check_scanline_tiny();
  wrong += check_regression_tiny();
  wrong += check_mixed_tiny();
  return wrong;
}

int check_density_tiny() {
  int wrong = 0;
  for (std::size_t d : {2, 17}) {
    wrong += check_case("plain     ", make_case(300, 50, d, 3.0 * d, false, false, 0.0), false);
  }
  return wrong;
}

int check_all() {
  int wrong = 0;
  for (std::size_t d : {1, 2, 3, 4, 5, 6, 7, 8, 14, 16, 17, 30, 33, 62}) {
    const double wide = 3.0 * std::sqrt(static_cast<double>(d));
    wrong += check_case("plain     ", make_case(3000, 700, d, wide, false, false, 0.0), true);
    wrong += check_case("correlated", make_case(1500, 300, d, wide, false, true, 0.0), false);
  }
  for (std::size_t d : {1, 2, 3, 5}) {
    wrong += check_case("whole     ", make_case(2000, 500, d, 3.0, true, false, 0.0), true);
    wrong += check_case("rim       ", make_case(2000, 500, d, 5.0, true, true, 0.0), false);
    wrong += check_case("offset    ", make_case(2000, 500, d, 1.0, false, false, 1e6), true);
    wrong += check_case("narrow    ", make_case(2000, 400, d, 1e-3, false, true, 0.0), false);
  }
  // Weights of any size; in single precision the largest one matters.
  for (std::size_t d : {1, 3, 9}) {
    Case c = make_case(3000, 500, d, 2.0 * d, false, false, 0.0);
    for (std::size_t i = 0; i < c.n; ++i) c.w[i] *= std::exp(5.0 * c.x[i]);
    wrong += check_case("weights   ", c, true);
    std::fill(c.w.begin(), c.w.end(), 0.0);
    wrong += check_case("none      ", c, true);
  }
  // By inner products and by differences: points near the centre, and far from it.
  for (std::size_t d : {1, 2, 3, 6, 8}) {
    for (double h : {0.3, 0.6, 1.2, 2.4, 4.8}) {
      wrong += check_case("edge      ", make_case(3000, 700, d, h, false, false, 0.0), false);
    }
  }
  for (std::size_t d : {7, 16, 40}) {
    wrong += check_case("near      ", make_case(4000, 700, d, 6.0, false, false, 0.0), false);
    wrong += check_case("far       ", make_case(4000, 700, d, 0.2, true, false, 0.0), false);
  }
  wrong += check_case("one       ", make_case(1, 1, 1, 1.0, false, false, 0.0), true);
  wrong += check_case("one sample", make_case(1, 2000, 3, 2.0, false, true, 0.0), false);
  wrong += check_case("one point ", make_case(70000, 1, 2, 1.0, false, true, 0.0), false);
  wrong += check_case("long      ", make_case(600000, 20, 2, 0.3, false, true, 0.0), false);
  wrong += check_tensor();
  wrong += check_derivatives();
  wrong += check_variable();
  wrong += check_pairs();
  wrong += check_scanline();
  wrong += check_regression();
  wrong += check_mixed();
  return wrong;
}

/// Whole calls, with transfers from and to the host: the median of three after a first one.
void time_all() {
  for (int single = 0; single <= 1; ++single) {
    for (std::size_t d : {1, 2, 3, 6, 8, 14, 16, 30, 62}) {
      const Case c = make_case(131072, 131072, d, 3.0, false, false, 0.0);
      for (const char* kernel : {"gaussian", "epanechnikov", "uniform"}) {
        std::vector<double> seconds;
        for (int repetition = 0; repetition < 4; ++repetition) {
          const auto begin = std::chrono::steady_clock::now();
          on_gpu(c, {kernel_of_name(kernel), KernelType::radial}, single != 0);
          seconds.push_back(
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        }
        seconds.erase(seconds.begin());
        std::sort(seconds.begin(), seconds.end());
        std::printf("call %s %s d=%zu: %.1f e9 pairs/s, %.1f ms\n", single ? "single" : "double",
                    kernel, d, 1e-9 * 131072.0 * 131072.0 / seconds[1], 1e3 * seconds[1]);
        std::fflush(stdout);
      }
    }
  }
}

}  // namespace

namespace kestrel {

std::string& object_path() {
  static std::string path;
  return path;
}

}  // namespace kestrel

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const std::string what = count > 2 ? arguments[2] : "check";
  const std::map<std::string, std::function<int()>> checks = {
      {"check", check_all},
      {"check-tensor", check_tensor},
      {"check-derivatives", check_derivatives},
      {"check-variable", check_variable},
      {"check-pairs", check_pairs},
      {"check-scanline", check_scanline},
      {"check-regression", check_regression},
      {"check-mixed", check_mixed},
      {"brief", check_brief},
      {"tiny-density", check_density_tiny},
      {"tiny-tensor", check_tensor_tiny},
      {"tiny-derivatives", check_derivatives_tiny},
      {"tiny-variable", check_variable_tiny},
      {"tiny-pairs", check_pairs_tiny},
      {"tiny-scanline", check_scanline_tiny},
      {"tiny-regression", check_regression_tiny},
      {"tiny-mixed", check_mixed_tiny},
      {"check-devices", check_devices},
      {"tiny-devices", check_devices_tiny},
      {"check-lost", check_one_lost}};
  const std::map<std::string, std::function<void()>> others = {
      {"device", [] {}},
      {"time", time_all},
      {"time-derivatives", time_derivatives},
      {"time-variable", time_variable},
      {"time-pairs", time_pairs},
      {"time-scanline", time_scanline},
      {"time-regression", time_regression},
      {"time-mixed", time_mixed},
      {"bench-scanline", bench_scanline},
      {"bench-devices", bench_devices},
      {"bench-devices-grid", bench_devices_grid}};
  const auto check = checks.find(what);
  const auto other = others.find(what);
  if (check == checks.end() && other == others.end()) return 2;
  // So that the output is complete even if the program is stopped.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  object_path() = arguments[1];
  set_gpu_object(object_path(), "");
  try {
    std::printf("%s\n", gpu_name().c_str());
    if (other != others.end()) {
      other->second();
      return 0;
    }
    const int wrong = check->second();
    std::printf("%d wrong\n", wrong);
    return wrong == 0 ? 0 : 1;
  } catch (const std::exception& problem) {
    std::printf("failed: %s\n", problem.what());
    return 1;
  }
}
