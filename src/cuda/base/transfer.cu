#include <algorithm>
#include <cstring>

#include "cuda/base/device.cuh"
#include "cuda/base/streams.cuh"
#include "cuda/base/transfer.cuh"

namespace kestrel_cuda {

namespace {

kestrel_gpu_host_loop host_loop = nullptr;

/// What a thread copies at a time, at most and at least: it works on one half of its locked memory
/// while the device works on the other one.
constexpr std::size_t kMaxChunk = std::size_t{1} << 20, kMinChunk = std::size_t{1} << 17;

/// Locked memory of all threads, which stays with the process; null if there is none.
unsigned char* locked_memory() {
  static unsigned char* const memory = [] {
    void* taken = nullptr;
    const std::size_t bytes = KESTREL_GPU_HOST_THREADS * 2 * kMaxChunk;
    if (cudaHostAlloc(&taken, bytes, cudaHostAllocPortable) == cudaSuccess) {
      return static_cast<unsigned char*>(taken);
    }
    cudaGetLastError();
    return static_cast<unsigned char*>(nullptr);
  }();
  return memory;
}

/// The copies of one thread to and from one device.
class Lane {
 public:
  /// `locked`: two chunks.
  explicit Lane(unsigned char* locked) : locked_(locked) {}

  /// Returns while the device still copies: finish() waits for it.
  void send(const unsigned char* from, std::size_t bytes, unsigned char* to) {
    unsigned char* const half = locked_ + turn_ * kMaxChunk;
    if (busy_[turn_]) copied_[turn_].wait();
    std::memcpy(half, from, bytes);
    check(cudaMemcpyAsync(to, half, bytes, cudaMemcpyHostToDevice, stream_.get()), "copying data");
    copied_[turn_].record(stream_.get());
    busy_[turn_] = true;
    turn_ = 1 - turn_;
  }

  void finish() {
    check(cudaStreamSynchronize(stream_.get()), "copying data");
    busy_[0] = busy_[1] = false;
  }

  /// The second half of the bytes arrives while the first one is copied on.
  void fetch(const unsigned char* from, std::size_t bytes, unsigned char* to) {
    const std::size_t first = bytes / 2;
    const std::size_t begin[2] = {0, first}, count[2] = {first, bytes - first};
    for (int part = 0; part < 2; ++part) {
      check(cudaMemcpyAsync(locked_ + part * kMaxChunk, from + begin[part], count[part],
                            cudaMemcpyDeviceToHost, stream_.get()),
            "copying values back");
      copied_[part].record(stream_.get());
    }
    for (int part = 0; part < 2; ++part) {
      copied_[part].wait();
      std::memcpy(to + begin[part], locked_ + part * kMaxChunk, count[part]);
    }
  }

 private:
  unsigned char* const locked_;
  Event copied_[2];
  bool busy_[2] = {false, false};
  std::size_t turn_ = 0;
  Stream stream_;  // last: its work is finished before the events go
};

/// The lane of a thread for the current device. Lanes stay with the process: making a stream takes
/// as long as copying a megabyte.
Lane& lane_of(int worker) {
  static Lane* lanes[kMostDevices][KESTREL_GPU_HOST_THREADS];
  Lane*& lane = lanes[current_device()][worker];
  if (lane == nullptr) {
    lane = new Lane(locked_memory() + static_cast<std::size_t>(worker) * 2 * kMaxChunk);
  }
  return *lane;
}

/// A copy by several threads.
struct Transfer {
  const unsigned char* from;
  unsigned char* to;
  std::size_t bytes, chunk;
  bool back;
  int device;
  bool began[KESTREL_GPU_HOST_THREADS] = {}, failed[KESTREL_GPU_HOST_THREADS] = {};
  Failure failure[KESTREL_GPU_HOST_THREADS] = {};

  /// An item of the loop.
  static void copy(void* context, std::size_t item, int worker) {
    Transfer& all = *static_cast<Transfer*>(context);
    if (all.failed[worker]) return;
    Failure& failure = all.failure[worker];
    failure.code = guarded(failure.text, sizeof failure.text, [&] {
      const OnDevice on(all.device);
      Lane& lane = lane_of(worker);
      const std::size_t at = item * all.chunk, count = std::min(all.chunk, all.bytes - at);
      if (all.back) {
        lane.fetch(all.from + at, count, all.to + at);
      } else {
        lane.send(all.from + at, count, all.to + at);
      }
      return int{KESTREL_GPU_OK};
    });
    all.began[worker] = true;
    all.failed[worker] = failure.code != KESTREL_GPU_OK;
  }
};

/// See the two functions that call it.
bool copy_by_threads(const void* from, std::size_t bytes, void* to, bool back) {
  if (host_loop == nullptr || locked_memory() == nullptr) return false;
  Transfer all{static_cast<const unsigned char*>(from),
               static_cast<unsigned char*>(to),
               bytes,
               std::min(kMaxChunk, std::max(kMinChunk, bytes / 8)),
               back,
               current_device()};
  // The memory on the device is there, and what is in it, only when the default stream has come to
  // its allocation and to what writes to it.
  check(cudaStreamSynchronize(nullptr), back ? "summing" : "taking memory");
  if (host_loop((bytes + all.chunk - 1) / all.chunk, Transfer::copy, &all) == 0) return false;
  for (int worker = 0; worker < KESTREL_GPU_HOST_THREADS; ++worker) {
    if (all.failed[worker]) throw all.failure[worker];
    if (all.began[worker] && !back) lane_of(worker).finish();
  }
  return true;
}

}  // namespace

void set_host_loop(kestrel_gpu_host_loop loop) { host_loop = loop; }

bool upload_by_threads(const void* from, std::size_t bytes, void* to) {
  return copy_by_threads(from, bytes, to, false);
}

bool download_by_threads(const void* from, std::size_t bytes, void* to) {
  return copy_by_threads(from, bytes, to, true);
}

void take_pages(double* memory, std::size_t count) {
  constexpr std::size_t kNumbers = 4096 / sizeof(double);
  for (std::size_t i = 0; i < count; i += kNumbers) memory[i] = 0.0;
}

}  // namespace kestrel_cuda
