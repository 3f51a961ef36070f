// Threads that sleep until a loop has enough work for them.
//
// OpenMP is not used, because a thread of GCC's OpenMP that waits for the others, or for the next
// loop, spins, and only an environment variable that is read before R starts can change that. Where
// there are more threads than free processors (containers, shared servers), spinning costs the time
// that others would work in: with two processors and 4 to 16 threads, calls with many short loops
// took up to 4.5 times as long as on one thread.
//
// Here no thread spins, and no loop waits for a thread that has not begun to work on it:
//
//   - The calling thread first wakes as many helpers as the loop before would have paid for, since
//     loops come in series of equal ones. Then it takes items. After each it compares what is left,
//     by the time that the latest item took, with what a thread costs, and wakes those that pay.
//   - One helper watches: it sleeps for kPatience and then does the same, in case the first items
//     take long.
//   - When no items are left, helpers that were woken but have not begun stay out. The calling
//     thread sleeps until the others have finished their last item.
//
//     calling thread  |item|item|item|item|item|item|item|  returns
//     helper 1 (watches)    ......... woken |item|item|item|
//     helper 2                      woken |item|item|item|..  sleeps
//     helper 3                                        woken, finds the loop closed, sleeps
#ifndef KESTREL_CORE_BASE_THREAD_POOL_HPP
#define KESTREL_CORE_BASE_THREAD_POOL_HPP

#include <cstddef>

namespace kestrel {

/// A loop whose items several threads may take.
class SharedLoop {
 public:
  virtual ~SharedLoop() = default;
  /// Takes items until none is left. Runs once on each thread that takes part: with worker 0 on the
  /// calling thread, with 1, 2, ... on helpers. `wakes`: whether to call wake_helpers() after each
  /// item.
  virtual void work(int worker, bool wakes) noexcept = 0;
  /// How many items no thread has taken yet (or more, if threads are of use without items), and how
  /// many are done. Any thread may ask.
  virtual std::size_t left() const noexcept = 0;
  virtual std::size_t done() const noexcept = 0;
  /// Called on the calling thread, about every 50 ms, while it waits for helpers to finish.
  virtual void wait_for_helpers() noexcept = 0;
};

/// Runs a loop on the calling thread and on at most threads - 1 helpers; returns when all its items
/// are done. One loop at a time has helpers: those of other threads of the process meanwhile run
/// without. Not to be called in a forked child, nor within a loop. If the system gives no threads,
/// the calling thread takes all the items.
void run_shared(SharedLoop& loop, int threads);

/// Wakes helpers for the loop that run_shared() runs on this thread if they pay. `seconds`: what
/// the latest item took. O(1).
void wake_helpers(double seconds);

#ifdef KESTREL_TEST_HOOKS
/// Whether loops begin when all their helpers have come, however little there is to do, so that
/// tests on a few items mean what they say. True at first.
void wait_for_all_helpers(bool wait);

/// Has each loop call this at its beginning, while the calling thread holds a mutex of the pool, as
/// a signal may find it. Null: nothing is called.
void call_while_locked(void (*what)());
#endif

}  // namespace kestrel

#endif
