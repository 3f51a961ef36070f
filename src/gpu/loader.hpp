// Opens the CUDA object when it is first needed, and says why if that fails.
#ifndef KESTREL_GPU_LOADER_HPP
#define KESTREL_GPU_LOADER_HPP

#include <stdexcept>
#include <string>

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

/// The functions of the object, and the device they use. The first call opens the object and starts
/// the driver (about 0.3 s). Its outcome is remembered, success or failure, except for a lack of
/// memory. Throws gpu_error.
const kestrel_gpu_table& gpu_table();
const kestrel_gpu_device& gpu_device();

/// Bytes of the device's memory that are free now; gpu_device() has those that were free at the
/// first call. Throws gpu_error.
double gpu_free_memory();

/// Whether this process may call the functions of the object: false if it was forked from one that
/// had opened it. For destructors, which must not throw.
bool gpu_here();

/// Throws gpu_error for a code that a function of the table returned with that text. After
/// KESTREL_GPU_FAILED, but no other code, gpu_table() throws it again, since the driver does not
/// recover in a process.
void check_gpu(int code, const char* text);

}  // namespace kestrel

#endif
