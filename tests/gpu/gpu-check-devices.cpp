// Tasks on several real devices: the same bits for any number of them and with one that fails on
// the way (failing-cuda.cpp), and how much faster they are.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "core/direct/direct.hpp"
#include "core/direct/lscv.hpp"
#include "core/kernel/derivative.hpp"
#include "core/mixed/mixed_regression.hpp"
#include "gpu-check.hpp"
#include "gpu/density.hpp"
#include "gpu/derivatives.hpp"
#include "gpu/loader.hpp"
#include "gpu/mixed.hpp"
#include "gpu/pairs.hpp"
#include "gpu/regression.hpp"
#include "gpu/scanline.hpp"
#include "timed-calls.hpp"

namespace kestrel {

namespace {

using Numbers = std::vector<double>;

/// A task, and what it returns. The data are made once. `beside`: the same by the CPU, if that does
/// not take long.
struct Task {
  std::string name;
  std::function<Numbers()> run;
  std::function<Numbers()> beside = nullptr;
};

Numbers numbers_of(const LscvPairSums& sums) {
  Numbers all = sums.kernel.moments;
  const Numbers& more = sums.convolution.moments;
  all.insert(all.end(), more.begin(), more.end());
  all.push_back(sums.kernel.sum);
  all.push_back(sums.convolution.sum);
  return all;
}

Numbers numbers_of(const PairCurve& curve) {
  Numbers all = curve.kernel;
  all.insert(all.end(), curve.convolution.begin(), curve.convolution.end());
  return all;
}

Numbers numbers_of(const MixedCriterion& found) {
  Numbers all = found.gradient;
  all.push_back(found.value);
  return all;
}

Task density_task(std::size_t n, std::size_t m, std::size_t d, bool single, double h = 0.5) {
  const auto c = std::make_shared<Case>(make_case(n, m, d, h * std::sqrt(d), false, true, 0.0));
  const std::string name = "direct, d = " + std::to_string(d) + (single ? ", single" : "");
  const auto of = [c](const auto& density) {
    Numbers out(c->m);
    EvaluationPoints at;
    at.matrix = matrix(c->points, c->m, c->d);
    density(matrix(c->x, c->n, c->d), Weights(Span<const double>{c->w.data(), c->n}), at,
            Span<const double>{c->root.data(), c->root.size()}, Span<double>{out.data(), c->m});
    return out;
  };
  return {name,
          [=] {
            return of([&](const auto& x, Weights w, const auto& at, auto root, auto out) {
              gpu_density(x, w, at, {}, root, single, cpu(), out);
            });
          },
          [=] {
            return of([&](const auto& x, Weights w, const auto& at, auto root, auto out) {
              direct_density(x, w, at, {}, root, cpu(), out);
            });
          }};
}

Task derivative_task(std::size_t n, std::size_t m) {
  const auto c = std::make_shared<Case>(make_case(n, m, 2, 0.7, false, true, 0.0));
  return {"derivatives, order 2", [c] {
            Numbers out(c->m * derivative_count(2, 2));
            EvaluationPoints at;
            at.matrix = matrix(c->points, c->m, 2);
            gpu_derivatives(matrix(c->x, c->n, 2), {c->w.data(), c->n}, at,
                            {c->root.data(), c->root.size()}, 2, cpu(), {out.data(), out.size()});
            return out;
          }};
}

Task curve_task(std::size_t n) {
  const auto c = std::make_shared<Case>(make_case(n, 1, 6, 0.9, false, false, 0.0));
  const auto h = std::make_shared<Numbers>();
  for (int k = 0; k < 64; ++k) h->push_back(0.25 * std::exp(k * std::log(16.0) / 63));
  return {"LSCV_h, 64 bandwidths",
          [c, h] {
            return numbers_of(gpu_lscv_curve(matrix(c->x, c->n, 6), {c->w.data(), c->n},
                                             {c->root.data(), c->root.size()},
                                             {h->data(), h->size()}, false, cpu()));
          },
          [c, h] {
            return numbers_of(direct_lscv_curve(matrix(c->x, c->n, 6), {c->w.data(), c->n},
                                                {c->root.data(), c->root.size()},
                                                {h->data(), h->size()}, cpu()));
          }};
}

Task gradient_task(std::size_t n) {
  const auto c = std::make_shared<Case>(make_case(n, 1, 6, 0.9, false, true, 0.0));
  return {"LSCV_H with its gradient",
          [c] {
            return numbers_of(gpu_lscv(matrix(c->x, c->n, 6), {c->w.data(), c->n},
                                       {c->root.data(), c->root.size()}, true, cpu()));
          },
          [c] {
            return numbers_of(direct_lscv(matrix(c->x, c->n, 6), {c->w.data(), c->n},
                                          {c->root.data(), c->root.size()}, true, cpu()));
          }};
}

Task psi_task(std::size_t n) {
  const auto c = std::make_shared<Case>(make_case(n, 1, 1, 0.9, false, false, 0.0));
  return {"psi_6", [c] {
            return Numbers{gpu_pair_laplacian(matrix(c->x, c->n, 1), {c->w.data(), c->n}, 0.3, 6,
                                              false, cpu())};
          }};
}

Task regression_task(std::size_t n, Kernel kernel, std::size_t count) {
  struct Line {
    Numbers x, y, w, h;
  };
  const auto line = std::make_shared<Line>();
  std::mt19937_64 random(n);
  for (std::size_t i = 0; i < n; ++i) {
    line->x.push_back(normal(random));
    line->y.push_back(std::sin(line->x.back()) + 0.3 * normal(random));
    line->w.push_back(1.0);
  }
  for (std::size_t k = 0; k < count; ++k) {
    line->h.push_back(
        0.02 * std::exp(static_cast<double>(k) * std::log(100.0) / static_cast<double>(count)));
  }
  const bool gaussian = kernel == Kernel::gaussian;
  return {std::string("regression CV, ") + (gaussian ? "Gaussian" : "Epanechnikov"), [=] {
            const Line& of = *line;
            const CrossValidation found =
                gpu_cross_validate({{of.x.data(), n}, {of.y.data(), n}, {of.w.data(), n}},
                                   {of.h.data(), of.h.size()}, kernel, true, cpu());
            Numbers all = found.squares;
            all.insert(all.end(), found.trace.begin(), found.trace.end());
            return all;
          }};
}

/// As a search with several regressors evaluates from one start after another.
Task mixed_task(std::size_t n, int starts) {
  struct Rows {
    Numbers x, ordered, y;
    std::vector<int> factor;
  };
  const auto rows = std::make_shared<Rows>();
  std::mt19937_64 random(n);
  for (std::size_t k = 0; k < 3 * n; ++k) rows->x.push_back(normal(random));
  for (std::size_t i = 0; i < n; ++i) {
    rows->factor.push_back(1 + static_cast<int>(random() % 3));
    rows->ordered.push_back(1 + static_cast<double>(random() % 4));
    rows->y.push_back(std::sin(rows->x[i]) + 0.4 * rows->factor[i] + 0.3 * normal(random));
  }
  const MixedRows view{
      {rows->x.data(), n, 3}, {rows->factor.data(), n}, {rows->ordered.data(), n, 1}, n, 1};
  const auto sample = std::make_shared<MixedSample>(view, std::vector<int>{3, 4},
                                                    Span<const double>{rows->y.data(), n},
                                                    Weights{}, ParallelOptions{});
  const auto from_starts = [rows, sample, starts](const auto& criterion) {
    Numbers all;
    for (int start = 1; start <= starts; ++start) {
      MixedKernel kernel;
      kernel.h.assign(3, 0.3 * start);
      kernel.lambda = {0.2, 0.4};
      const Numbers found = numbers_of(criterion(*sample, kernel));
      all.insert(all.end(), found.begin(), found.end());
    }
    return all;
  };
  return {"regression starts",
          [=] {
            return from_starts([](const MixedSample& of, const MixedKernel& kernel) {
              return GpuMixed(of, nullptr, kernel)
                  .criterion(kernel, MixedMethod::least_squares, true, cpu());
            });
          },
          [=] {
            return from_starts([](const MixedSample& of, const MixedKernel& kernel) {
              return mixed_criterion(of, kernel, MixedMethod::least_squares, true, cpu());
            });
          }};
}

/// A grid of n samples.
struct GridTask {
  Numbers x, w;
  std::vector<Numbers> values;
  std::vector<RegularAxis> axes;
  Numbers root;

  std::unique_ptr<GpuScanline> runs() const {
    const std::size_t d = axes.size(), n = w.size();
    return std::make_unique<GpuScanline>(
        MatrixView{x.data(), n, d}, Weights(Span<const double>{w.data(), n}),
        Span<const RegularAxis>{axes.data(), d},
        KernelChoice{Kernel::epanechnikov, KernelType::radial},
        Span<const double>{root.data(), root.size()}, ScanlineSettings{}, cpu());
  }
};

std::shared_ptr<GridTask> make_grid_task(std::size_t n, const std::vector<std::size_t>& counts,
                                         double h) {
  const std::size_t d = counts.size();
  const auto made = std::make_shared<GridTask>();
  std::mt19937_64 random(n);
  for (std::size_t k = 0; k < n * d; ++k) made->x.push_back(normal(random));
  made->w.assign(n, 1.0);
  made->root.assign(d * d, 0.0);
  for (std::size_t k = 0; k < d; ++k) {
    made->root[k * d + k] = h;
    for (std::size_t l = 0; l < k; ++l) made->root[l * d + k] = 0.3 * h;
    Numbers axis(counts[k]);
    for (std::size_t i = 0; i < counts[k]; ++i) {
      axis[i] = -4.0 + 8.0 * static_cast<double>(i) / static_cast<double>(counts[k] - 1);
    }
    made->values.push_back(axis);
  }
  std::vector<Span<const double>> spans;
  for (const Numbers& axis : made->values) spans.push_back({axis.data(), axis.size()});
  made->axes = find_regular_axes(spans);
  return made;
}

Task grid_task(const std::string& name, std::size_t n, const std::vector<std::size_t>& counts,
               double h) {
  const auto made = make_grid_task(n, counts, h);
  return {name, [made] {
            const auto runs = made->runs();
            Numbers out(runs->points() * runs->count());
            runs->slab(0, runs->count(), cpu(), {out.data(), out.size()});
            return out;
          }};
}

int devices_found() {
  set_gpu_devices({});
  return static_cast<int>(find_gpu_devices().size());
}

void use_devices(int count) {
  std::vector<int> numbers;
  for (int number = 0; number < count; ++number) numbers.push_back(number);
  set_gpu_devices(numbers);
}

/// The least seconds of some calls after a first one, and where the time of the last one went.
double time_calls(const std::function<void()>& call, int calls) {
  static const Calls noted(object_path());
  call();
  double least = HUGE_VAL;
  for (int k = 0; k < calls; ++k) {
    noted.forget();
    const double begin = now();
    call();
    const double end = now();
    least = std::min(least, end - begin);
    if (k + 1 == calls) noted.print(begin, end);
  }
  return least;
}

/// The error of the numbers relative to the largest of them.
int check_beside(const Task& task, const Numbers& numbers) {
  const Numbers expected = task.beside();
  double largest = 0.0, error = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::fmax(largest, std::fabs(expected[i]));
    const double here = std::fabs(numbers[i] - expected[i]);
    error = here <= error ? error : here;  // NaN is kept
  }
  const bool good = error <= 1e-11 * largest;
  std::printf("%s %s: error %.2e of %.3g\n", good ? "ok  " : "BAD ", task.name.c_str(),
              error / largest, largest);
  return good ? 0 : 1;
}

int check_task(const Task& task, int devices, bool beside) {
  use_devices(1);
  const Numbers wanted = task.run();
  int wrong = beside ? check_beside(task, wanted) : 0;
  for (int count = 2; count <= devices; ++count) {
    use_devices(count);
    const bool same = task.run() == wanted;
    std::printf("%s %s, %d devices: %s bits\n", same ? "ok  " : "BAD ", task.name.c_str(), count,
                same ? "the same" : "other");
    wrong += same ? 0 : 1;
  }
  return wrong;
}

/// Seconds with 1, 2, 4, ... devices, the least of `calls` after a first one, and the efficiency.
void time_task(const Task& task, int devices, int calls) {
  double alone = 0.0;
  for (int count = 1; count <= devices; count *= 2) {
    use_devices(count);
    const double least = time_calls([&] { task.run(); }, calls);
    if (count == 1) alone = least;
    // For bench/gpu.R.
    std::printf("bench devices \"%s\" %d %.5g %.3f\n", task.name.c_str(), count, least,
                alone / least / count);
    std::fflush(stdout);
  }
}

}  // namespace

int check_devices_tiny() {
  const int devices = devices_found();
  int wrong = 0;
  for (const Task& task :
       {density_task(30000, 1000000, 3, false), density_task(30000, 500000, 16, false),
        density_task(30000, 500000, 16, true, 3.0), curve_task(20000), gradient_task(100000),
        mixed_task(60000, 1), regression_task(500000, Kernel::epanechnikov, 100),
        grid_task("grid", 20000, {100, 100, 100}, 0.5),
        grid_task("plane", 20000, {500, 600}, 0.5)}) {
    wrong += check_task(task, devices, false);
  }
  return wrong;
}

int check_devices() {
  const int devices = devices_found();
  int wrong = 0;
  // So large that they have several pieces, and so small that the CPU takes some seconds at most.
  for (const Task& task : {density_task(50000, 400000, 3, false), curve_task(30000),
                           gradient_task(100000), mixed_task(60000, 1)}) {
    wrong += check_task(task, devices, true);
  }
  for (const Task& task :
       {density_task(100000, 1600000, 3, false), density_task(100000, 600000, 16, false),
        density_task(100000, 600000, 3, true), derivative_task(50000, 100000), psi_task(200000),
        regression_task(1000000, Kernel::epanechnikov, 100),
        regression_task(50000, Kernel::gaussian, 20),
        grid_task("grid", 100000, {300, 400, 300}, 0.3),
        grid_task("grid of many samples", 2000000, {100, 100, 100}, 1.0),
        grid_task("plane of many samples", 2000000, {700, 800}, 1.0),
        grid_task("line of many samples", 20000000, {100000}, 0.5),
        grid_task("plane", 100000, {3000, 4000}, 0.1),
        grid_task("line", 100000, {20000000}, 0.1)}) {
    wrong += check_task(task, devices, false);
  }
  return wrong;
}

int check_one_lost() {
  // The object makes a device fail on the way (failing-cuda.cpp). There are 24 pieces.
  const Task task = density_task(100000, 1600000, 3, false);
  const std::size_t before = gpu_devices().size();
  const Numbers with_a_loss = task.run();
  const std::size_t after = gpu_devices().size();
  const Numbers again = task.run();
  const bool good = after + 1 == before && with_a_loss == again;
  std::printf("%s %zu devices, then %zu; %s bits\n", good ? "ok  " : "BAD ", before, after,
              with_a_loss == again ? "the same" : "other");
  double sum = 0.0;
  for (const double value : again) sum += value;
  std::printf("sum %.17g\n", sum);
  return good ? 0 : 1;
}

void bench_devices() {
  const int devices = devices_found();
  time_task(density_task(1000000, 1000000, 3, false), devices, 1);
  time_task(density_task(1000000, 1000000, 16, false), devices, 1);
  time_task(curve_task(300000), devices, 1);
  time_task(gradient_task(300000), devices, 1);
  time_task(regression_task(1000000, Kernel::epanechnikov, 400), devices, 3);
  time_task(mixed_task(100000, 5), devices, 2);
}

/// On the devices alone, and with all values to memory that was used before.
void bench_devices_grid() {
  const int devices = devices_found();
  const auto grid = make_grid_task(1000000, {800, 1250, 1000}, 0.346);
  Numbers out(800 * 1250 * std::size_t{1000});
  double alone[2] = {0.0, 0.0};
  for (int count = 1; count <= devices; count *= 2) {
    use_devices(count);
    const auto runs = grid->runs();
    for (const bool back : {false, true}) {
      const auto slab = [&] {
        runs->slab(0, runs->count(), cpu(), {back ? out.data() : nullptr, out.size()});
      };
      const double least = time_calls(slab, 2);
      if (count == 1) alone[back] = least;
      std::printf("bench devices \"S-KDE, 1e9 points, %s\" %d %.5g %.3f\n",
                  back ? "and back" : "device", count, least, alone[back] / least / count);
      std::fflush(stdout);
    }
  }
}

}  // namespace kestrel
