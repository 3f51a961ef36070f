// Streams of work that run side by side on the device, and copying of values to the host meanwhile.
#ifndef KESTREL_CUDA_BASE_STREAMS_CUH
#define KESTREL_CUDA_BASE_STREAMS_CUH

#include <algorithm>
#include <cstddef>
#include <deque>

#include "cuda/base/device.cuh"

namespace kestrel_cuda {

/// The destructor waits for the stream's work: what it uses must be declared before the stream.
class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }

  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Page-locked memory of the host: the device copies to it while the host does other things.
class Locked {
 public:
  explicit Locked(std::size_t size) {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, size * sizeof(double), cudaHostAllocDefault),
          "locking memory of the host", KESTREL_GPU_HOST_MEMORY);
    data_ = static_cast<double*>(memory);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() { cudaFreeHost(data_); }

  double* data() const { return data_; }

 private:
  double* data_ = nullptr;
};

/// Passes values from the device to `take`, in the order in which they were pushed, piece by piece:
/// one is copied while `take` has the one before.
template <class Take>
class Drain {
 public:
  static constexpr std::size_t kPiece = std::size_t{1} << 21;  // 16 MiB

  Drain(const Stream& stream, Locked* locked, const Take& take)
      : stream_(stream), locked_(locked), take_(take) {}

  /// Appends `count` values, which are ready when the events, already recorded, are done.
  void push(const double* from, std::size_t first, std::size_t count, const Event* ready,
            std::size_t events) {
    for (std::size_t at = 0; at < count; at += kPiece) {
      waiting_.push_back(
          {from + at, first + at, std::min(kPiece, count - at), ready, at == 0 ? events : 0});
      ++pushed_;
    }
  }
  std::size_t pushed() const { return pushed_; }

  /// Passes on the next piece if it has arrived (`wait`: when it has). Returns false to stop.
  bool step(bool wait) {
    Slot& slot = slot_[turn_];
    if (slot.busy) {
      if (wait) slot.copied.wait();
      if (!wait && !slot.copied.done()) return true;
      slot.busy = false;
      ++taken_;
      if (!take_(slot.piece.first, locked_[turn_].data(), slot.piece.count)) return false;
    }
    if (!waiting_.empty()) {
      slot.piece = waiting_.front();
      waiting_.pop_front();
      for (std::size_t i = 0; i < slot.piece.events; ++i) slot.piece.ready[i].hold(stream_.get());
      check(
          cudaMemcpyAsync(locked_[turn_].data(), slot.piece.from, slot.piece.count * sizeof(double),
                          cudaMemcpyDeviceToHost, stream_.get()),
          "copying values back");
      slot.copied.record(stream_.get());
      slot.busy = true;
    }
    turn_ = 1 - turn_;
    return true;
  }

  /// Goes on until that many pieces are taken. Returns false to stop.
  bool finish(std::size_t pieces) {
    while (taken_ < pieces) {
      if (!step(true)) return false;
    }
    return true;
  }

 private:
  struct Piece {
    const double* from;
    std::size_t first, count;
    const Event* ready;
    std::size_t events;
  };
  struct Slot {
    Piece piece{};
    bool busy = false;
    Event copied;
  };

  const Stream& stream_;
  Locked* const locked_;  // two of kPiece values
  const Take& take_;
  std::deque<Piece> waiting_;
  Slot slot_[2];
  std::size_t turn_ = 0, pushed_ = 0, taken_ = 0;
};

}  // namespace kestrel_cuda

#endif
