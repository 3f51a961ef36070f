// The checks of the CUDA object, part by part, and their data.
#ifndef KESTREL_TOOLS_GPU_CHECK_HPP
#define KESTREL_TOOLS_GPU_CHECK_HPP

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"

namespace kestrel {

/// Derivatives of densities against those of the CPU; returns how many are wrong.
int check_derivatives_tiny();
int check_derivatives();
/// Whole calls, with transfers from and to the host.
void time_derivatives();

/// Sums with bandwidths that vary against those of the CPU; returns how many are wrong.
int check_variable_tiny();
int check_variable();
/// Whole calls, with transfers from and to the host.
void time_variable();

/// Gaussian sums of many variables against sums in long double; returns how many are wrong.
int check_tensor_tiny();
int check_tensor();

/// Sums over pairs against those of the CPU; returns how many are wrong.
int check_pairs_tiny();
int check_pairs();
/// Whole calls, with transfers from and to the host.
void time_pairs();

/// Runs on grids against the CPU's events, bit by bit; returns how many are wrong.
int check_scanline_tiny();
int check_scanline();
/// With and without the copy back.
void time_scanline();
/// For bench/gpu.R: "bench scanline", limbs, seconds on the device and with the copy back, points,
/// rows.
void bench_scanline();

/// Cross-validation of regression against the CPU's; returns how many numbers are wrong.
int check_regression_tiny();
int check_regression();
/// Whole calls.
void time_regression();

/// Criteria of mixed data against the CPU's; returns how many are wrong.
int check_mixed_tiny();
int check_mixed();
/// With gradients.
void time_mixed();

/// The same bits on all numbers of devices; returns how many tasks have others.
int check_devices_tiny();
int check_devices();
/// The same bits where a device fails on the way, with an object that makes one fail.
int check_one_lost();
/// For bench/gpu.R: "bench devices", task, devices, seconds, efficiency.
void bench_devices();
void bench_devices_grid();

/// The object that is checked.
std::string& object_path();

struct Case {
  std::size_t n, m, d;
  std::vector<double> x, w, points, root;
};

inline double normal(std::mt19937_64& generator) {
  return std::normal_distribution<double>()(generator);
}

/// Normal samples, or whole numbers, whose distances from other whole numbers are often exactly a
/// bandwidth; every seventh weight is 0. `correlated`: a full root.
inline Case make_case(std::size_t n, std::size_t m, std::size_t d, double bandwidth, bool whole,
                      bool correlated, double offset) {
  std::mt19937_64 generator(1000 * n + 10 * m + d);
  Case c{n, m, d, {}, {}, {}, std::vector<double>(d * d, 0.0)};
  const auto draw = [&] {
    const double value = 3.0 * normal(generator);
    return offset + (whole ? std::round(value) : value);
  };
  for (std::size_t i = 0; i < n * d; ++i) c.x.push_back(draw());
  for (std::size_t i = 0; i < m * d; ++i) c.points.push_back(draw());
  for (std::size_t i = 0; i < n; ++i) c.w.push_back(i % 7 == 3 ? 0.0 : 0.25 + 0.5 * (i % 5));
  for (std::size_t k = 0; k < d; ++k) {
    c.root[k * d + k] = bandwidth * (correlated ? 1.0 + 0.1 * static_cast<double>(k % 3) : 1.0);
    for (std::size_t l = 0; correlated && l < k; ++l)
      c.root[l * d + k] = 0.2 * bandwidth / (1.0 + l);
  }
  return c;
}

inline MatrixView matrix(const std::vector<double>& values, std::size_t rows, std::size_t columns) {
  return {values.data(), rows, columns};
}

inline RunOptions cpu() {
  RunOptions options;
  options.table = simd::find_table("auto");
  return options;
}

}  // namespace kestrel

#endif
