// What sums cost on a device, in expected seconds, and when that is worth it.
#ifndef KESTREL_GPU_COST_HPP
#define KESTREL_GPU_COST_HPP

#include <cstddef>

#include "core/kernel/kernel.hpp"
#include "core/regression/cost.hpp"
#include "core/scanline/geometry.hpp"
#include "gpu/gpu_abi.h"

namespace kestrel {

/// The factor by which a device is expected to be slower than the H200 on which the times here were
/// measured (2026-11): the ratio of their rates of multiply-adds, in double or single precision.
double gpu_slowness(const kestrel_gpu_device& device, bool single);

/// Expected seconds for the sums of n m pairs in d variables with the Gaussian kernel.
double gpu_direct_seconds(double n, double m, double d, const kestrel_gpu_device& device,
                          bool single);

/// Expected seconds for the sums of n m pairs in d variables with a compact kernel and bandwidths
/// that vary.
double gpu_variable_seconds(Kernel kernel, double n, double m, double d,
                            const kestrel_gpu_device& device, bool single);

/// Whether the engine "scanline" adds the ends of runs on a device; otherwise it adds the values at
/// all points that a sample reaches.
bool gpu_takes_events(const KernelChoice& kernel, std::size_t d);

/// Expected seconds of an H200 alone for n samples on a grid of m points, by the engine "scanline".
double gpu_scanline_work(const ScanlineGeometry& geometry, const KernelChoice& kernel, double n,
                         double m);

/// Whether an H200 takes that engine for a grid of m points in d variables, instead of direct sums,
/// which are faster where kernels reach much of the grid: always for the ends of runs.
bool gpu_prefers_scanline(const ScanlineGeometry& geometry, const KernelChoice& kernel, double n,
                          double m, double d, bool single);

/// The same as gpu_scanline_work() on a device, with what the host does before and after.
double gpu_scanline_seconds(double work, double n, double m, const kestrel_gpu_device& device);

/// How many of the devices to use for a grid whose values go to the host, of which so many threads
/// copy them: all, or one if the host is what takes long.
std::size_t gpu_scanline_devices(double work, double m, std::size_t devices, int threads);

/// Expected seconds for a curve of cross-validation of n observations.
double gpu_regression_seconds(const RegressionWork& work, double n,
                              const kestrel_gpu_device& device);

/// Whether a device is taken, unless the user says so, for a task of `cpu` seconds on the CPU and
/// `gpu` seconds on the device. The CPU must take longer than it takes to start the driver, a
/// second, and twice as long as the device.
bool gpu_pays_off(double cpu, double gpu);

}  // namespace kestrel

#endif
