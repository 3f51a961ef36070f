// Copies from one device to another.
#include <algorithm>
#include <vector>

#include "cuda/base/device.cuh"
#include "cuda/base/streams.cuh"

namespace kestrel_cuda {

namespace {

/// Lets a device read the memory of another one's pool. Returns whether it can.
bool reach_pool(int device, int other) {
  int peers = 0, pools = 0;
  if (cudaDeviceCanAccessPeer(&peers, device, other) != cudaSuccess || peers == 0) return false;
  if (cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, other) != cudaSuccess) {
    return false;
  }
  if (pools == 0) return true;
  cudaMemPool_t pool;
  if (cudaDeviceGetDefaultMemPool(&pool, other) != cudaSuccess) return false;
  cudaMemAccessDesc access{};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = device;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  return cudaMemPoolSetAccess(pool, &access, 1) == cudaSuccess;
}

bool are_peers(int device, int other) {
  // Each device has a row of its own, which one thread at a time uses.
  static signed char peers[kMostDevices][kMostDevices];  // 0: not known yet
  signed char& known = peers[device][other];
  if (known == 0) known = reach_pool(device, other) ? 1 : -1;
  if (known < 0) cudaGetLastError();
  return known > 0;
}

/// Returns whether that could be done.
bool copy_to_peer(int from_device, const void* from, int to_device, void* to, std::size_t bytes) {
  if (!are_peers(to_device, from_device)) return false;
  // A stream of its own does not wait for what the other device computes.
  const Stream stream;
  const bool copied =
      cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream.get()) == cudaSuccess &&
      cudaStreamSynchronize(stream.get()) == cudaSuccess;
  if (!copied) cudaGetLastError();
  return copied;
}

}  // namespace

void copy_between(int from_device, const void* from, void* to, std::size_t bytes) {
  if (bytes == 0) return;
  // The memory at `to` is there only when the default stream has come to its allocation.
  check(cudaStreamSynchronize(nullptr), "taking memory");
  const int device = current_device();
  if (copy_to_peer(from_device, from, device, to, bytes)) return;
  constexpr std::size_t kAtOnce = std::size_t{1} << 24;
  std::vector<unsigned char> room(std::min(bytes, kAtOnce));
  for (std::size_t at = 0; at < bytes; at += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, bytes - at);
    {
      const OnDevice other(from_device);
      check(cudaMemcpy(room.data(), static_cast<const unsigned char*>(from) + at, count,
                       cudaMemcpyDeviceToHost),
            "copying data of another device");
    }
    check(cudaMemcpy(static_cast<unsigned char*>(to) + at, room.data(), count,
                     cudaMemcpyHostToDevice),
          "copying data of another device");
  }
}

}  // namespace kestrel_cuda
