// Threads. The only door to them: everything else in kestrel says parallel_for.
#ifndef KESTREL_CORE_BASE_PARALLEL_HPP
#define KESTREL_CORE_BASE_PARALLEL_HPP

#include <cstddef>
#include <functional>

namespace kestrel {

/// Called with the share of the items that are done, in [0, 1], on the thread that called
/// parallel_for and on no other, about every 50 ms. Whatever it throws stops the loop: this is how
/// Ctrl-C, time limits and progress bars come in without the core knowing of R.
using Poll = std::function<void(double fraction)>;

struct ParallelOptions {
  int threads = 0;  ///< threads to run on; 0 means thread_cap()
  Poll poll;        ///< may be empty
};

/// Runs body(item, worker) once for each item in [0, items), in any order, on any worker.
///
/// The caller cuts the work into items of a FIXED size and adds what they give in item order; then
/// the result has the same bits for every number of threads. `worker` is in
/// [0, parallel_workers(items, options)) and no two bodies run at once with the same one, so
/// scratch space may be indexed by it. Items should take a few milliseconds at most: polling
/// happens between them, and in those that call poll_if_due().
///
/// A body that throws stops the loop; when several do, the exception of the lowest item is the one
/// rethrown here, so that too is the same for every number of threads. What the poll throws goes
/// before all of them (R's unwinding must be continued).
///
/// Runs on the calling thread alone, in item order, when there is one item or one thread, inside
/// another parallel_for (such a call is not polled: it may be on a worker), and in a forked child,
/// where the threads that the runtime libraries believe in do not exist and waiting for them would
/// never end. Cost: one atomic increment and one look at the clock an item.
void parallel_for(std::size_t items, const ParallelOptions& options,
                  const std::function<void(std::size_t item, int worker)>& body);

/// Polls where that is due: to be called every few milliseconds by serial work, and by a body whose
/// items take longer than that. In a body it is the loop that is polled for, whatever the options,
/// and on the calling thread alone; what is thrown there must not be caught. Serial work is told of
/// as not yet begun. Cost: a look at the clock.
void poll_if_due(const ParallelOptions& options);

/// Items that serial work takes between two polls: a millisecond or so.
constexpr std::size_t kPolledItems = std::size_t{1} << 14;

/// body(item) for each item in [0, items), one after the other, with polls.
template <class Body>
void serial_for(std::size_t items, const ParallelOptions& options, const Body& body) {
  for (std::size_t begin = 0; begin < items; begin += kPolledItems) {
    poll_if_due(options);
    const std::size_t end = items - begin < kPolledItems ? items : begin + kPolledItems;
    for (std::size_t item = begin; item < end; ++item) body(item);
  }
}

/// The options for the share [begin, end] of some work, 0 <= begin <= end <= 1: polls are told of
/// the share of all the work that is done, and never of less than before where several loops, one
/// after another, run with these options. Without a poll, the options as they are.
ParallelOptions part_of(const ParallelOptions& options, double begin, double end);

/// Runs body(task, worker, inner) for like tasks that can each be spread over threads themselves,
/// by parallel_for(..., inner, ...). Side by side where tasks are brief (on one thread each is over
/// about as soon as polls are due: nothing polls within it) and there are at least two for each of
/// several threads; else one after another, where the poll of `inner` counts all tasks as of one
/// size. `worker` as above.
void parallel_tasks(
    std::size_t tasks, bool brief, const ParallelOptions& options,
    const std::function<void(std::size_t task, int worker, const ParallelOptions& inner)>& body);

/// How many threads a loop with these options will run on at most, were it called here and now.
int parallel_threads(const ParallelOptions& options);

/// How many workers parallel_for(items, options, ...) will use at most, and never 0: what arrays of
/// scratch space are sized by.
std::size_t parallel_workers(std::size_t items, const ParallelOptions& options);

/// Threads used where the options do not say: at first the least of the processors there are,
/// OMP_THREAD_LIMIT, OMP_NUM_THREADS and RCPP_PARALLEL_NUM_THREADS, each read once. A call may ask
/// for more or fewer, but nothing goes above OMP_THREAD_LIMIT, which belongs to the administrator,
/// nor above the processors, but for kFewThreads: OpenMP ends the process where the system refuses
/// it a thread.
int thread_cap();

/// As many threads any machine can have, so that results on several can be compared on each.
constexpr int kFewThreads = 8;

/// Throws error(input) for n < 1.
void set_thread_cap(int n);

/// What the next parallel_for runs on: "openmp", "rcppparallel" (or another registered name) or
/// "threads" (std::thread).
const char* parallel_backend();

/// A backend calls work(context, worker) for worker = 0, ..., threads - 1, each once, on threads of
/// its choosing, and returns when all calls have. `work` does not throw.
using ParallelBackend = void (*)(int threads, void (*work)(void* context, int worker),
                                 void* context);

/// Adds a backend, or replaces the one of that name. The first one registered is used where there
/// is no OpenMP. Not to be called while a loop runs. `name` must outlive the library.
void register_parallel_backend(const char* name, ParallelBackend backend);

#ifdef KESTREL_TEST_HOOKS
// What tests/cpp/CMakeLists.txt has compiled, and the package does not.

/// The number of different threads that the latest parallel_for ran on; 0 before the first.
int threads_last_used();

/// Uses the backend of that name from now on, or the usual choice again when it is "". Throws
/// error(input), with the names there are, when it is not available.
void force_parallel_backend(const char* name);
#endif

}  // namespace kestrel

#endif
