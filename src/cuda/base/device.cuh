// The device: checked calls, and memory that frees itself.
#ifndef KESTREL_CUDA_BASE_DEVICE_CUH
#define KESTREL_CUDA_BASE_DEVICE_CUH

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>

#include "cuda/base/transfer.cuh"
#include "gpu/gpu_abi.h"

namespace kestrel_cuda {

inline std::size_t round_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

/// How many pieces of `size` make up `all`: the blocks of a launch.
inline unsigned pieces(std::size_t all, std::size_t size) {
  return static_cast<unsigned>((all + size - 1) / size);
}

/// Thrown inside the object; guarded() turns it into a code and a text.
struct Failure {
  int code;
  char text[512];
};

/// Throws the Failure for a request beyond what the object was made for. At least one value:
/// compilers refuse a format that is no literal and has none.
template <class... Values>
[[noreturn]] void refuse(const char* format, Values... values) {
  Failure failure;
  failure.code = KESTREL_GPU_REFUSED;
  std::snprintf(failure.text, sizeof failure.text, format, values...);
  throw failure;
}

/// `memory`: the code if memory is exhausted.
inline void check(cudaError_t status, const char* what, int memory = KESTREL_GPU_MEMORY) {
  if (status == cudaSuccess) return;
  Failure failure;
  failure.code = status == cudaErrorMemoryAllocation ? memory
                 : status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver ||
                         status == cudaErrorNoKernelImageForDevice
                     ? KESTREL_GPU_NO_DEVICE
                     : KESTREL_GPU_FAILED;
  std::snprintf(failure.text, sizeof failure.text, "%s (%s, while %s)", cudaGetErrorString(status),
                cudaGetErrorName(status), what);
  cudaGetLastError();  // clears an error that is not fatal, so that it is not reported again
  throw failure;
}

/// Runs the body of a function of the table.
template <class Body>
int guarded(char* problem, std::size_t room, const Body& body) {
  try {
    return body();
  } catch (const Failure& failure) {
    std::snprintf(problem, room, "%s", failure.text);
    return failure.code;
  } catch (const std::bad_alloc&) {
    std::snprintf(problem, room, "while working for the device");
    return KESTREL_GPU_HOST_MEMORY;
  } catch (...) {
    std::snprintf(problem, room, "an unknown error");
    return KESTREL_GPU_FAILED;
  }
}

/// Memory comes from the driver's pool, which keeps up to kKept bytes of what is freed. Without a
/// pool, as on some devices, allocating and freeing take some milliseconds a call.
constexpr std::uint64_t kKept = std::uint64_t{1} << 29;

/// Devices beyond this number are not used.
constexpr int kMostDevices = 64;

inline int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "asking for the device");
  return device;
}

/// Makes a device the calling thread's for as long as the object lives.
class OnDevice {
 public:
  explicit OnDevice(int device) : before_(current_device()), device_(device) {
    if (device != before_) check(cudaSetDevice(device), "choosing a device");
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() {
    if (device_ != before_) cudaSetDevice(before_);
  }

 private:
  const int before_, device_;
};

inline bool open_pool(int device) {
  int pools = 0;
  check(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, device),
        "asking for pools of memory");
  if (pools == 0) return false;
  cudaMemPool_t pool;
  check(cudaDeviceGetDefaultMemPool(&pool, device), "asking for the pool of memory");
  std::uint64_t kept = kKept;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept),
        "setting up the pool of memory");
  return true;
}

/// Whether the current device has a pool. One thread at a time uses a device.
inline bool has_pool() {
  static signed char pool[kMostDevices];  // 0: not known yet
  signed char& known = pool[current_device()];
  if (known == 0) known = open_pool(current_device()) ? 1 : -1;
  return known > 0;
}

/// Device memory that grows and never shrinks. All work is on the default stream.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { release(); }

  /// The old contents are lost.
  T* reserve(std::size_t size) {
    if (size <= size_) return data_;
    check(release(), "freeing memory");
    void* memory = nullptr;
    const std::size_t bytes = size * sizeof(T);
    check(has_pool() ? cudaMallocAsync(&memory, bytes, nullptr) : cudaMalloc(&memory, bytes),
          "taking memory");
    data_ = static_cast<T*>(memory);
    size_ = size;
    return data_;
  }
  T* data() const { return data_; }

 private:
  cudaError_t release() {
    if (data_ == nullptr) return cudaSuccess;
    const cudaError_t status = has_pool() ? cudaFreeAsync(data_, nullptr) : cudaFree(data_);
    data_ = nullptr;
    size_ = 0;
    return status;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class Number>
void upload(const Number* from, std::size_t count, Number* to) {
  if (count == 0) return;
  const std::size_t bytes = count * sizeof(Number);
  if (bytes >= kLargeTransfer && upload_by_threads(from, bytes, to)) return;
  check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copying data");
}

/// Copies back what the default stream has written by then.
template <class Number>
void download(const Number* from, std::size_t count, Number* to) {
  if (count == 0) return;
  const std::size_t bytes = count * sizeof(Number);
  if (bytes >= kLargeTransfer && download_by_threads(from, bytes, to)) return;
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copying sums back");
}

/// Uploads `columns` columns of `count` numbers, `stride` apart, to be one after the other. Column
/// by column, since the function that copies a rectangle takes no row of 2^31 bytes.
inline void upload_columns(const double* from, std::size_t stride, std::size_t count,
                           std::size_t columns, double* to) {
  if (stride == count) return upload(from, columns * count, to);
  for (std::size_t k = 0; k < columns; ++k) upload(from + k * stride, count, to + k * count);
}

/// Copies from another device to the current one, whose memory at `to` is new. What is copied must
/// be there already, whatever else the other device does now.
void copy_between(int from_device, const void* from, void* to, std::size_t bytes);

/// Fills a buffer with `count` numbers that another device has in one of its own.
template <class T>
T* copy_from(int from_device, const Buffer<T>& from, std::size_t count, Buffer<T>* to) {
  T* const memory = to->reserve(count > 0 ? count : 1);
  copy_between(from_device, from.data(), memory, count * sizeof(T));
  return memory;
}

/// Waits until what was sent is there for other devices, too.
inline void finish_sending() { check(cudaStreamSynchronize(nullptr), "sending data"); }

/// A point in the order of a stream's work.
class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }

  /// Null: the default stream.
  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "marking work"); }
  void wait() const { check(cudaEventSynchronize(event_), "waiting for work"); }
  /// Makes later work on the stream wait for the event.
  void hold(cudaStream_t stream) const {
    check(cudaStreamWaitEvent(stream, event_, 0), "ordering work");
  }
  bool done() const {
    const cudaError_t status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) {
      cudaGetLastError();
      return false;
    }
    check(status, "asking whether work is done");
    return true;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// One launch takes about this many operations, a fiftieth of a second on an H200, so that the poll
/// can be called between launches.
constexpr double kLaunchOperations = 2e11;

/// Limits how far launches run ahead: one runs while the next one waits, so that the device is
/// never idle, and no more than that wait.
class Pace {
 public:
  /// To be called after each launch.
  void launched() {
    done_[launches_ % 2].record(nullptr);
    if (launches_ > 0) done_[(launches_ - 1) % 2].wait();
    ++launches_;
  }

 private:
  Event done_[2];
  std::size_t launches_ = 0;
};

}  // namespace kestrel_cuda

#endif
