// Criteria of mixed data on a real device: compared with the CPU's.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "gpu-check.hpp"
#include "gpu/mixed.hpp"

namespace kestrel {

namespace {

struct MixedCase {
  std::size_t n, p;
  std::vector<double> x, ordered, y;
  std::vector<int> factor;

  MixedSample sample() const {
    const MixedRows rows{{x.data(), n, p}, {factor.data(), n}, {ordered.data(), n, 1}, n, 1};
    return MixedSample(rows, {3, 4}, {y.data(), n}, {}, {});
  }
};

MixedCase make_mixed(std::size_t n, std::size_t p, double offset) {
  std::mt19937_64 random(10 * n + p);
  MixedCase made{n, p, {}, {}, {}, {}};
  for (std::size_t k = 0; k < n * p; ++k) made.x.push_back(offset + normal(random));
  for (std::size_t i = 0; i < n; ++i) {
    made.factor.push_back(1 + static_cast<int>(random() % 3));
    made.ordered.push_back(1 + static_cast<double>(random() % 4));
    made.y.push_back(std::sin(made.x[i] - offset) + 0.4 * made.factor[i] + 0.3 * normal(random));
  }
  return made;
}

MixedKernel kernel_for(std::size_t p, double h, bool linear) {
  MixedKernel kernel;
  for (std::size_t c = 0; c < p; ++c) {
    kernel.h.push_back(c == 3 ? HUGE_VAL : h * (1 + 0.3 * static_cast<double>(c)));
  }
  kernel.lambda = {0.2, 0.4};
  kernel.local_linear = linear;
  return kernel;
}

bool same_bits(const MixedCriterion& a, const MixedCriterion& b) {
  return a.value == b.value && a.gradient == b.gradient;
}

int check_one(const char* name, const MixedCase& data, double h, bool linear) {
  const MixedSample sample = data.sample();
  const MixedKernel kernel = kernel_for(data.p, h, linear);
  GpuMixed device(sample, kernel);
  int wrong = 0;
  for (const MixedMethod method : {MixedMethod::least_squares, MixedMethod::aic}) {
    const MixedCriterion wanted = mixed_criterion(sample, kernel, method, true, cpu());
    const MixedCriterion got = device.criterion(kernel, method, true, cpu());
    const MixedCriterion again = device.criterion(kernel, method, true, cpu());
    double largest = 1 + std::fabs(wanted.value), slope_error = 0;
    for (const double by : wanted.gradient) largest = std::fmax(largest, std::fabs(by));
    for (std::size_t k = 0; k < wanted.gradient.size(); ++k) {
      slope_error = std::fmax(slope_error, std::fabs(got.gradient[k] - wanted.gradient[k]));
    }
    const bool infinite = std::isinf(wanted.value) && got.value == wanted.value;
    const double error =
        infinite ? 0 : std::fabs(got.value - wanted.value) / (1 + std::fabs(wanted.value));
    const bool good = error <= 1e-12 && (infinite || slope_error <= 1e-11 * largest) &&
                      got.unsupported == wanted.unsupported && got.ridged == wanted.ridged &&
                      same_bits(got, again);
    std::printf("%s mixed %s n=%zu p=%zu h=%g %s %s: %.2e, gradient %.2e%s\n",
                good ? "ok  " : "BAD ", name, data.n, data.p, h, linear ? "ll" : "lc",
                method == MixedMethod::aic ? "aic" : "ls", error, slope_error / largest,
                same_bits(got, again) ? "" : ", other bits the second time");
    wrong += good ? 0 : 1;
  }
  return wrong;
}

int check_shapes(const std::vector<std::size_t>& sizes) {
  int wrong = 0;
  for (const bool linear : {false, true}) {
    for (std::size_t p = 1; p <= KESTREL_GPU_MIXED_COLUMNS; ++p) {
      for (const std::size_t n : sizes) {
        for (const double h : {0.1, 0.8}) {
          wrong += check_one("normal", make_mixed(n, p, 0.0), h, linear);
        }
      }
      wrong += check_one("offset", make_mixed(sizes.back(), p, 1e9), 0.8, linear);
    }
  }
  return wrong;
}

/// Criteria with gradients: the median of three after a first one.
void time_one(std::size_t n, std::size_t p, bool linear) {
  const MixedCase data = make_mixed(n, p, 0.0);
  const MixedSample sample = data.sample();
  const MixedKernel kernel = kernel_for(p, 0.4, linear);
  GpuMixed device(sample, kernel);
  std::vector<double> seconds;
  for (int repetition = 0; repetition < 4; ++repetition) {
    const auto begin = std::chrono::steady_clock::now();
    device.criterion(kernel, MixedMethod::least_squares, true, cpu());
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(seconds.begin() + 1, seconds.end());
  std::printf("mixed n=%zu p=%zu %s: %.2f ms (first %.2f), %.2f ps a pair\n", n, p,
              linear ? "ll" : "lc", 1e3 * seconds[2], 1e3 * seconds[0],
              1e12 * seconds[2] / static_cast<double>(n) / static_cast<double>(n));
  std::fflush(stdout);
}

}  // namespace

int check_mixed_tiny() { return check_shapes({130}); }

int check_mixed() { return check_shapes({2, 3, 127, 128, 129, 3000}); }

void time_mixed() {
  for (const bool linear : {false, true}) {
    for (std::size_t p = 1; p <= KESTREL_GPU_MIXED_COLUMNS; ++p) {
      time_one(10000, p, linear);
      time_one(50000, p, linear);
    }
  }
}

}  // namespace kestrel
