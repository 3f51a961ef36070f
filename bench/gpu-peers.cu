// Copies from one device to another beside copies through the host, for bench/gpu.R: lines "copy",
// way, from, to, bytes a second. The best of five copies of 1 GiB.
#include <cuda_runtime.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr std::size_t kBytes = std::size_t{1} << 30;

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

template <class Copy>
double rate_of(const Copy& copy) {
  double best = 0.0;
  for (int k = 0; k < 5; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    copy();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (kBytes / seconds > best) best = kBytes / seconds;
  }
  return best;
}

void* memory_on(int device, bool pool) {
  void* memory = nullptr;
  check(cudaSetDevice(device), "choosing a device");
  check(pool ? cudaMallocAsync(&memory, kBytes, nullptr) : cudaMalloc(&memory, kBytes),
        "taking memory");
  check(cudaMemset(memory, device + 1, kBytes), "setting memory");
  check(cudaDeviceSynchronize(), "setting memory");
  return memory;
}

void free_on(int device, bool pool, void* memory) {
  check(cudaSetDevice(device), "choosing a device");
  check(pool ? cudaFreeAsync(memory, nullptr) : cudaFree(memory), "freeing memory");
}

/// Whether the copy arrived.
bool arrived(int to, const void* memory, int value) {
  unsigned char byte = 0;
  check(cudaSetDevice(to), "choosing a device");
  check(cudaMemcpy(&byte, static_cast<const unsigned char*>(memory) + kBytes - 1, 1,
                   cudaMemcpyDeviceToHost),
        "looking at the copy");
  return byte == value;
}

void copy_between(int from, int to, bool pool, bool access) {
  void* const source = memory_on(from, pool);
  void* const target = memory_on(to, pool);
  int peers = 0;
  check(cudaDeviceCanAccessPeer(&peers, to, from), "asking for peers");
  if (pool && access && peers != 0) {
    cudaMemPool_t memory;
    check(cudaDeviceGetDefaultMemPool(&memory, from), "asking for the pool");
    cudaMemAccessDesc description{};
    description.location.type = cudaMemLocationTypeDevice;
    description.location.id = to;
    description.flags = cudaMemAccessFlagsProtReadWrite;
    check(cudaMemPoolSetAccess(memory, &description, 1), "opening the pool");
  }
  const double rate = rate_of([&] {
    check(cudaMemcpyPeerAsync(target, to, source, from, kBytes, nullptr), "copying");
    check(cudaStreamSynchronize(nullptr), "copying");
  });
  const char* way = !pool ? "peer" : access ? "peer, pool" : "peer, pool without access";
  std::printf("copy \"%s\" %d %d %.4g\n", arrived(to, target, from + 1) ? way : "WRONG", from, to,
              rate);
  free_on(from, pool, source);
  free_on(to, pool, target);
  std::fflush(stdout);
}

void copy_through_host(int from, int to, bool pinned) {
  void* const source = memory_on(from, false);
  void* const target = memory_on(to, false);
  std::vector<unsigned char> pageable(pinned ? 0 : kBytes);
  void* host = pageable.data();
  if (pinned) check(cudaHostAlloc(&host, kBytes, cudaHostAllocDefault), "locking memory");
  const double rate = rate_of([&] {
    check(cudaSetDevice(from), "choosing a device");
    check(cudaMemcpy(host, source, kBytes, cudaMemcpyDeviceToHost), "copying");
    check(cudaSetDevice(to), "choosing a device");
    check(cudaMemcpy(target, host, kBytes, cudaMemcpyHostToDevice), "copying");
  });
  std::printf("copy \"%s\" %d %d %.4g\n", pinned ? "through the host, locked" : "through the host",
              from, to, rate);
  if (pinned) cudaFreeHost(host);
  free_on(from, false, source);
  free_on(to, false, target);
  std::fflush(stdout);
}

}  // namespace

int main() {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "counting devices");
  for (int to = 1; to < devices; ++to) {
    copy_between(0, to, false, false);
    copy_between(0, to, true, true);
  }
  if (devices < 2) return 0;
  copy_through_host(0, 1, true);
  copy_through_host(0, 1, false);
  // Last: it may not be allowed.
  if (devices > 2) copy_between(1, 2, true, false);
  return 0;
}
