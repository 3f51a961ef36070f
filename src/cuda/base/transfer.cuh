// Copies of many numbers from the host by several of its threads.
#ifndef KESTREL_CUDA_BASE_TRANSFER_CUH
#define KESTREL_CUDA_BASE_TRANSFER_CUH

#include <cstddef>

#include "gpu/gpu_abi.h"

namespace kestrel_cuda {

/// How to run a loop on threads of the host. Null: not at all.
void set_host_loop(kestrel_gpu_host_loop loop);

/// From this size on several threads are faster: the driver copies 4 to 10 GB/s, since memory that
/// is not locked passes through a buffer of its own, by one thread.
constexpr std::size_t kLargeUpload = std::size_t{1} << 22;

/// Copies to the current device. Returns false if it could not, having changed nothing else: then
/// the driver may. Throws for errors of the device.
bool upload_by_threads(const void* from, std::size_t bytes, void* to);

}  // namespace kestrel_cuda

#endif
