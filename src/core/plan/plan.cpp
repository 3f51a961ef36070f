#include "core/plan/plan.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/data/tiles.hpp"
#include "core/kdtree/kdtree.hpp"
#include "core/scanline/scanline.hpp"
#include "core/sweep/kernel.hpp"

namespace kestrel {

namespace {

/// The direct engine's own error bound, relative to the largest value (core/data/tiles.hpp).
constexpr double kDirectError = 1e-12;
/// The scanline engine's error bound: the larger of the two in core/scanline/scanline.hpp, which is
/// for one axis whose points are not quite at equal steps.
constexpr double kScanlineError = 1e-13;

// Seconds on one thread, which order the engines and do not promise times. Measured in 2026-11 on a
// 2.5 GHz Xeon with AVX-512 (two shared cores of a virtual machine), as thread CPU time, the
// minimum of at least three runs: n = 100 to 1e6 normal samples, m = 100 and 400 points of a grid
// and m = n random ones, a range of 4, 30, 300, 3000 and 1e5 bandwidths, AVX-512 and scalars (the
// sets between up to n = 6400), kernels Gaussian, Epanechnikov and triweight. The constants of
// "fgt" are a fit to those times (least absolute deviation of logarithms).

/// Vector operations of a pair by the direct engine, beyond two for each variable. Timed with n = m
/// = 3000 normal samples (1000 for narrower vectors), 1 to 16 variables and every kernel: right
/// within a quarter with AVX-512 and within a factor of three with narrower vectors, except for the
/// uniform kernel (a factor of two in one dimension, more in several).
double kernel_operations(Kernel kernel) { return is_polynomial(kernel) ? 4.0 : 13.0; }

/// Seconds of a pair that do not decrease with the width of vectors: for a square root, or for the
/// comparison of the uniform kernel, which works on the data as given.
double kernel_seconds(Kernel kernel) {
  if (is_indicator(kernel)) return 0.7e-9;
  return is_polynomial(kernel) && !is_even_polynomial(kernel) ? 1.0e-9 : 0.0;
}

/// Seconds of one pair: operations over the rate at which they run. A product kernel of several
/// variables costs as many kernels of one; the uniform kernel in several dimensions costs more.
double direct_pair_seconds(const DensityTask& task) {
  const Kernel kernel = task.kernel.kernel;
  const double d = static_cast<double>(task.d);
  const bool radial = task.kernel.type == KernelType::radial || !is_compact(kernel);
  const double kernels = radial ? 1.0 : d;
  const double operations = 2 * d + kernels * kernel_operations(kernel);
  const double rest = kernels * kernel_seconds(kernel);
  switch (task.lanes) {
    case 8: return operations / (8 * 4.1e9) + rest;
    case 4: return operations / (4 * 3.2e9) + rest;
    case 2: return operations / (2 * 1.5e9) + rest;
    default: return operations / 1.5e9 + rest;
  }
}

/// Seconds of a sample for each block of points, however many points it has.
constexpr double kBlockSampleSeconds = 2e-9;

double direct_seconds(const DensityTask& task) {
  // Blocks of points hold kBlockSize of them, but are at most 2 kBlockRadius bandwidths wide.
  const double blocks = std::min(task.m, task.m / kBlockSize + task.spread / (2 * kBlockRadius));
  return task.n * (task.m * direct_pair_seconds(task) + blocks * kBlockSampleSeconds);
}

/// Seconds to sort and sweep a value, for each doubling of their number: 58 to 102 ns for 400 to
/// 13,000 values. (Two million took 178 ns, not 157.)
constexpr double kSweepSeconds = 7.5e-9;

double sweep_seconds(const DensityTask& task) {
  const double values = task.n + task.m;
  return kSweepSeconds * values * std::log2(std::max(2.0, values));
}

/// The fgt engine's seconds, for densities: a sample or point; a cell; a pair of cells by their
/// moments; a sample and a point by an exponential; a call.
constexpr double kFgtValueSeconds = 23e-9, kCellSeconds = 65e-9, kCellPairSeconds = 84e-9,
                 kExponentialSeconds = 13.5e-9, kFgtSeconds = 7e-6;
/// Cells are an eighth to a quarter of a bandwidth wide, and pairs of cells within 11.7 bandwidths
/// are summed (for 1000 samples of one weight).
constexpr double kCellsOfBandwidth = 6, kCellsInReach = 140;

double fgt_density_seconds(const DensityTask& task) {
  const double cells = kCellsOfBandwidth * task.spread + 1;
  const double sources = std::max(1.0, std::min(task.n, cells));
  const double targets = std::max(1.0, std::min(task.m, cells));
  const double samples = task.n / sources, points = task.m / targets;  // of a cell
  const double met = sources * std::min(1.0, kCellsInReach / cells);
  const double pair = std::min(kCellPairSeconds, samples * points * kExponentialSeconds);
  return kFgtSeconds + kFgtValueSeconds * (task.n + task.m) + kCellSeconds * (sources + targets) +
         targets * met * pair;
}

/// The fgt engine's seconds, for a sum over pairs of samples at one bandwidth, measured at order 4:
/// a sample and a pair of cells by moments; a sample and a pair within reach if it sums pair by
/// pair; a call.
constexpr double kMomentsSeconds = 21e-9, kMomentsPairSeconds = 120e-9, kWindowsSeconds = 180e-9,
                 kWindowsPairSeconds = 31e-9, kPairSumsSeconds = 5e-6;
/// Cells are a quarter to a half of a bandwidth wide; pairs of cells within ten bandwidths are
/// summed.
constexpr double kWideCellsOfBandwidth = 3, kWideCellsInReach = 30, kBandwidthsInReach = 10;

double fgt_pairs_seconds(double n, double spread) {
  const double cells = kWideCellsOfBandwidth * spread + 1, full = std::min(n, cells);
  const double met = std::max(1.0, full * std::min(1.0, kWideCellsInReach / cells));
  const double by_moments = kMomentsSeconds * n + kMomentsPairSeconds * full * met;
  const double in_reach = n * n * std::min(0.5, kBandwidthsInReach / spread);
  const double by_windows = kWindowsSeconds * n + kWindowsPairSeconds * in_reach;
  return kPairSumsSeconds + std::min(by_moments, by_windows);
}

/// The direct engine's seconds for that sum: a sample, in the corners of the triangle of pairs; and
/// the factor by which the polynomial slows a pair.
constexpr double kCornerSeconds = 100e-9, kPolynomialFactor = 1.2;

bool fits_kdtree(const DensityTask& task) { return is_compact(task.kernel.kernel); }

bool fits_sweep(const DensityTask& task) {
  return task.d == 1 && is_polynomial(task.kernel.kernel);
}

bool fits_fgt(const DensityTask& task) { return task.d == 1 && !is_compact(task.kernel.kernel); }

bool fits_fourier(const DensityTask& task) {
  return (task.d == 2 || task.d == 3) && !is_compact(task.kernel.kernel);
}

bool fits_scanline(const DensityTask& task) {
  return task.grid != nullptr && is_compact(task.kernel.kernel);
}

void check_engine(const DensityTask& task, const std::string& engine) {
  const char* const names = "auto, direct, kdtree, sweep, fgt, fourier, scanline";
  if (engine != "auto" && engine != "direct" && engine != "kdtree" && engine != "sweep" &&
      engine != "fgt" && engine != "fourier" && engine != "scanline") {
    throw error(ErrorKind::input,
                "engine must be one of " + std::string(names) + ", not " + engine);
  }
  if (engine == "kdtree" && !fits_kdtree(task)) {
    throw error(ErrorKind::input, "engine \"kdtree\" takes the compact kernels");
  }
  if (engine == "sweep" && !fits_sweep(task)) {
    throw error(ErrorKind::input, "engine \"sweep\" takes the kernels " +
                                      names_of_kernels(is_polynomial) + " in one dimension");
  }
  if (engine == "fgt" && !fits_fgt(task)) {
    throw error(ErrorKind::input, "engine \"fgt\" takes the Gaussian kernel in one dimension");
  }
  if (engine == "fourier" && !fits_fourier(task)) {
    throw error(ErrorKind::input,
                "engine \"fourier\" takes the Gaussian kernel in two and three dimensions");
  }
  if (engine == "scanline" && !fits_scanline(task)) {
    throw error(ErrorKind::input, "engine \"scanline\" takes the compact kernels on regular grids");
  }
}

// Plans of single engines have the seconds on one thread.

Plan direct_plan(const DensityTask& task) {
  Plan plan;
  plan.engine = "direct";
  plan.tolerance = std::min(task.tolerance, kDirectError);
  // The result, and the order and cells of the points while they are cut into blocks.
  plan.bytes = 8 * task.m * (2 + static_cast<double>(task.d));
  plan.seconds = direct_seconds(task);
  plan.reason = "sums every pair, for any kernel and dimension";
  return plan;
}

/// The kdtree engine's seconds: a sample or point, for each level of its tree; a block of points;
/// and the factor by which small tiles slow a pair. Measured in 2026-11 on an AMD EPYC with AVX2,
/// normal samples, d = 2, 3 and 5, n = 1e5 and m = 1e4: right within a factor of two, but for the
/// uniform kernel, whose pairs cost more than direct_pair_seconds() says.
constexpr double kTreeLevelSeconds = 20e-9, kTreeBlockSeconds = 20e-6, kTreePairFactor = 1.3;

double kdtree_seconds(const DensityTask& task) {
  const auto order = [](double count, double leaf) {
    return kTreeLevelSeconds * count * std::log2(2 + count / leaf);
  };
  const double share = task.tree_pairs < 0 ? 1 : task.tree_pairs;
  return order(task.n, kTreeLeaf) + order(task.m, kTreeBlock) +
         kTreeBlockSeconds * (task.m / kTreeBlock + 1) +
         kTreePairFactor * share * task.n * task.m * direct_pair_seconds(task);
}

/// Memory: the result, the order and blocks of the points, the samples in order with their weights
/// and, at most half as much, the boxes and moments of nodes.
Plan kdtree_plan(const DensityTask& task) {
  const double d = static_cast<double>(task.d);
  Plan plan;
  plan.engine = "kdtree";
  plan.tolerance = std::min(task.tolerance, kDirectError);
  plan.bytes = 8 * task.m * (2 + d) + 12 * (d + 1) * task.n;
  plan.seconds = kdtree_seconds(task);
  plan.reason = "sums the pairs in reach, of trees of samples and points";
  return plan;
}

/// The memory of the engine "fourier" besides its grid. A sample: its position in the cubes for far
/// points; and a copy in the order of the grid's tiles, of kFourierSortedSamples at a time. A
/// point: its result, its cube and its position there.
constexpr double kFourierSampleBytes = 12, kFourierSortedBytes = 48, kFourierPointBytes = 28,
                 kFourierSortedSamples = 524288;

Plan fourier_plan(const DensityTask& task) {
  if (task.extent == nullptr) throw error(ErrorKind::internal, "the data were not measured");
  const DataRange& extent = *task.extent;
  Plan plan;
  plan.engine = "fourier";
  plan.tolerance = std::min(std::max(task.tolerance, kMinFourierTolerance), kMaxFourierTolerance);
  const DensityLayout layout = lay_density(extent, plan.tolerance);
  check_fourier_memory(layout, kFourierBytes);
  plan.rounding = layout.rounding;
  plan.bytes = layout.bytes + kFourierSampleBytes * extent.n +
               kFourierSortedBytes * std::min(extent.n, kFourierSortedSamples) +
               kFourierPointBytes * task.m;
  plan.seconds = layout.seconds;
  plan.reason = "sums by Fourier transform, for any number of samples";
  return plan;
}

/// Whether the engine "fourier" is expected to be faster, on one thread, since results must not
/// depend on the number of threads.
bool is_fourier_faster(const DensityTask& task) {
  if (!fits_fourier(task) || task.extent == nullptr) return false;
  if (!(task.tolerance >= kMinFourierTolerance)) return false;
  const DensityLayout layout =
      lay_density(*task.extent, std::min(task.tolerance, kMaxFourierTolerance));
  return layout.bytes <= kFourierBytes && layout.rounding <= task.tolerance &&
         layout.seconds < direct_seconds(task);
}

Plan linear_plan(const DensityTask& task, const char* engine, double bytes, double seconds,
                 const char* reason) {
  Plan plan;
  plan.engine = engine;
  plan.tolerance = std::min(task.tolerance, kDirectError);
  plan.bytes = bytes;
  plan.seconds = seconds;
  plan.reason = reason;
  return plan;
}

/// Memory of a sample or point: its value, its position in the order and the pair that is sorted;
/// also a sample's weight, and a point's result.
constexpr double kSweepBytes = 36;

Plan sweep_plan(const DensityTask& task) {
  return linear_plan(task, "sweep", kSweepBytes * (task.n + task.m), sweep_seconds(task),
                     "sorts samples and points and sums windows in one sweep");
}

/// Maximum memory. A value: four counters of cells, the key and the first position of its cell, its
/// own position and offset. A sample also: its weight, the key and slot of its cell and half of 40
/// moments. A point also: its sum, its piece of work and the result.
constexpr double kFgtSampleBytes = 228, kFgtPointBytes = 92;

Plan fgt_plan(const DensityTask& task) {
  return linear_plan(task, "fgt", kFgtSampleBytes * task.n + kFgtPointBytes * task.m,
                     fgt_density_seconds(task), "sums moments of cells, for any number of samples");
}

/// The scanline engine's seconds: a sample, to be sorted; a row of the grid that it crosses; if the
/// kernel has no events, a point that it covers; a point of the grid.
constexpr double kScanlineSampleSeconds = 60e-9, kScanlineRowSeconds = 12e-9,
                 kScanlineCoveredSeconds = 1e-9, kScanlinePointSeconds = 4e-9;

double scanline_seconds(const DensityTask& task) {
  const bool events = scanline_method(*task.grid, task.kernel) == ScanlineMethod::events;
  const double covered = events ? 0 : kScanlineCoveredSeconds * task.grid->points_reached();
  return task.n *
             (kScanlineSampleSeconds + kScanlineRowSeconds * task.grid->rows_crossed() + covered) +
         kScanlinePointSeconds * task.m;
}

/// Memory of a thread for the cells of a tile, or for samples that are being sorted: between the
/// 1.5 and the 2.5 MiB that core/scanline/scanline.hpp gives as maxima.
constexpr double kScanlineThreadBytes = 2e6;

/// Memory: the result, the sorted samples with their weights, and that of the threads.
Plan scanline_plan(const DensityTask& task) {
  Plan plan;
  plan.engine = "scanline";
  plan.tolerance = std::min(task.tolerance, kScanlineError);
  plan.bytes = 8 * task.m + (8 * static_cast<double>(task.d) + 8) * task.n +
               kScanlineThreadBytes * task.threads;
  plan.seconds = scanline_seconds(task);
  plan.reason = "adds whole runs of grid points, by exact integers";
  return plan;
}

}  // namespace

std::string plan_pairs(double n, double spread, std::size_t lanes) {
  DensityTask task;
  task.d = 1;
  task.lanes = lanes;
  const double of_pair = kPolynomialFactor * direct_pair_seconds(task);
  const double direct = n * (kCornerSeconds + 0.5 * n * of_pair);
  return fgt_pairs_seconds(n, spread) < direct ? "fgt" : "direct";
}

Plan plan_density(const DensityTask& task, const std::string& engine) {
  check_engine(task, engine);
  // Compared on one thread: results must not depend on the number of threads.
  Plan plan = direct_plan(task);
  const bool skips = task.tree_pairs >= 0 && fits_kdtree(task);
  if (engine == "kdtree" || (engine == "auto" && skips && kdtree_seconds(task) < plan.seconds)) {
    plan = kdtree_plan(task);
  }
  if (fits_sweep(task) || fits_fgt(task)) {
    const Plan linear = fits_sweep(task) ? sweep_plan(task) : fgt_plan(task);
    const bool faster = linear.seconds < plan.seconds;
    if (engine == linear.engine || (engine == "auto" && faster)) plan = linear;
  }
  if (engine == "fourier" || (engine == "auto" && is_fourier_faster(task))) {
    plan = fourier_plan(task);
  }
  if (engine == "scanline" ||
      (engine == "auto" && fits_scanline(task) && scanline_seconds(task) < plan.seconds)) {
    plan = scanline_plan(task);
  }
  plan.seconds /= std::max(1, task.threads);
  if (engine != "auto") plan.reason = "asked for";
  return plan;
}

}  // namespace kestrel
