// Runs on grids on a real device: the same bits as the CPU's events and rows.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>

#include "gpu-check.hpp"
#include "gpu/cost.hpp"
#include "gpu/scanline.hpp"

namespace kestrel {

namespace {

using Numbers = std::vector<double>;

/// Samples on a grid that covers all supports; the lower Cholesky factor of H is `root`.
struct Grid {
  Case c;
  std::vector<RegularAxis> axes;
  std::vector<Numbers> values;  // of points that are slightly moved

  Span<const RegularAxis> grid() const { return {axes.data(), axes.size()}; }
  std::size_t points() const {
    std::size_t all = 1;
    for (const RegularAxis& axis : axes) all *= axis.count;
    return all;
  }
};

enum class Weighting { one, some, wild };

/// Normal samples with correlations of `rho` and a bandwidth of h times their covariance's root; or
/// a lattice. `moved`: points are up to 4e-7 of a step away.
Grid make_grid(std::size_t n, const std::vector<std::size_t>& counts, double h, double rho,
               Weighting weights, bool lattice = false, bool moved = false) {
  const std::size_t d = counts.size();
  Grid grid{make_case(n, 1, d, 1.0, false, false, 0.0), {}, std::vector<Numbers>(moved ? d : 0)};
  Case& c = grid.c;
  std::mt19937_64 random(7);
  const double rest = std::sqrt(1 - rho * rho);
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t j = 0; j < n; ++j) {
      double& x = c.x[k * n + j];
      if (k > 0) x = rho * c.x[(k - 1) * n + j] + rest * x;
      if (lattice) x = std::round(x);
    }
    for (std::size_t l = 0; l <= k; ++l) {
      const double power = std::pow(rho, static_cast<double>(k - l));
      c.root[l * d + k] = 3 * h * power * (l > 0 ? rest : 1.0);
    }
    const auto range = std::minmax_element(c.x.begin() + static_cast<std::ptrdiff_t>(k * n),
                                           c.x.begin() + static_cast<std::ptrdiff_t>((k + 1) * n));
    const double low = *range.first - 3 * h, high = *range.second + 3 * h;
    const double step = counts[k] > 1 ? (high - low) / static_cast<double>(counts[k] - 1) : 1.0;
    grid.axes.push_back({low, step, counts[k], {}});
    if (!moved) continue;
    for (std::size_t i = 0; i < counts[k]; ++i) {
      const double off = 4e-7 * (std::fmod(0.37 * static_cast<double>(i), 1.0) - 0.5);
      grid.values[k].push_back(low + (static_cast<double>(i) + off) * step);
    }
    grid.axes[k].values = {grid.values[k].data(), counts[k]};
  }
  for (std::size_t j = 0; j < n; ++j) {
    c.w[j] = weights == Weighting::one    ? 1.0
             : weights == Weighting::some ? static_cast<double>(j % 7) / 3
                                          : std::exp(3 * normal(random));
  }
  return grid;
}

/// The CPU's method for what the device does.
ScanlineSettings settings_for(const Grid& grid, const KernelChoice& choice, int limbs) {
  ScanlineSettings settings;
  settings.limbs = limbs;
  settings.method =
      gpu_takes_events(choice, grid.c.d) ? ScanlineMethod::events : ScanlineMethod::rows;
  settings.sorted = true;
  return settings;
}

const KernelChoice kEpanechnikov{Kernel::epanechnikov, KernelType::radial};

/// Every compact kernel; product kernels take grids without correlations.
std::vector<KernelChoice> choices(bool correlated) {
  std::vector<KernelChoice> all;
  for (std::size_t k = 0; k < kKernels; ++k) {
    const Kernel kernel = static_cast<Kernel>(k);
    if (!is_compact(kernel)) continue;
    all.push_back({kernel, KernelType::radial});
    if (!correlated) all.push_back({kernel, KernelType::product});
  }
  return all;
}

template <class Call>
auto with_parts(const Grid& grid, const Call& call) {
  return call(matrix(grid.c.x, grid.c.n, grid.c.d), Span<const double>{grid.c.w.data(), grid.c.n},
              grid.grid(), Span<const double>{grid.c.root.data(), grid.c.root.size()});
}

int check_kernel(const char* name, const Grid& grid, const KernelChoice& choice) {
  int wrong = 0;
  for (const int limbs : {1, 2, 4, 0}) {
    const ScanlineSettings settings = settings_for(grid, choice, limbs);
    const bool rows = settings.method == ScanlineMethod::rows;
    if (rows && (limbs == 4 || (limbs == 1 && !is_indicator(choice.kernel)))) continue;
    Numbers expected(grid.points()), actual(grid.points(), -1.0), again(grid.points(), -1.0);
    with_parts(grid, [&](const auto& x, const auto& w, const auto& axes, const auto& root) {
      scanline_density(x, w, axes, choice, root, settings, cpu(),
                       {expected.data(), expected.size()});
      gpu_scanline_density(x, w, axes, choice, root, settings, cpu(),
                           {actual.data(), actual.size()});
      const GpuScanline runs(x, w, axes, choice, root, settings, cpu());
      const std::size_t thick = runs.count() / 3 + 1;
      for (std::size_t first = 0; first < runs.count(); first += thick) {
        const std::size_t count = std::min(thick, runs.count() - first);
        runs.slab(first, count, cpu(),
                  {again.data() + first * runs.points(), count * runs.points()});
      }
    });
    std::size_t others = 0, of_slabs = 0;
    double error = 0, largest = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      others += std::memcmp(&actual[i], &expected[i], 8) != 0;
      of_slabs += std::memcmp(&again[i], &expected[i], 8) != 0;
      error = std::fmax(error, std::fabs(actual[i] - expected[i]));
      largest = std::fmax(largest, expected[i]);
    }
    const bool good = others == 0 && of_slabs == 0;
    if (!good || limbs == 0) {
      std::printf(
          "%s runs %s %s%s d=%zu n=%zu m=%zu limbs %d: %zu other bits (%.2e of %.3g), %zu by "
          "slabs\n",
          good ? "ok  " : "BAD ", name, choice.type == KernelType::product ? "product " : "",
          row_of(choice.kernel).name, grid.c.d, grid.c.n, grid.points(), limbs, others, error,
          largest, of_slabs);
    }
    wrong += good ? 0 : 1;
  }
  return wrong;
}

bool correlated(const Grid& grid) {
  return grid.c.d > 1 && grid.c.root[1] != 0;  // below the first diagonal element
}

/// All kernels where `every` says so, else the radial Epanechnikov kernel and one other in turn.
int check_grid(const char* name, const Grid& grid, bool every = false) {
  static std::size_t turn = 0;
  const std::vector<KernelChoice> all = choices(correlated(grid));
  int wrong = 0;
  if (!every) {
    return check_kernel(name, grid, kEpanechnikov) +
           check_kernel(name, grid, all[1 + turn++ % (all.size() - 1)]);
  }
  for (const KernelChoice& choice : all) wrong += check_kernel(name, grid, choice);
  return wrong;
}

double seconds_of(const std::function<void()>& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The minimum of the seconds of three repetitions: of sorting and sending the samples, of the
/// device's work, and of that including the copy back.
struct Times {
  double open = 1e9, device = 1e9, whole = 1e9, rows = 0, covered = 0;
};

Times times_of(const Grid& grid, const KernelChoice& choice, int limbs) {
  const ScanlineSettings settings = settings_for(grid, choice, limbs);
  Times times;
  with_parts(grid, [&](const auto& x, const auto& w, const auto& axes, const auto& root) {
    const ScanlineGeometry geometry(axes, root, choice.type);
    times.rows = static_cast<double>(grid.c.n) * geometry.rows_crossed();
    times.covered = static_cast<double>(grid.c.n) * geometry.points_reached();
    Numbers out(grid.points());
    for (int repetition = 0; repetition < 3; ++repetition) {
      std::unique_ptr<GpuScanline> runs;
      times.open =
          std::min(times.open, seconds_of([&] {
                     runs.reset(new GpuScanline(x, w, axes, choice, root, settings, cpu()));
                   }));
      for (int slab = 0; slab < 2; ++slab) {
        times.device = std::min(times.device, seconds_of([&] {
                                  runs->slab(0, runs->count(), cpu(), {nullptr, out.size()});
                                }));
      }
      times.whole = std::min(times.whole, seconds_of([&] {
                               runs->slab(0, runs->count(), cpu(), {out.data(), out.size()});
                             }));
    }
  });
  return times;
}

void time_grid(const char* name, const Grid& grid, int limbs) {
  const Times times = times_of(grid, kEpanechnikov, limbs);
  std::printf(
      "runs %s, limbs %d, n = %zu, %zu points, %.3g rows: sorting and sending %.1f ms, on the "
      "device %.2f ms (%.1f e9 rows/s), with the way back %.1f ms\n",
      name, limbs, grid.c.n, grid.points(), times.rows, 1e3 * times.open, 1e3 * times.device,
      1e-9 * times.rows / times.device, 1e3 * times.whole);
  std::fflush(stdout);
}

/// Where values are added at all points.
void time_rows(const char* name, const Grid& grid, const KernelChoice& choice) {
  const Times times = times_of(grid, choice, 0);
  std::printf(
      "runs %s, %s%s, n = %zu, %zu points, %.3g rows, %.3g points covered: sorting and sending "
      "%.1f ms, on the device %.2f ms (%.1f e9 points/s), with the way back %.1f ms\n",
      name, choice.type == KernelType::product ? "product " : "", row_of(choice.kernel).name,
      grid.c.n, grid.points(), times.rows, times.covered, 1e3 * times.open, 1e3 * times.device,
      1e-9 * times.covered / times.device, 1e3 * times.whole);
  std::fflush(stdout);
}

/// The grid of Lopez-Novoa (2015), 195 million points: samples with equal or with different
/// weights.
Grid bench_grid(int limbs) {
  return make_grid(1000000, {220, 1100, 805}, 0.346, 0.5,
                   limbs == 1 ? Weighting::one : Weighting::some);
}

/// The same for product kernels, whose axes are those of the grid.
Grid flat_grid() { return make_grid(1000000, {220, 1100, 805}, 0.346, 0, Weighting::one); }

}  // namespace

int check_scanline_tiny() {
  return check_grid("tiny line ", make_grid(300, {90}, 0.5, 0, Weighting::some), true) +
         check_grid("tiny plane", make_grid(100, {20, 50}, 0.6, 0.5, Weighting::one), true) +
         check_grid("tiny flat ", make_grid(100, {20, 50}, 0.6, 0, Weighting::one, true), true) +
         check_grid("tiny space",
                    make_grid(60, {12, 40, 9}, 0.8, 0.5, Weighting::wild, false, true));
}

int check_scanline() {
  int wrong = 0;
  const std::vector<std::vector<std::size_t>> grids = {
      {700},        {130, 170},      {170, 130},       {40, 60, 30},      {30, 40, 60},
      {60, 30, 40}, {9, 20, 11, 13}, {5, 7, 6, 13, 8}, {4, 5, 4, 6, 5, 7}};
  for (const std::vector<std::size_t>& counts : grids) {
    const double h = 0.1 + 0.15 * static_cast<double>(counts.size());
    wrong += check_grid("plain  ", make_grid(4000, counts, h, 0, Weighting::one));
    wrong += check_grid("full   ", make_grid(3000, counts, h, 0.6, Weighting::some));
    wrong += check_grid("wild   ", make_grid(3000, counts, h, -0.5, Weighting::wild));
    wrong += check_grid("lattice", make_grid(2000, counts, h, 0, Weighting::one, true), true);
    wrong += check_grid("moved  ", make_grid(2000, counts, h, 0.3, Weighting::some, false, true));
    wrong += check_grid("one    ", make_grid(1, counts, h, 0.3, Weighting::one));
  }
  // Rows of several segments; cells of many batches; parts of the output.
  wrong += check_grid("long   ", make_grid(20000, {20, 30000}, 0.2, 0.4, Weighting::some));
  wrong += check_grid("longer ", make_grid(20000, {50000}, 0.2, 0, Weighting::some));
  wrong += check_grid("batches", make_grid(20000, {70, 300, 200}, 0.2, 0.5, Weighting::one));
  wrong += check_grid("parts  ", make_grid(3000, {300, 500, 250}, 0.1, 0.5, Weighting::one));
  return wrong;
}

void time_scanline() {
  for (const int limbs : {1, 2}) {
    const Weighting weights = limbs == 1 ? Weighting::one : Weighting::some;
    time_grid("220 x 1100 x 805", bench_grid(limbs), limbs);
    time_grid("220 x 805 x 1100", make_grid(1000000, {220, 805, 1100}, 0.346, 0.5, weights), limbs);
    time_grid("196 x 200 x 199", make_grid(1000000, {196, 200, 199}, 0.346, 0.5, weights), limbs);
    time_grid("2800 x 2700", make_grid(3500000, {2800, 2700}, 0.16, 0.5, weights), limbs);
    time_grid("1000000", make_grid(10000000, {1000000}, 0.1, 0, weights), limbs);
  }
  const KernelChoice biweight{Kernel::biweight, KernelType::radial};
  const Grid flat = flat_grid();
  for (const Kernel kernel : {Kernel::epanechnikov, Kernel::biweight, Kernel::triweight})
    time_rows("220 x 1100 x 805", flat, {kernel, KernelType::product});
  for (const Kernel kernel : {Kernel::biweight, Kernel::triweight, Kernel::uniform,
                              Kernel::triangular, Kernel::tricube, Kernel::cosine})
    time_rows("220 x 1100 x 805", bench_grid(1), {kernel, KernelType::radial});
  time_rows("220 x 1100 x 805", bench_grid(2), biweight);
  const auto one = Weighting::one;
  time_rows("196 x 200 x 199", make_grid(1000000, {196, 200, 199}, 0.346, 0.5, one), biweight);
  time_rows("196 x 200 x 199", make_grid(1000000, {196, 200, 199}, 0.05, 0.5, one), biweight);
  time_rows("2800 x 2700", make_grid(3500000, {2800, 2700}, 0.16, 0.5, one), biweight);
  time_rows("2800 x 2700", make_grid(3500000, {2800, 2700}, 0.005, 0.5, one), biweight);
  time_rows("150 x 150", make_grid(10000000, {150, 150}, 0.1, 0.5, one), biweight);
  time_rows("1000000", make_grid(1000000, {1000000}, 0.1, 0, one), biweight);
  time_rows("500", make_grid(10000000, {500}, 0.3, 0, one), biweight);
}

void bench_scanline() {
  for (const int limbs : {1, 2}) {
    const Grid grid = bench_grid(limbs);
    const Times times = times_of(grid, kEpanechnikov, limbs);
    std::printf("bench scanline %d %.4g %.4g %zu %.4g\n", limbs, times.device, times.whole,
                grid.points(), times.rows);
    std::fflush(stdout);
  }
  const KernelChoice choices[] = {{Kernel::biweight, KernelType::radial},
                                  {Kernel::epanechnikov, KernelType::product}};
  for (const KernelChoice& choice : choices) {
    const bool product = choice.type == KernelType::product;
    const Grid grid = product ? flat_grid() : bench_grid(1);
    const Times times = times_of(grid, choice, 0);
    std::printf("bench rows %s %s %.4g %.4g %.4g\n", product ? "product" : "radial",
                row_of(choice.kernel).name, times.device, times.whole, times.covered);
    std::fflush(stdout);
  }
}

}  // namespace kestrel
