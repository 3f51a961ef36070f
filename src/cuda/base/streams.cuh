// Streams of work that run side by side on the device, and copying of values to the host meanwhile.
#ifndef KESTREL_CUDA_BASE_STREAMS_CUH
#define KESTREL_CUDA_BASE_STREAMS_CUH

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>

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
/// Pieces are copied to page-locked memory while `take` has those before them. One thread pushes;
/// that one and another may call the rest.
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
    const std::lock_guard<std::mutex> lock(mutex_);
    for (std::size_t at = 0; at < count; at += piece_) {
      waiting_.push_back(
          {from + at, first + at, std::min(piece_, count - at), ready, at == 0 ? events : 0});
      ++pushed_;
    }
    copy();
    changed_.notify_all();
  }
  /// For the thread that pushes.
  std::size_t pushed() const { return pushed_; }

  /// Nothing more will be pushed; not `whole`: what was pushed need not be taken either.
  void end(bool whole) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
    stopped_ = stopped_ || !whole;
    changed_.notify_all();
  }

  /// Takes the next piece if it has arrived and no other thread takes one. Returns false to stop.
  bool step() {
    std::unique_lock<std::mutex> lock(mutex_);
    const bool arrived = !busy_ && taken_ < copied_ && slot_[taken_ % slots_].arrived.done();
    return arrived ? take_next(lock) : !stopped_;
  }

  /// Goes on until that many pieces are taken. Returns false to stop.
  bool finish(std::size_t pieces) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (taken_ < pieces && !stopped_) {
      if (busy_) {
        changed_.wait(lock);
      } else {
        take_next(lock);
      }
    }
    return !stopped_;
  }

  /// Takes pieces as they come, until end(). Returns false to stop.
  bool follow() {
    for (std::size_t pieces = 1;; ++pieces) {
      {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [&] { return pushed_ >= pieces || ended_ || stopped_; });
        if (pushed_ < pieces) return !stopped_;
      }
      if (!finish(pieces)) return false;
    }
  }

 private:
  /// Values of a piece, and the number of pieces in locked memory: the device copies two of them
  /// while `take` has the third. Pieces of 24 MiB are large enough: with 8 MiB most of the time of
  /// `take` goes into waking its threads.
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

  // The rest with the lock held.

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

  /// Passes on the next piece, which is being copied, without the lock meanwhile. Returns false to
  /// stop.
  bool take_next(std::unique_lock<std::mutex>& lock) {
    const Slot& slot = slot_[taken_ % slots_];
    const double* const values = memory_of(taken_);
    busy_ = true;
    lock.unlock();
    Failure failure;
    bool good = false;
    failure.code = guarded(failure.text, sizeof failure.text, [&] {
      slot.arrived.wait();
      good = take_(slot.first, values, slot.count);
      return int{KESTREL_GPU_OK};
    });
    lock.lock();
    busy_ = false;
    stopped_ = stopped_ || !good;
    changed_.notify_all();
    if (failure.code != KESTREL_GPU_OK) throw failure;
    if (stopped_) return false;
    ++taken_;
    copy();
    return true;
  }

  const Stream& stream_;
  const Take& take_;
  const std::size_t piece_, slots_;
  double* const locked_;
  Slot slot_[kSlots];

  std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  std::deque<Piece> waiting_;
  std::size_t pushed_ = 0, copied_ = 0, taken_ = 0;  // pieces
  bool busy_ = false;                                // a thread takes a piece
  bool ended_ = false, stopped_ = false;
};

}  // namespace kestrel_cuda

#endif
