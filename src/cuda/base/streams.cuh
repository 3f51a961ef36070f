// Streams of work that run side by side on the device, and copying of values to the host meanwhile.
#ifndef KESTREL_CUDA_BASE_STREAMS_CUH
#define KESTREL_CUDA_BASE_STREAMS_CUH

#include <algorithm>
#include <cstddef>
#include <deque>

#include "cuda/base/device.cuh"
#include "cuda/base/locked.cuh"

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

/// Passes values from the device to `take`, in the order in which they were pushed, piece by piece.
/// Pieces are copied to page-locked memory while `take` has those before them.
template <class Take>
class Drain {
 public:
  /// `largest`: the maximum number of values that are pushed at a time, `all`: that of all values.
  Drain(const Stream& stream, const Take& take, std::size_t largest, std::size_t all)
      : stream_(stream),
        take_(take),
        piece_(std::min(kPiece, std::max<std::size_t>(1, largest))),
        slots_(std::min(kSlots, (all + piece_ - 1) / piece_)),
        locked_(locked_values(slots_ * piece_)) {}

  /// Appends `count` values, which are ready when the events, already recorded, are done.
  void push(const double* from, std::size_t first, std::size_t count, const Event* ready,
            std::size_t events) {
    for (std::size_t at = 0; at < count; at += piece_) {
      waiting_.push_back(
          {from + at, first + at, std::min(piece_, count - at), ready, at == 0 ? events : 0});
      ++pushed_;
    }
    copy();
  }
  std::size_t pushed() const { return pushed_; }

  /// Passes on the next piece if it has arrived (`wait`: when it has). Returns false to stop.
  bool step(bool wait) {
    if (taken_ == copied_) return true;
    const Slot& slot = slot_[taken_ % slots_];
    if (wait) slot.arrived.wait();
    if (!wait && !slot.arrived.done()) return true;
    if (!take_(slot.first, memory_of(taken_), slot.count)) return false;
    ++taken_;
    copy();
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
  /// Values of a piece, and how many are there: the device copies two while the host has the third.
  /// With pieces of 24 MiB `take` on 16 threads is faster than the copies; waking the threads costs
  /// as long as 8 MiB take.
  static constexpr std::size_t kPiece = std::size_t{3} << 20, kSlots = 3;

  struct Piece {
    const double* from;
    std::size_t first, count;
    const Event* ready;
    std::size_t events;
  };
  struct Slot {
    std::size_t first = 0, count = 0;
    Event arrived;
  };

  double* memory_of(std::size_t piece) const { return locked_ + piece % slots_ * piece_; }

  /// Lets the device copy to all free slots.
  void copy() {
    for (; !waiting_.empty() && copied_ - taken_ < slots_; ++copied_, waiting_.pop_front()) {
      const Piece& piece = waiting_.front();
      Slot& slot = slot_[copied_ % slots_];
      slot.first = piece.first;
      slot.count = piece.count;
      for (std::size_t i = 0; i < piece.events; ++i) piece.ready[i].hold(stream_.get());
      check(cudaMemcpyAsync(memory_of(copied_), piece.from, piece.count * sizeof(double),
                            cudaMemcpyDeviceToHost, stream_.get()),
            "copying values back");
      slot.arrived.record(stream_.get());
    }
  }

  const Stream& stream_;
  const Take& take_;
  const std::size_t piece_, slots_;
  double* const locked_;
  std::deque<Piece> waiting_;
  Slot slot_[kSlots];
  std::size_t pushed_ = 0, copied_ = 0, taken_ = 0;  // pieces
};

}  // namespace kestrel_cuda

#endif
