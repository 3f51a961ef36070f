// Copies of many numbers between the host and a device by several threads of the host.
#ifndef KESTREL_CUDA_BASE_TRANSFER_CUH
#define KESTREL_CUDA_BASE_TRANSFER_CUH

#include <cstddef>

#include "gpu/gpu_abi.h"

namespace kestrel_cuda {

/// How to run a loop on threads of the host. Null: not at all.
void set_host_loop(kestrel_gpu_host_loop loop);

/// From this size on several threads are faster: the driver copies 4 to 10 GB/s, since memory that
/// is not locked passes through a buffer of its own, by one thread.
constexpr std::size_t kLargeTransfer = std::size_t{1} << 22;

/// Copies to the current device, or back, after all work on its default stream. Returns false if
/// threads could not, having changed nothing else: then the driver may. Throws for errors of the
/// device.
bool upload_by_threads(const void* from, std::size_t bytes, void* to);
bool download_by_threads(const void* from, std::size_t bytes, void* to);

/// Writes to each page of the host's memory for `count` numbers that are copied back later. The
/// system gives memory page by page, at the first writes to it, 1 to 2 us each: as long as copying.
/// To be called while the device computes.
void take_pages(double* memory, std::size_t count);

}  // namespace kestrel_cuda

#endif
