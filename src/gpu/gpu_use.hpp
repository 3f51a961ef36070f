// Whether a task runs on the device, and what happens if that fails.
#ifndef KESTREL_GPU_GPU_USE_HPP
#define KESTREL_GPU_GPU_USE_HPP

#include <functional>
#include <string>

#include "gpu/gpu_abi.h"
#include "gpu/loader.hpp"

namespace kestrel {

/// Where a user wants a task to run.
enum class Backend { automatic, cpu, cuda };

/// The device of one task, or of several that stay together, such as all evaluations of a search.
/// Chosen once by choose(); if the device then fails, the CPU takes over for the rest.
class GpuUse {
 public:
  /// tell(problem) is called if the device cannot be used, and words the problem for the user. It
  /// must throw if the user asked for the device.
  using Tell = std::function<void(const gpu_error& problem)>;

  GpuUse(Backend asked, Tell tell) : asked_(asked), tell_(std::move(tell)) {}

  Backend asked() const { return asked_; }
  /// Takes the device if the user asked for one, or if it pays off (gpu_pays_off()) for work of
  /// `cpu` seconds on the CPU and seconds(device) on the device. The driver is started only if the
  /// CPU takes long enough. Returns on_device(). A device that was chosen before is kept.
  bool choose(double cpu, const std::function<double(const kestrel_gpu_device&)>& seconds);
  bool on_device() const { return !device_.empty(); }
  /// The name of the device, or the names of several; "" for the CPU.
  const std::string& device() const { return device_; }
  /// Tells the problem and leaves the device.
  void fall_back(const gpu_error& problem);

  /// device(), or cpu() if the task runs on the CPU or the device fails.
  template <class Device, class Cpu>
  auto sums(const Device& device, const Cpu& cpu) -> decltype(cpu()) {
    if (on_device()) {
      try {
        return device();
      } catch (const gpu_error& problem) {
        fall_back(problem);
      }
    }
    return cpu();
  }

 private:
  Backend asked_;
  Tell tell_;
  std::string device_;
};

}  // namespace kestrel

#endif
