// A density as a user asks for it: the engine and the place, CPU or device, are chosen, and the CPU
// takes over from a device that fails.
#ifndef KESTREL_GPU_DENSITY_CALL_HPP
#define KESTREL_GPU_DENSITY_CALL_HPP

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/density.hpp"
#include "core/scanline/scanline.hpp"
#include "gpu/gpu_use.hpp"
#include "gpu/scanline.hpp"

namespace kestrel {

/// What a user asks for besides the task.
struct DensityRequest {
  std::string engine = "auto";  // or the name of one
  bool single = false;          // whether a device may compute in single precision
  /// The CPU computes every grid that "scanline" takes with this engine, for slabs that have the
  /// bits of the whole.
  bool slabs = false;
};

/// How a task will be computed.
struct DensityChoice {
  DensityPlan plan;    // on the CPU
  std::string engine;  // its name, on the device if there is one
  std::string reason;  // one clause for people
  double seconds = 0;  // expected, on all threads or on the device
  std::string device;  // "" for the CPU
  bool on_device() const { return !device.empty(); }
};

/// Chooses the engine as plan_density(), and the place by `use`, which compares the expected times.
/// `larger`: the factor by which the work that the place is chosen for is larger than the task.
/// Throws as plan_density(), and error(unfit) if the engine that is asked for does not take the
/// grid.
DensityChoice choose_density(const DensityTask& task, const DensityRequest& request, GpuUse& use,
                             double larger = 1);

/// Where to write the values; called before each computation, the one on the device and, if that
/// fails, the one on the CPU.
using DensityOutput = std::function<Span<double>(const DensityChoice&)>;

/// Computes the density, sums divided by the number of samples. Returns whether they are in single
/// precision.
bool compute_density(const DensityTask& task, const DensityRequest& request, GpuUse& use,
                     const RunOptions& how, const DensityOutput& output);

/// The engine "scanline", on the device or the CPU, for one slab of a grid after another. The
/// samples are sorted once, and again by the CPU if the device fails.
class DensitySlabs {
 public:
  /// Takes the device if `use` has one. All that the task refers to must outlive the object. Throws
  /// as ScanlineDensity does.
  DensitySlabs(const DensityTask& task, GpuUse use, const RunOptions& how);

  const GpuUse& use() const { return use_; }
  /// Points of the grid for one index of the last axis.
  std::size_t points() const { return points_; }
  /// The density at indices first, ..., first + count - 1 of the last axis.
  void slab(std::size_t first, std::size_t count, const RunOptions& how, Span<double> out);

 private:
  Span<const RegularAxis> axes() const { return {axes_.data(), axes_.size()}; }
  const ScanlineDensity& on_cpu(const RunOptions& how);

  const DensityTask task_;
  const std::vector<RegularAxis> axes_;
  std::size_t points_ = 1;
  GpuUse use_;
  std::unique_ptr<const GpuScanline> on_device_;
  std::unique_ptr<const ScanlineDensity> on_cpu_;
};

}  // namespace kestrel

#endif
