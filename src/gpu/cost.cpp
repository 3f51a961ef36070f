#include "gpu/cost.hpp"

#include <algorithm>
#include <cmath>

#include "shared/kernel.hpp"

namespace kestrel {

namespace {

/// Multiply-adds per second of a device, at 1.5 GHz. A multiprocessor has 64 units for double
/// precision in compute capability 9.0 and 10.0, 32 in 6.0, 7.0 and 8.0, and 2 in all others (CUDA
/// C++ Programming Guide, throughput of arithmetic instructions). For single precision it has 128,
/// or 64 in some older ones.
double rate(int multiprocessors, int major, int minor, bool single) {
  const int capability = 10 * major + minor;
  const bool older = capability == 60 || capability == 70 || capability == 80;
  double units = 2;
  if (single) {
    units = older || capability == 75 ? 64 : 128;
  } else if (capability == 90 || capability == 100) {
    units = 64;
  } else if (older) {
    units = 32;
  }
  return multiprocessors * units * 1.5e9;
}

/// Picoseconds of a pair. Fits within an eighth to bench/results/2026-11-29-NVIDIA-H200.csv
/// ("sums", the fastest way): 0.75, 0.92, 1.20, 1.22, 1.79 and 3.23 ps in double for d = 1, 3, 6,
/// 16, 30 and 62, and 0.23, 0.28 and 0.41 ps in single for d = 1, 3 and 6. From 8 variables on the
/// tensor cores compute inner products, in single precision by slabs of 16 variables: 0.39, 0.39,
/// 0.63 and 1.07 ps for d = 8, 16, 30 and 62.
double pair_picoseconds(double d, bool single) {
  if (!single) return d < 8 ? 0.64 + 0.095 * d : 0.65 + 0.0425 * d;
  return d < 8 ? 0.19 + 0.033 * d : 0.16 + 0.228 * std::ceil(d / 16);
}

/// Picoseconds of a pair of a compact kernel with a bandwidth of its own. Fits within an eighth to
/// times of an H200 in 2026-11 by tools/gpu-check.sh time-variable, 131,072 samples and points, in
/// double and in single precision for d = 1 and 3: the power of 1 - q with exponent 1 0.39, 0.67,
/// 0.34 and 0.67 ps, that with exponent 3 0.49, 0.78, 0.40 and 0.72; one that needs a root 1.23,
/// 1.61, 0.73 and 1.11; the cosine 1.32, 1.61, 0.63 and 0.95. The uniform kernel takes less, 0.80
/// and 1.19 in double, without pairs at its edge.
double variable_picoseconds(Kernel kernel, double d, bool single) {
  const bool polynomial = is_even_polynomial(kernel) && !is_indicator(kernel);
  if (single && !is_indicator(kernel)) return (polynomial ? 0.2 : 0.5) + 0.17 * d;
  return polynomial ? 0.295 + 0.1425 * d : 1.1 + 0.16 * d;
}

/// Measured (the same file): 33.6 ms for 1.1e9 rows and 1.95e8 points with two limbs (23.6 ms with
/// one). The share of the points is the time to move their cells and values, 104 bytes at 4.3 TB/s.
/// The host sorts the samples, and values come back at 55 GB/s.
constexpr double kRowSeconds = 26e-12, kPointSeconds = 24e-12, kSampleSeconds = 60e-9,
                 kValueSeconds = 8 / 55e9;
/// Where values are added at all points: a row that a sample reaches, and a point; and the factor
/// for kernels that need a root or a series. Measured on an H200 in 2026-11, 1e6 samples (3.5e6 for
/// two axes), a radial kernel (1 - q)^2: 220 x 1100 x 805 points, 5.9e8 rows, 2.3e10 points
/// covered, 279 ms; 196 x 200 x 199 points, 1.2e8 rows, 9.0e8 points, 43 ms; 2800 x 2700
/// points, 2.8e8 rows, 1.6e10 points, 99 ms; 1e6 points, 1e6 rows, 2.0e10 points, 153 ms. A product
/// kernel 1 - q: 220 x 1100 x 805 points, 7.6e8 rows, 5.3e10 points, 389 ms. Right within a half
/// for these.
constexpr double kItemSeconds = 220e-12, kCoveredSeconds = 5e-12, kSlowKernel = 1.5;
/// What a thread of the host needs to copy a value: measured in 2026-11 on a host with 64
/// processors and 4 H100s, where four threads copied 1e9 values in 0.6 s.
constexpr double kCopySeconds = 8 / 3.3e9;

/// Seconds of a fit by cross-validation, or of a pair of the Gaussian kernel. A fit with a
/// polynomial kernel takes sums over log2(n) blocks of samples, for each of their powers. Fits to
/// times of an H200 in 2026-11 by tools/gpu-check at n = 1e6: 8.9 ms for one bandwidth, most of it
/// for sending and sorting (kObservationSeconds); 18 to 44 ms for 100 bandwidths (local constant)
/// and 42 to 94 ms (local linear), polynomials of degree 0 to 6. The formula is within an eighth of
/// these. A pair of the Gaussian kernel takes 2.2 to 2.4 ps (n = 1e5).
double fit_seconds(const RegressionWork& work, double n) {
  if (!is_compact(work.kernel)) return 2.3e-12;
  const double powers = kernel_degree(work.kernel) + (work.local_linear ? 2 : 0) + 2;
  const double nanoseconds =
      work.local_linear ? 0.21 + 0.0064 * powers * powers : 0.09 + 0.0042 * powers * powers;
  return 1e-9 * nanoseconds * std::log2(n) / std::log2(1e6);
}

constexpr double kObservationSeconds = 8.7e-9;

/// Starting the driver takes about a third of a second.
constexpr double kWorthwhileSeconds = 1;

}  // namespace

double gpu_slowness(const kestrel_gpu_device& device, bool single) {
  return rate(132, 9, 0, single) / rate(device.multiprocessors, device.major, device.minor, single);
}

double gpu_direct_seconds(double n, double m, double d, const kestrel_gpu_device& device,
                          bool single) {
  return n * m * pair_picoseconds(d, single) * 1e-12 * gpu_slowness(device, single);
}

double gpu_variable_seconds(Kernel kernel, double n, double m, double d,
                            const kestrel_gpu_device& device, bool single) {
  return n * m * variable_picoseconds(kernel, d, single) * 1e-12 * gpu_slowness(device, single);
}

bool gpu_takes_events(const KernelChoice& kernel, std::size_t d) {
  return kernel.kernel == Kernel::epanechnikov && (kernel.type == KernelType::radial || d == 1);
}

double gpu_scanline_work(const ScanlineGeometry& geometry, const KernelChoice& kernel, double n,
                         double m) {
  const double rows = geometry.rows_crossed();
  double sample = rows * kRowSeconds;
  if (!gpu_takes_events(kernel, geometry.line() ? 1 : geometry.axes())) {
    sample = rows * kItemSeconds + geometry.points_reached() * kCoveredSeconds;
    if (!is_even_polynomial(kernel.kernel)) sample *= kSlowKernel;
  }
  return n * sample + m * kPointSeconds;
}

bool gpu_prefers_scanline(const ScanlineGeometry& geometry, const KernelChoice& kernel, double n,
                          double m, double d, bool single) {
  if (gpu_takes_events(kernel, geometry.line() ? 1 : geometry.axes())) return true;
  const double direct = n * m * pair_picoseconds(d, single) * 1e-12;
  return gpu_scanline_work(geometry, kernel, n, m) <= direct;
}

double gpu_scanline_seconds(double work, double n, double m, const kestrel_gpu_device& device) {
  return gpu_slowness(device, false) * work + kSampleSeconds * n + kValueSeconds * m;
}

std::size_t gpu_scanline_devices(double work, double m, std::size_t devices, int threads) {
  const double host = m * kCopySeconds / threads, device = std::max(work, m * kValueSeconds);
  const double alone = std::max(host, device);
  const double together = std::max(host, device / static_cast<double>(devices));
  return together < 0.8 * alone ? devices : 1;
}

double gpu_regression_seconds(const RegressionWork& work, double n,
                              const kestrel_gpu_device& device) {
  const double sums = is_compact(work.kernel) ? work.fits : work.pairs;
  return gpu_slowness(device, false) * sums * fit_seconds(work, n) + kObservationSeconds * n;
}

bool gpu_pays_off(double cpu, double gpu) { return cpu >= kWorthwhileSeconds && cpu >= 2 * gpu; }

}  // namespace kestrel
