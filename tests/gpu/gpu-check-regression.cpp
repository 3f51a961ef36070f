// Cross-validation of regression on a real device: compared with the sums of the CPU's engines.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "gpu-check.hpp"
#include "gpu/regression.hpp"

namespace kestrel {

namespace {

using Numbers = std::vector<double>;

enum class Shape { normal, ties, offset, clusters, outliers, trend };

struct Named {
  const char* name;
  Shape shape;
};
constexpr Named kShapes[] = {{"normal", Shape::normal},     {"ties", Shape::ties},
                             {"offset", Shape::offset},     {"clusters", Shape::clusters},
                             {"outliers", Shape::outliers}, {"trend", Shape::trend}};

struct Line {
  Numbers x, y, w;

  RegressionSample sample() const {
    return {{x.data(), x.size()}, {y.data(), y.size()}, {w.data(), w.size()}};
  }
  double range() const {
    const auto ends = std::minmax_element(x.begin(), x.end());
    return *ends.second - *ends.first;
  }
};

double place(Shape shape, std::size_t i, std::mt19937_64& random) {
  const double z = normal(random);
  switch (shape) {
    case Shape::ties: return 0.1 * std::round(10 * z);
    case Shape::offset: return 1e9 + z;
    case Shape::clusters: {
      const double k = static_cast<double>(i % 7);
      return 1e6 * k / 6 + std::pow(10.0, -4 * k / 6) * z;
    }
    case Shape::outliers: return i % 1000 == 5 ? 1e6 * z : z;
    default: return z;
  }
}

Line make_line(Shape shape, std::size_t n, bool weighted) {
  std::mt19937_64 random(n);
  Line line;
  for (std::size_t i = 0; i < n; ++i) {
    line.x.push_back(place(shape, i, random));
    const double y = std::sin(line.x[i]) + 0.3 * normal(random);
    line.y.push_back(shape == Shape::trend ? 1e6 + 1e6 * line.x[i] + 1e3 * y : y);
    line.w.push_back(weighted ? 0.25 + 0.5 * static_cast<double>(i % 5) : 1.0);
  }
  return line;
}

/// `count` bandwidths in equal ratios.
Numbers bandwidths(double min, double max, std::size_t count) {
  Numbers h;
  for (std::size_t k = 0; k < count; ++k) {
    const double share = count > 1 ? static_cast<double>(k) / static_cast<double>(count - 1) : 1.0;
    h.push_back(min * std::pow(max / min, share));
  }
  return h;
}

CrossValidation on_gpu(const Line& line, const Numbers& h, const char* kernel, bool linear) {
  return gpu_cross_validate(line.sample(), {h.data(), h.size()}, kernel_of_name(kernel), linear,
                            cpu());
}

/// The largest difference, relative to the value.
double difference(const Numbers& a, const Numbers& b) {
  double max = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double relative = std::fabs(a[k] - b[k]) / (std::fabs(b[k]) + 1e-24);
    max = relative <= max ? max : relative;
  }
  return max;
}

bool same_bits(const Numbers& a, const Numbers& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

int check_line(const char* name, const Line& line, const Numbers& h, const char* kernel,
               bool linear) {
  const CrossValidation expected =
      LocalRegression(line.sample(), cpu().parallel)
          .cross_validate({h.data(), h.size()}, {kernel_of_name(kernel), 1, linear}, cpu());
  const CrossValidation actual = on_gpu(line, h, kernel, linear);
  const CrossValidation again = on_gpu(line, h, kernel, linear);
  const double error = std::fmax(difference(actual.squares, expected.squares),
                                 std::fmax(difference(actual.in_sample, expected.in_sample),
                                           difference(actual.trace, expected.trace)));
  const bool repeated = same_bits(actual.squares, again.squares) &&
                        same_bits(actual.in_sample, again.in_sample) &&
                        same_bits(actual.trace, again.trace);
  const bool good = error <= 1e-12 && repeated && actual.unsupported == expected.unsupported;
  std::printf("%s regression %s n=%zu %s %s: %.2e%s%s\n", good ? "ok  " : "BAD ", name,
              line.x.size(), kernel, linear ? "ll" : "lc", error,
              actual.unsupported == expected.unsupported ? "" : ", other neighbours",
              repeated ? "" : ", other bits the second time");
  return good ? 0 : 1;
}

int check_kernels(const Named& shape, std::size_t n, bool weighted, std::size_t count) {
  const Line line = make_line(shape.shape, n, weighted);
  const Numbers h = bandwidths(1e-5 * line.range(), 1.1 * line.range(), count);
  int wrong = 0;
  for (const KernelRow& row : kKernelRows) {
    if (row.form == KernelForm::cosine) continue;
    for (const bool linear : {false, true})
      wrong += check_line(shape.name, line, h, row.name, linear);
  }
  return wrong;
}

/// Whole calls, with transfers from and to the host: the median of five after a first one.
void time_one(const char* name, const Line& line, const Numbers& h, const char* kernel,
              bool linear) {
  Numbers seconds;
  for (int repetition = 0; repetition < 6; ++repetition) {
    const auto begin = std::chrono::steady_clock::now();
    on_gpu(line, h, kernel, linear);
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(seconds.begin() + 1, seconds.end());
  std::printf(
      "regression %s n=%zu k=%zu %s %s: %.2f ms (first %.2f), %.3f ns a fit\n", name, line.x.size(),
      h.size(), kernel, linear ? "ll" : "lc", 1e3 * seconds[3], 1e3 * seconds[0],
      1e9 * seconds[3] / static_cast<double>(line.x.size()) / static_cast<double>(h.size()));
  std::fflush(stdout);
}

}  // namespace

int check_regression_tiny() {
  return check_kernels(kShapes[0], 300, true, 3) + check_kernels(kShapes[3], 70, false, 2);
}

int check_regression() {
  int wrong = 0;
  for (const Named& shape : kShapes) {
    wrong += check_kernels(shape, 3001, false, 8);
    wrong += check_kernels(shape, 20000, true, 4);
  }
  for (const std::size_t n : {3, 4, 7, 8, 9, 127, 128, 129}) {
    wrong += check_kernels(kShapes[0], n, n % 2 == 0, 4);
  }
  // More bandwidths than a launch can have blocks in its second dimension.
  const Line few = make_line(Shape::normal, 50, true);
  wrong += check_line("many sizes", few, bandwidths(0.01 * few.range(), few.range(), 70000),
                      "epanechnikov", false);
  const Line line = make_line(Shape::normal, 1000000, false);
  for (const bool linear : {false, true}) {
    wrong += check_line("large", line, bandwidths(1e-4, 10, 4), "epanechnikov", linear);
    wrong += check_line("large", line, bandwidths(1e-4, 10, 2), "triweight", linear);
  }
  return wrong;
}

void time_regression() {
  const Line line = make_line(Shape::normal, 1000000, false);
  Numbers grid;  // that of Rohlfs & Zahran (2017)
  for (int k = 1; k <= 100; ++k) grid.push_back(line.range() * k / 100);
  time_one("grid of the paper", line, grid, "epanechnikov", false);
  const Numbers h = bandwidths(0.02, 2, 100), one(1, 0.2);
  time_one("one bandwidth", line, one, "epanechnikov", false);
  for (const KernelRow& row : kKernelRows) {
    if (row.form != KernelForm::power) continue;
    for (const bool linear : {false, true}) time_one("", line, h, row.name, linear);
  }
  time_one("weighted", make_line(Shape::normal, 1000000, true), h, "epanechnikov", false);
  time_one("clusters", make_line(Shape::clusters, 1000000, false), h, "epanechnikov", true);
  const Line less = make_line(Shape::normal, 100000, false);
  for (const bool linear : {false, true}) {
    time_one("", less, bandwidths(0.02, 2, 10), "gaussian", linear);
  }
  time_one("", make_line(Shape::normal, 20000, false), bandwidths(0.02, 2, 50), "epanechnikov",
           false);
  time_one("", make_line(Shape::normal, 10000000, false), h, "epanechnikov", false);
}

}  // namespace kestrel
