// Opens the CUDA object when it is first needed, and says why if that fails.
#ifndef KESTREL_GPU_LOADER_HPP
#define KESTREL_GPU_LOADER_HPP

#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/gpu_abi.h"

namespace kestrel {

enum class GpuProblem {
  not_built,   ///< there is no CUDA object
  not_loaded,  ///< there is one, but it does not load or is of another version
  no_device,   ///< the driver has no device that the object can use
  forked,      ///< this process was forked from one that had used the device
  memory,      ///< the device's memory, or the host's, does not suffice
  unsuited,    ///< the device could not compute this, or not as exactly as is promised
  failed       ///< the driver failed: nothing works on the device any more
};

/// What went wrong, in words for the user.
struct gpu_error : std::runtime_error {
  gpu_error(GpuProblem problem_, const std::string& message)
      : std::runtime_error(message), problem(problem_) {}

  GpuProblem problem;
};

/// Sets the object to use from now on. `path` is "" if the package was built without one; then
/// `reason` says why. Nothing is opened yet. An object that was open before stays in memory.
void set_gpu_object(const std::string& path, const std::string& reason);

/// Whether there is an object, usable or not.
bool gpu_built();

/// The devices that tasks may use from now on, by their numbers from 0, the first one first. Empty:
/// all.
void set_gpu_devices(std::vector<int> numbers);

/// The functions of the object. The first call opens the object and starts the driver and the first
/// device (about 0.3 s). Its outcome is remembered, success or failure, except for a lack of
/// memory. Throws gpu_error if none of the devices that may be used can be used.
const kestrel_gpu_table& gpu_table();

/// The numbers of the devices that the next task uses, at least one: those that may be used, but
/// not those that failed. Only the first of them has been started. Throws as gpu_table().
std::vector<int> gpu_devices();

/// The first of these, and the names of all in one text. Throw as gpu_table().
const kestrel_gpu_device& gpu_device();
std::string gpu_name();

/// Bytes of the first device's memory that are free now. Throws gpu_error.
double gpu_free_memory();

/// A device that was found, and why it cannot be used ("" if it can).
struct FoundDevice {
  kestrel_gpu_device device;
  std::string problem;
};

/// All devices, after starting each of them. Throws gpu_error if they cannot be listed.
std::vector<FoundDevice> find_gpu_devices();

/// No later task uses this device.
void lose_gpu_device(int number, const gpu_error& problem);

/// Whether this process may call the functions of the object: false if it was forked from one that
/// had opened it. For destructors, which must not throw.
bool gpu_here();

/// Throws gpu_error for a code that a function of the table returned with that text.
void check_gpu(int code, const char* text);

}  // namespace kestrel

#endif
