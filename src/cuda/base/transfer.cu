#include <algorithm>
#include <cstring>
#include <memory>

#include "cuda/base/device.cuh"
#include "cuda/base/streams.cuh"
#include "cuda/base/transfer.cuh"

namespace kestrel_cuda {

namespace {

kestrel_gpu_host_loop host_loop = nullptr;

/// What a thread copies at a time: it fills one half of its locked memory while the device reads
/// the other one.
constexpr std::size_t kChunk = std::size_t{1} << 20;

/// Locked memory of all threads, which stays with the process; null if there is none.
unsigned char* locked_memory() {
  static unsigned char* const memory = [] {
    void* taken = nullptr;
    const std::size_t bytes = KESTREL_GPU_HOST_THREADS * 2 * kChunk;
    if (cudaHostAlloc(&taken, bytes, cudaHostAllocPortable) == cudaSuccess) {
      return static_cast<unsigned char*>(taken);
    }
    cudaGetLastError();
    return static_cast<unsigned char*>(nullptr);
  }();
  return memory;
}

/// The copies of one thread.
class Lane {
 public:
  explicit Lane(unsigned char* locked) : locked_(locked) {}

  void copy(const unsigned char* from, std::size_t bytes, unsigned char* to) {
    unsigned char* const half = locked_ + turn_ * kChunk;
    if (busy_[turn_]) copied_[turn_].wait();
    std::memcpy(half, from, bytes);
    check(cudaMemcpyAsync(to, half, bytes, cudaMemcpyHostToDevice, stream_.get()), "copying data");
    copied_[turn_].record(stream_.get());
    busy_[turn_] = true;
    turn_ = 1 - turn_;
  }
  void finish() { check(cudaStreamSynchronize(stream_.get()), "copying data"); }

 private:
  unsigned char* const locked_;
  Event copied_[2];
  bool busy_[2] = {false, false};
  std::size_t turn_ = 0;
  Stream stream_;  // last: its work is finished before the events go
};

struct Upload {
  const unsigned char* from;
  unsigned char* to;
  std::size_t bytes;
  int device;
  unsigned char* locked;
  std::unique_ptr<Lane> lane[KESTREL_GPU_HOST_THREADS];
  bool failed[KESTREL_GPU_HOST_THREADS] = {};
  Failure failure[KESTREL_GPU_HOST_THREADS];

  /// An item of the loop.
  static void copy(void* context, std::size_t item, int worker) {
    Upload& all = *static_cast<Upload*>(context);
    if (all.failed[worker]) return;
    Failure& failure = all.failure[worker];
    failure.code = guarded(failure.text, sizeof failure.text, [&] {
      const OnDevice on(all.device);
      std::unique_ptr<Lane>& lane = all.lane[worker];
      if (lane == nullptr) {
        lane = std::make_unique<Lane>(all.locked + static_cast<std::size_t>(worker) * 2 * kChunk);
      }
      const std::size_t at = item * kChunk;
      lane->copy(all.from + at, std::min(kChunk, all.bytes - at), all.to + at);
      return int{KESTREL_GPU_OK};
    });
    all.failed[worker] = failure.code != KESTREL_GPU_OK;
  }
};

}  // namespace

void set_host_loop(kestrel_gpu_host_loop loop) { host_loop = loop; }

bool upload_by_threads(const void* from, std::size_t bytes, void* to) {
  if (host_loop == nullptr) return false;
  Upload all;
  all.from = static_cast<const unsigned char*>(from);
  all.to = static_cast<unsigned char*>(to);
  all.bytes = bytes;
  all.device = current_device();
  all.locked = locked_memory();
  if (all.locked == nullptr) return false;
  // The memory at `to` is there only when the default stream has come to its allocation.
  check(cudaStreamSynchronize(nullptr), "taking memory");
  if (host_loop((bytes + kChunk - 1) / kChunk, Upload::copy, &all) == 0) return false;
  for (int worker = 0; worker < KESTREL_GPU_HOST_THREADS; ++worker) {
    if (all.failed[worker]) throw all.failure[worker];
    if (all.lane[worker] != nullptr) all.lane[worker]->finish();
  }
  return true;
}

}  // namespace kestrel_cuda
