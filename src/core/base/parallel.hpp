// The only door to threads: everything else in kestrel calls parallel_for.
#ifndef KESTREL_CORE_BASE_PARALLEL_HPP
#define KESTREL_CORE_BASE_PARALLEL_HPP

#include <cstddef>
#include <functional>

namespace kestrel {

/// Called about every 50 ms with the fraction of the items that are done, in [0, 1], on the thread
/// that called parallel_for and on no other. An exception that it throws stops the loop. So Ctrl-C,
/// time limits and progress bars work although the core knows nothing of R.
using Poll = std::function<void(double fraction)>;

/// The minimum number of seconds between two polls of the calling thread. With 0 every poll is due,
/// so that tests of polls do not depend on how fast the machine is.
void set_poll_interval(double seconds);
constexpr double kPollInterval = 0.05;

struct ParallelOptions {
  int threads = 0;  ///< threads to run on; 0 means thread_cap()
  Poll poll;        ///< may be empty
};

/// Runs body(item, worker) once for each item in [0, items), in any order, on any worker.
///
/// The caller cuts the work into items of a FIXED size and adds their results in item order; then
/// the result has the same bits for every number of threads. `worker` is in [0,
/// parallel_workers(items, options)) and no two bodies run at once with the same one, so scratch
/// space may be indexed by it. Items should take a few milliseconds at most: polling happens
/// between them, and in those that call poll_if_due().
///
/// A body that throws stops the loop. If several throw, the exception of the lowest item is
/// rethrown here, which is also the same for every number of threads. An exception of the poll
/// takes precedence over all of them (R's unwinding must be continued).
///
/// Runs on the calling thread alone, in item order, if there is one item or one thread; inside
/// another parallel_for (such a call is not polled: it may be on a worker); and in a forked child,
/// where the threads of the pool do not exist. Otherwise other threads join as soon as they pay,
/// see thread_pool.hpp. Cost: one atomic increment and one or two looks at the clock per item.
void parallel_for(std::size_t items, const ParallelOptions& options,
                  const std::function<void(std::size_t item, int worker)>& body);

/// Polls if the last poll is long enough ago. To be called every few milliseconds by serial work,
/// and by a body whose items take longer than that. In a body it polls for the body's loop,
/// whatever the options, and on the calling thread only; its exception must not be caught there.
/// Elsewhere it reports a fraction of 0. Cost: a look at the clock.
void poll_if_due(const ParallelOptions& options);

/// Whether the loop that has this thread in a body has been stopped, by a body that threw or by its
/// poll: for bodies that take long on other threads than the calling one. False outside of bodies.
bool loop_is_stopped();

/// Items of serial work between two polls: a millisecond or so.
constexpr std::size_t kPolledItems = std::size_t{1} << 14;

/// Runs body(item) for each item in [0, items), in order, with polls.
template <class Body>
void serial_for(std::size_t items, const ParallelOptions& options, const Body& body) {
  for (std::size_t begin = 0; begin < items; begin += kPolledItems) {
    poll_if_due(options);
    const std::size_t end = items - begin < kPolledItems ? items : begin + kPolledItems;
    for (std::size_t item = begin; item < end; ++item) body(item);
  }
}

/// The options for the share [begin, end] of some work, 0 <= begin <= end <= 1. The poll gets the
/// fraction of all the work that is done, which never decreases, even if several loops run with
/// these options one after another. Without a poll, the options are unchanged.
ParallelOptions part_of(const ParallelOptions& options, double begin, double end);

/// Runs body(task, worker, inner) for tasks of equal size, each of which may itself use threads by
/// parallel_for(..., inner, ...). The tasks run side by side, each on one thread, if they are brief
/// and there are at least two of them for each of several threads. (Nothing polls within a brief
/// task: on one thread it is over about as soon as polls are due.) Otherwise they run one after
/// another, and the poll of `inner` reports the fraction of all tasks. `worker` as above.
void parallel_tasks(
    std::size_t tasks, bool brief, const ParallelOptions& options,
    const std::function<void(std::size_t task, int worker, const ParallelOptions& inner)>& body);

/// The maximum number of threads that a loop with these options would run on here and now.
int parallel_threads(const ParallelOptions& options);

/// The maximum number of workers of parallel_for(items, options, ...), never 0: the size of arrays
/// of scratch space.
std::size_t parallel_workers(std::size_t items, const ParallelOptions& options);

/// Threads used if the options do not say. Until set_thread_cap() this is the minimum of the number
/// of processors that the calling thread may run on now (its affinity), a quota of processor time
/// (cpu_quota.hpp), OMP_THREAD_LIMIT, OMP_NUM_THREADS and RCPP_PARALLEL_NUM_THREADS, all but the
/// first read once. A call may ask for more or fewer, see allowed_threads(). Asks the system: a
/// microsecond.
int thread_cap();

/// How many of the `asked` threads a call may have: at most OMP_THREAD_LIMIT, which belongs to the
/// administrator, and at most the number of those processors, or kFewThreads if that is more. Asks
/// the system only beyond kFewThreads.
int allowed_threads(int asked);

/// Any machine can have this many threads, so that results on several can be compared everywhere.
constexpr int kFewThreads = 8;

/// Throws error(input) for n < 1.
void set_thread_cap(int n);

/// Ends the threads that loops have started, before the library that has their code is unloaded;
/// does nothing while a loop runs or in a forked child. Later loops start others. A process that
/// ends does not call it: see pool() in thread_pool.cpp.
void end_threads();

#ifdef KESTREL_TEST_HOOKS
// Compiled by tests/cpp/CMakeLists.txt only, not in the package.

/// The number of different threads that the latest parallel_for ran on; 0 before the first.
int threads_last_used();
#endif

}  // namespace kestrel

#endif
