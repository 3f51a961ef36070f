#include "gpu/density_call.hpp"

#include <algorithm>
#include <optional>

#include "core/base/error.hpp"
#include "core/plan/plan.hpp"
#include "core/scanline/engine.hpp"
#include "gpu/cost.hpp"
#include "gpu/density.hpp"

namespace kestrel {

namespace {

/// A grid for the engine "scanline", or nothing.
using Grid = std::optional<ScanlineGeometry>;

/// The engine of the device for a task, "" if it has none for the engine that was asked for.
std::string device_engine(const DensityTask& task, const Grid& grid, const std::string& asked,
                          bool single, Backend backend) {
  if (backend == Backend::cpu) return "";
  if (asked == "auto") {
    const double d = static_cast<double>(task.sample.d());
    return grid && gpu_prefers_scanline(*grid, task.kernel, task.samples(), task.points(), d,
                                        single)
               ? "scanline"
               : "direct";
  }
  const bool taken = asked == "direct" || (asked == "scanline" && grid);
  return taken || backend == Backend::cuda ? asked : "";
}

double device_seconds(const DensityTask& task, const std::string& engine, const Grid& grid,
                      double m, bool single, const kestrel_gpu_device& device) {
  if (engine == "scanline" && grid) {
    const double work = gpu_scanline_work(*grid, task.kernel, task.samples(), m);
    return gpu_scanline_seconds(work, task.samples(), m, device);
  }
  return gpu_direct_seconds(task.samples(), m, static_cast<double>(task.sample.d()), device,
                            single);
}

ScanlineSettings settings_of(const DensityTask& task) {
  ScanlineSettings settings;
  settings.divisor = task.divisor;
  return settings;
}

/// Returns whether the sums are in single precision.
bool device_sums(const DensityTask& task, const std::string& engine, bool single,
                 const RunOptions& how, Span<double> out) {
  if (engine != "scanline") {
    return gpu_density(task.sample.x(), task.sample.w(), task.at, task.kernel, task.root, single,
                       how, out, task.divisor);
  }
  const std::vector<RegularAxis> axes = find_regular_axes(task.at.axes);
  gpu_scanline_density(task.sample.x(), task.sample.w(), {axes.data(), axes.size()}, task.kernel,
                       task.root, settings_of(task), how, out);
  return false;
}

std::size_t points_of_a_slice(const std::vector<RegularAxis>& axes) {
  std::size_t points = 1;
  for (std::size_t a = 0; a + 1 < axes.size(); ++a) points *= axes[a].count;
  return points;
}

}  // namespace

DensityChoice choose_density(const DensityTask& task, const DensityRequest& request, GpuUse& use,
                             double larger) {
  Grid grid;
  if (request.engine == "auto" || request.engine == "scanline") scanline_axes(task, &grid);
  const std::string device = device_engine(task, grid, request.engine, request.single, use.asked());
  // If the device was asked for, the plan of the CPU is that of the same engine.
  std::string asked = use.asked() == Backend::cuda ? device : request.engine;
  if (asked == "auto" && request.slabs && grid) asked = "scanline";
  std::optional<DensityPlan> plan = plan_density(task, asked);
  if (!plan) {
    throw error(ErrorKind::unfit,
                "engine \"" + request.engine + "\" takes " + scanline_engine.takes());
  }
  DensityChoice choice;
  choice.engine = plan->engine->name;
  choice.reason = plan->reason;
  choice.seconds = larger * plan->seconds / std::max(1, task.how.parallel.threads);
  choice.plan = std::move(*plan);
  if (device.empty()) return choice;
  const auto seconds = [&](const kestrel_gpu_device& one) {
    return device_seconds(task, device, grid, larger * task.points(), request.single, one);
  };
  if (!use.choose(choice.seconds, seconds)) return choice;
  choice.engine = device;
  choice.reason = device != "scanline" ? "sums every pair on the GPU"
                  : gpu_takes_events(task.kernel, task.sample.d())
                      ? "the ends of runs on the GPU"
                      : "the points of runs on the GPU";
  choice.seconds = seconds(gpu_device()) / static_cast<double>(gpu_devices().size());
  choice.device = use.device();
  return choice;
}

bool compute_density(const DensityTask& task, const DensityRequest& request, GpuUse& use,
                     const RunOptions& how, const DensityOutput& output) {
  const DensityChoice choice = choose_density(task, request, use);
  if (choice.on_device()) {
    try {
      const Span<double> out = output(choice);
      return device_sums(task, choice.engine, request.single, how, out);
    } catch (const gpu_error& problem) {
      use.fall_back(problem);
    }
    GpuUse cpu(Backend::cpu, {});
    return compute_density(task, request, cpu, how, output);
  }
  const Span<double> out = output(choice);
  if (out.size > 0) choice.plan.engine->run(task, choice.plan, how, out);
  return false;
}

DensitySlabs::DensitySlabs(const DensityTask& task, GpuUse use, const RunOptions& how)
    : task_(task),
      axes_(find_regular_axes(task.at.axes)),
      points_(points_of_a_slice(axes_)),
      use_(std::move(use)) {
  use_.sums(
      [&] {
        on_device_ =
            std::make_unique<const GpuScanline>(task_.sample.x(), task_.sample.w(), axes(),
                                                task_.kernel, task_.root, settings_of(task_), how);
      },
      [&] { on_cpu(how); });
}

const ScanlineDensity& DensitySlabs::on_cpu(const RunOptions& how) {
  if (on_cpu_ == nullptr) {
    on_device_.reset();
    on_cpu_ =
        std::make_unique<const ScanlineDensity>(task_.sample.x(), task_.sample.w(), axes(),
                                                task_.kernel, task_.root, settings_of(task_), how);
  }
  return *on_cpu_;
}

void DensitySlabs::slab(std::size_t first, std::size_t count, const RunOptions& how,
                        Span<double> out) {
  use_.sums([&] { on_device_->slab(first, count, how, out); },
            [&] { on_cpu(how).slab(first, count, how, out); });
}

}  // namespace kestrel
