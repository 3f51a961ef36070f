// Mixed data on a real device: criteria, fits and densities, compared with the CPU's.
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
  GpuMixed device(sample, nullptr, kernel);
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

struct KernelCase {
  Kernel continuous;
  int order;
};
constexpr KernelCase kCases[] = {{Kernel::gaussian, 4},     {Kernel::epanechnikov, 2},
                                 {Kernel::epanechnikov, 6}, {Kernel::uniform, 2},
                                 {Kernel::triweight, 2},    {Kernel::triangular, 2},
                                 {Kernel::tricube, 2},      {Kernel::cosine, 2}};

/// The largest difference, beside the largest value.
double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0, largest = 1e-300;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i])) {
      if (!std::isnan(a[i])) return HUGE_VAL;
      continue;
    }
    largest = std::fmax(largest, std::fabs(b[i]));
    most = std::fmax(most, std::fabs(a[i] - b[i]));
  }
  return a.size() == b.size() ? most / largest : HUGE_VAL;
}

double difference(const MixedCriterion& a, const MixedCriterion& b) {
  if (a.unsupported != b.unsupported) return HUGE_VAL;
  double size = 1 + std::fabs(b.value), most = std::fabs(a.value - b.value);
  for (std::size_t k = 0; k < b.gradient.size(); ++k) {
    size = std::fmax(size, std::fabs(b.gradient[k]));
    most = std::fmax(most, std::fabs(a.gradient[k] - b.gradient[k]));
  }
  return a.value == b.value && std::isinf(b.value) ? 0.0 : most / size;
}

int say(double error, double allowed, const char* what, const MixedCase& data,
        const MixedKernel& kernel) {
  const bool good = error <= allowed;
  std::printf("%s mixed %s n=%zu p=%zu kernel %d of order %d%s: %.2e\n", good ? "ok  " : "BAD ",
              what, data.n, data.p, static_cast<int>(kernel.continuous), kernel.order,
              kernel.local_linear ? " ll" : "", error);
  return good ? 0 : 1;
}

/// Everything but the criteria of check_one(), with all kernels.
int check_kernels(std::size_t n, std::size_t p) {
  const MixedCase data = make_mixed(n, p, 0.0), other = make_mixed(n / 2 + 1, p, 0.1);
  const MixedSample sample = data.sample(), points = other.sample();
  MixedGiven none(p + 2, false), given = none;
  given[0] = given[p] = true;
  std::vector<double> error2;
  for (const double y : data.y) error2.push_back(y * y);
  const Span<const double> errors{error2.data(), error2.size()};
  int wrong = 0;
  for (const KernelCase& of : kCases) {
    MixedKernel kernel = kernel_for(p, 0.8, false);
    if (p > 3) kernel.h[3] = 1.0;  // densities
    kernel.continuous = of.continuous;
    kernel.order = of.order;
    // Weights of both signs cancel.
    const double allowed = of.order > 2 ? 1e-9 : 1e-12;
    GpuMixed device(sample, nullptr, kernel);
    const auto add = [&](double error, double most, const char* what) {
      wrong += say(error, most, what, data, kernel);
    };
    add(difference(device.criterion(kernel, MixedMethod::least_squares, true, cpu()),
                   mixed_criterion(sample, kernel, MixedMethod::least_squares, true, cpu())),
        10 * allowed, "criterion");
    add(difference(device.log_likelihood(kernel, none, true, cpu()),
                   mixed_log_likelihood(sample, kernel, none, true, cpu())),
        10 * allowed, "cv.ml");
    if (p > 1) {
      add(difference(device.log_likelihood(kernel, given, true, cpu()),
                     mixed_log_likelihood(sample, kernel, given, true, cpu())),
          10 * allowed, "conditional cv.ml");
    }
    add(difference(device.squared_error(kernel, true, cpu()),
                   mixed_squared_error(sample, kernel, true, cpu())),
        1e-11, "cv.ls");
    for (const bool linear : {false, true}) {
      if (linear && of.order > 2) continue;
      kernel.local_linear = linear;
      for (const MixedSample* at : {&sample, &points}) {
        GpuMixed there(sample, at == &sample ? nullptr : at, kernel);
        const MixedFits got = there.fits(kernel, errors, cpu());
        const MixedFits wanted = mixed_fits(sample, *at, kernel, errors, false, cpu());
        add(difference(got.mean, wanted.mean), allowed, "fits");
        add(difference(got.variance, wanted.variance), 10 * allowed, "their variances");
        if (linear) continue;
        const MixedDensities d = there.densities(kernel, cpu());
        const MixedDensities w = mixed_densities(sample, *at, kernel, none, false, cpu());
        add(difference(d.density, w.density), 1e-12, "densities");
        add(difference(d.variance, w.variance), 1e-12, "their variances");
      }
      GpuMixed at_data(sample, nullptr, kernel);
      const MixedResiduals got = at_data.residuals(kernel, cpu());
      const MixedResiduals wanted = mixed_residuals(sample, kernel, cpu());
      add(difference(got.deviation, wanted.deviation), allowed, "residuals");
      add(difference(got.leverage, wanted.leverage), allowed, "leverages");
    }
  }
  return wrong;
}

/// Criteria with gradients: the median of three after a first one.
void time_one(std::size_t n, std::size_t p, bool linear) {
  const MixedCase data = make_mixed(n, p, 0.0);
  const MixedSample sample = data.sample();
  const MixedKernel kernel = kernel_for(p, 0.4, linear);
  GpuMixed device(sample, nullptr, kernel);
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

/// Sums of every task, with a Gaussian kernel and another one: milliseconds after a first one.
void time_tasks(std::size_t n, std::size_t p) {
  const MixedCase data = make_mixed(n, p, 0.0);
  const MixedSample sample = data.sample();
  const MixedGiven none(p + 2, false);
  const std::vector<double> error2(n, 1.0);
  for (const Kernel continuous : {Kernel::gaussian, Kernel::epanechnikov, Kernel::tricube}) {
    MixedKernel kernel = kernel_for(p, 0.4, false);
    kernel.continuous = continuous;
    GpuMixed device(sample, nullptr, kernel);
    const auto time = [&](const char* what, double times, const auto& call) {
      call();
      const auto begin = std::chrono::steady_clock::now();
      call();
      const double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      std::printf("mixed %s n=%zu p=%zu kernel %d: %.2f ms, %.2f ps a pair\n", what, n, p,
                  static_cast<int>(continuous), 1e3 * seconds,
                  1e12 * seconds / times / static_cast<double>(n) / static_cast<double>(n));
      std::fflush(stdout);
    };
    time("lc criterion", 2,
         [&] { device.criterion(kernel, MixedMethod::least_squares, true, cpu()); });
    time("cv.ml", 1, [&] { device.log_likelihood(kernel, none, true, cpu()); });
    time("cv.ls", 2, [&] { device.squared_error(kernel, true, cpu()); });
    time("fits", 2, [&] { device.fits(kernel, {error2.data(), n}, cpu()); });
  }
}

}  // namespace

int check_mixed_tiny() { return check_shapes({130}) + check_kernels(130, 2); }

int check_mixed() {
  int wrong = check_shapes({2, 3, 127, 128, 129, 3000});
  for (std::size_t p = 1; p <= KESTREL_GPU_MIXED_COLUMNS; ++p) {
    for (const std::size_t n : {3, 128, 2000}) wrong += check_kernels(n, p);
  }
  return wrong;
}

void time_mixed() {
  for (const std::size_t p : {1, 3}) time_tasks(50000, p);
  for (const bool linear : {false, true}) {
    for (std::size_t p = 1; p <= KESTREL_GPU_MIXED_COLUMNS; ++p) {
      time_one(10000, p, linear);
      time_one(50000, p, linear);
    }
  }
}

}  // namespace kestrel
