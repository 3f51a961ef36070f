// Page-locked memory of the host, which a device can write to while the host does other things.
#ifndef KESTREL_CUDA_BASE_LOCKED_CUH
#define KESTREL_CUDA_BASE_LOCKED_CUH

#include <cstddef>

namespace kestrel_cuda {

/// Memory for `count` values of the current device, null for none. It stays with the process, since
/// locking takes 0.7 ms a MiB. A later call for the same device returns the same memory, or frees
/// it for a larger one. One thread at a time uses a device.
double* locked_values(std::size_t count);

}  // namespace kestrel_cuda

#endif
