// Sums of compact kernels with bandwidths that vary on the device, against those of the CPU.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core/direct/variable_points.hpp"
#include "gpu-check.hpp"
#include "gpu/cost.hpp"
#include "gpu/loader.hpp"
#include "gpu/variable.hpp"

namespace kestrel {

namespace {

/// A case, whose bandwidths are from `narrowest` to `ratio` times that.
struct VariableCase {
  Case of;
  std::vector<double> of_samples, of_points;

  VariableCase(const Case& data, double narrowest, double ratio) : of(data) {
    std::mt19937_64 random(data.n + data.m);
    // Small ratios are whole numbers, so that whole numbers are often exactly a bandwidth away.
    const auto width = [&] {
      const double u = std::uniform_real_distribution<double>()(random);
      return narrowest * (ratio < 8 ? std::round(1 + u * (ratio - 1)) : std::pow(ratio, u));
    };
    for (std::size_t j = 0; j < data.n; ++j) of_samples.push_back(width());
    for (std::size_t i = 0; i < data.m; ++i) of_points.push_back(width());
  }
  template <class Sum>
  std::vector<double> sums(Kernel kernel, bool by_point, const Sum& sum) const {
    const std::vector<double>& h = by_point ? of_points : of_samples;
    EvaluationPoints at;
    at.matrix = matrix(of.points, of.m, of.d);
    const VariableTask task{
        matrix(of.x, of.n, of.d), {of.w.data(), of.n}, {h.data(), h.size()}, by_point, kernel, at};
    std::vector<double> out(of.m, NAN);
    sum(task, Span<double>{out.data(), of.m});
    return out;
  }
  std::vector<double> on_cpu(Kernel kernel, bool by_point) const {
    return sums(kernel, by_point,
                [](const VariableTask& task, Span<double> out) { variable_points(task, {}, out); });
  }
  std::vector<double> on_gpu(Kernel kernel, bool by_point, bool single) const {
    return sums(kernel, by_point, [=](const VariableTask& task, Span<double> out) {
      gpu_variable(task, single, {}, out);
    });
  }
};

/// The largest error, relative to the largest value.
double error_of(const std::vector<double>& actual, const std::vector<double>& expected) {
  double largest = 0, worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::fmax(largest, expected[i]);
    const double here = std::fabs(actual[i] - expected[i]);
    worst = here <= worst ? worst : here;  // NaN is kept
  }
  return largest > 0 ? worst / largest : worst;
}

/// Prints one line for each kernel, kind of bandwidths and precision; returns how many are wrong.
int check_variable_case(const char* name, const VariableCase& c) {
  int wrong = 0;
  for (const KernelRow& row : kKernelRows) {
    const Kernel kernel = kernel_of_name(row.name);
    if (!is_compact(kernel)) continue;
    for (const bool by_point : {false, true}) {
      const std::vector<double> expected = c.on_cpu(kernel, by_point);
      for (const bool single : {false, true}) {
        const std::vector<double> actual = c.on_gpu(kernel, by_point, single);
        const std::vector<double> again = c.on_gpu(kernel, by_point, single);
        const bool same = std::memcmp(actual.data(), again.data(), 8 * c.of.m) == 0;
        const double error = error_of(actual, expected);
        const bool good = error <= (single ? 1e-5 : 1e-12) && same;
        wrong += good ? 0 : 1;
        if (!good || kernel == Kernel::epanechnikov) {
          std::printf("%s %s d=%zu n=%zu m=%zu %s by %s%s: error %.2e%s\n", good ? "ok  " : "BAD ",
                      name, c.of.d, c.of.n, c.of.m, row.name, by_point ? "point" : "sample",
                      single ? ", single" : "", error, same ? "" : ", other bits the second time");
        }
      }
    }
  }
  return wrong;
}

}  // namespace

int check_variable_tiny() {
  int wrong = 0;
  for (const std::size_t d : {1, 2, 3}) {
    wrong += check_variable_case("varying",
                                 VariableCase(make_case(300, 50, d, 1, false, false, 0), 0.5, 30));
    wrong +=
        check_variable_case("rim", VariableCase(make_case(300, 50, d, 1, true, false, 0), 1, 5));
  }
  return wrong;
}

int check_variable() {
  int wrong = check_variable_tiny();
  for (const std::size_t d : {1, 2, 3}) {
    const auto check = [&](const char* name, const Case& data, double narrowest, double ratio) {
      wrong += check_variable_case(name, VariableCase(data, narrowest, ratio));
    };
    check("many", make_case(5000, 3000, d, 1, false, false, 0), 0.3, 20);
    check("rim", make_case(2000, 1500, d, 1, true, false, 0), 1, 6);
    check("offset", make_case(2000, 500, d, 1, false, false, 1e9), 0.5, 9);
    check("wide ratio", make_case(2000, 500, d, 1, false, false, 0), 1e-4, 1e5);
    check("beyond single", make_case(2000, 500, d, 1, false, false, 0), 1e-9, 1e9);
    check("narrow", make_case(2000, 500, d, 1, false, false, 0), 1e-12, 20);
    check("one sample", make_case(1, 2000, d, 1, false, false, 0), 2, 9);
    check("one point", make_case(70000, 1, d, 1, false, false, 0), 1, 9);
    Case far = make_case(1000, 400, d, 1, false, false, 0);
    far.x[7] = 1e300;
    far.x[8] = -1e200;
    check("outliers", far, 0.5, 20);
    Case none = make_case(1000, 400, d, 1, false, false, 0);
    std::fill(none.w.begin(), none.w.end(), 0.0);
    check("no weights", none, 0.5, 20);
  }
  return wrong;
}

void time_variable() {
  for (const bool single : {false, true}) {
    for (const std::size_t d : {1, 2, 3}) {
      const VariableCase c(make_case(131072, 131072, d, 1, false, false, 0), 0.1, 20);
      const double pairs = 131072.0 * 131072.0;
      for (const char* kernel : {"epanechnikov", "triweight", "triangular", "cosine", "uniform"}) {
        for (const bool by_point : {false, true}) {
          std::vector<double> seconds;
          for (int repetition = 0; repetition < 4; ++repetition) {
            const auto begin = std::chrono::steady_clock::now();
            c.on_gpu(kernel_of_name(kernel), by_point, single);
            seconds.push_back(
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
          }
          seconds.erase(seconds.begin());
          std::sort(seconds.begin(), seconds.end());
          const double expected = gpu_variable_seconds(
              kernel_of_name(kernel), 131072, 131072, static_cast<double>(d), gpu_device(), single);
          std::printf("variable %s d=%zu %s by %s: %.1f ms, %.2f ps a pair, expected %.2f\n",
                      single ? "single" : "double", d, kernel, by_point ? "point" : "sample",
                      1e3 * seconds[1], 1e12 * seconds[1] / pairs, 1e12 * expected / pairs);
        }
      }
    }
  }
}

}  // namespace kestrel
