#include "core/base/parallel.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/base/cpu_quota.hpp"
#include "core/base/error.hpp"

#if defined(_OPENMP) && !defined(KESTREL_NO_OPENMP)
#define KESTREL_OPENMP 1
#include <omp.h>
#else
#define KESTREL_OPENMP 0
#endif

namespace kestrel {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds poll_interval{50};

// The process that loaded the library; any other process that runs this code is a forked child.
const pid_t home_process = getpid();

#ifdef KESTREL_TEST_HOOKS
std::atomic<int> last_used{0};

// How many different threads take part in a loop.
class ThreadCount {
 public:
  explicit ThreadCount(int threads) {
    seen_.reserve(static_cast<std::size_t>(threads) + 1);  // so that note() allocates nothing
  }

  void note() noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::thread::id id = std::this_thread::get_id();
    if (std::find(seen_.begin(), seen_.end(), id) == seen_.end()) seen_.push_back(id);
  }

  void end_round() {
    threads_ = std::max(threads_, static_cast<int>(seen_.size()));
    seen_.clear();
  }

  void finish() {
    end_round();
    last_used.store(threads_);
  }

 private:
  std::mutex mutex_;
  std::vector<std::thread::id> seen_;
  int threads_ = 0;
};

std::string& forced_backend() {
  static std::string name;
  return name;
}
#else
struct ThreadCount {
  explicit ThreadCount(int) {}
  void note() noexcept {}
  void end_round() {}
  void finish() {}
};
#endif

// Set while this thread is in a body, so that a loop inside it does not start threads again.
thread_local bool inside_loop = false;

// When this thread last polled. Kept across loops, because Ctrl-C has to be noticed during a
// thousand loops of 10 ms each, too.
thread_local Clock::time_point last_poll{};

class Loop;

// The loop whose body this thread is in, if this thread polls for that loop.
thread_local Loop* polled_loop = nullptr;

struct InsideLoop {
  explicit InsideLoop(Loop* polled) {
    inside_loop = true;
    polled_loop = polled;
  }
  ~InsideLoop() {
    inside_loop = false;
    polled_loop = nullptr;
  }
};

// Ends an item after the poll has stopped its loop.
struct Stopped {};

// ---- one run of parallel_for -------------------------------------------------------------------

class Loop {
 public:
  Loop(std::size_t items, int threads, const Poll& poll,
       const std::function<void(std::size_t, int)>& body)
      : items_(items),
        poll_(poll),
        body_(body),
        caller_(std::this_thread::get_id()),
        count_(threads) {}

  // For a backend whose threads may leave the caller waiting: it gets its work in rounds that end
  // at a deadline.
  void set_deadline(Clock::time_point deadline) { deadline_ = deadline; }

  bool unfinished() const { return !stop_.load() && next_.load() < items_; }
  std::size_t done() const { return done_.load(); }

  // One worker: takes items until there are none, an item failed, or the round is over. Items are
  // handed out in order and a taken item is always run. So every item below a failing one is run
  // too, and the lowest failing item is the same for any number of threads.
  void work(int worker) noexcept {
    note_thread();
    const bool polls = poll_ && std::this_thread::get_id() == caller_;
    InsideLoop mark(polls ? this : nullptr);
    while (!stop_.load(std::memory_order_relaxed)) {
      const std::size_t item = next_.fetch_add(1);
      if (item >= items_) return;
      try {
        body_(item, worker);
      } catch (...) {
        fail(item, std::current_exception());
      }
      done_.fetch_add(1, std::memory_order_relaxed);
      if (polls) poll_if_due();
      if (deadline_ != Clock::time_point::max() && Clock::now() >= deadline_) return;
    }
  }

  // On the calling thread only.
  void poll_if_due() noexcept {
    if (!poll_) return;
    const Clock::time_point now = Clock::now();
    if (now - last_poll < poll_interval) return;
    try {
      poll_(static_cast<double>(done_.load()) / static_cast<double>(items_));
    } catch (...) {
      poll_failure_ = std::current_exception();
      stop_.store(true);
    }
    last_poll = Clock::now();  // after the call: a slow progress bar must not eat the loop
  }

  // The same, called within an item.
  void poll_in_body() {
    poll_if_due();
    if (poll_failure_) throw Stopped();
  }

  // Counts the threads seen since the last call. Thread ids are compared within a round only: a
  // round's threads may be gone by the next one, and their ids reused.
  void end_round() { count_.end_round(); }

  void finish() {
    count_.finish();
    if (poll_failure_) std::rethrow_exception(poll_failure_);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void note_thread() noexcept { count_.note(); }

  void fail(std::size_t item, std::exception_ptr failure) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (item < failed_item_) {
      failed_item_ = item;
      failure_ = failure;
    }
    stop_.store(true);
  }

  const std::size_t items_;
  const Poll& poll_;
  const std::function<void(std::size_t, int)>& body_;
  const std::thread::id caller_;
  Clock::time_point deadline_ = Clock::time_point::max();

  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> done_{0};
  std::atomic<bool> stop_{false};
  std::exception_ptr poll_failure_;  // touched by the calling thread only

  ThreadCount count_;

  std::mutex mutex_;  // guards the rest
  std::size_t failed_item_ = std::numeric_limits<std::size_t>::max();
  std::exception_ptr failure_;
};

void work_on_loop(void* context, int worker) { static_cast<Loop*>(context)->work(worker); }

// ---- backends ----------------------------------------------------------------------------------

#if KESTREL_OPENMP
void run_openmp(int threads, void (*work)(void*, int), void* context) {
#pragma omp parallel num_threads(threads)
  work(context, omp_get_thread_num());
}
#endif

void run_threads(int threads, void (*work)(void*, int), void* context) {
  std::vector<std::thread> others;
  others.reserve(static_cast<std::size_t>(threads) - 1);
  try {
    for (int worker = 1; worker < threads; ++worker) others.emplace_back(work, context, worker);
  } catch (const std::system_error&) {
    // The machine gives no more threads: the existing ones take all the items.
  }
  work(context, 0);
  for (std::thread& other : others) other.join();
}

struct Backend {
  const char* name;
  ParallelBackend run;
  bool caller_works;  // the calling thread is sure to be one of the workers
};

// In order of preference; std::thread is always there and always last.
std::vector<Backend>& backends() {
  static std::vector<Backend> all = {
#if KESTREL_OPENMP
    {"openmp", run_openmp, true},
#endif
    {"threads", run_threads, true},
  };
  return all;
}

const Backend& backend_in_use() {
#ifdef KESTREL_TEST_HOOKS
  for (const Backend& backend : backends()) {
    if (forced_backend() == backend.name) return backend;
  }
#endif
  return backends().front();
}

// ---- how many ----------------------------------------------------------------------------------

// The whole number at the start of an environment variable (OMP_NUM_THREADS may be a list), at most
// `max`; `max` if there is no such number.
int environment_number(const char* name, int max) {
  const char* text = std::getenv(name);
  if (text == nullptr) return max;
  const long value = std::strtol(text, nullptr, 10);
  return value >= 1 && value <= max ? static_cast<int>(value) : max;
}

int processors() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

int hard_limit() {
  static const int limit =
      environment_number("OMP_THREAD_LIMIT", std::max(processors(), kFewThreads));
  return limit;
}

// Threads beyond a quota of processor time make the system stop all of them in turn. The nearest
// whole number of them is used.
int processors_within_quota() {
  const double quota = cpu_quota();
  return quota < processors() ? std::max(1, static_cast<int>(quota + 0.5)) : processors();
}

std::atomic<int>& cap() {
  static std::atomic<int> threads{[] {
    const int n = environment_number("OMP_NUM_THREADS", processors_within_quota());
    return environment_number("RCPP_PARALLEL_NUM_THREADS", n);
  }()};
  return threads;
}

void run_serial(Loop& loop) {
  loop.poll_if_due();
  loop.work(0);
}

void run_in_rounds(Loop& loop, const Backend& backend, int threads, bool polls) {
  while (loop.unfinished()) {
    const std::size_t done_before = loop.done();
    if (polls) loop.set_deadline(Clock::now() + poll_interval);
    backend.run(threads, work_on_loop, &loop);
    if (loop.done() == done_before) loop.work(0);  // tinythread leaves out threads it cannot start
    loop.end_round();
    loop.poll_if_due();
  }
}

}  // namespace

void parallel_for(std::size_t items, const ParallelOptions& options,
                  const std::function<void(std::size_t item, int worker)>& body) {
  if (inside_loop) {
    for (std::size_t item = 0; item < items; ++item) body(item, 0);
    return;
  }
  const int threads = static_cast<int>(parallel_workers(items, options));
  Loop loop(items, threads, options.poll, body);
  const Backend& backend = backend_in_use();
  if (threads <= 1) {
    if (items > 0) run_serial(loop);
  } else if (backend.caller_works) {
    loop.poll_if_due();
    backend.run(threads, work_on_loop, &loop);
  } else {
    loop.poll_if_due();
    run_in_rounds(loop, backend, threads, static_cast<bool>(options.poll));
  }
  loop.finish();
}

void poll_if_due(const ParallelOptions& options) {
  if (inside_loop) {
    if (polled_loop != nullptr) polled_loop->poll_in_body();
    return;
  }
  if (!options.poll || Clock::now() - last_poll < poll_interval) return;
  options.poll(0.0);
  last_poll = Clock::now();
}

int parallel_threads(const ParallelOptions& options) {
  if (inside_loop || getpid() != home_process) return 1;
  return options.threads > 0 ? std::min(options.threads, hard_limit()) : thread_cap();
}

std::size_t parallel_workers(std::size_t items, const ParallelOptions& options) {
  const std::size_t max = static_cast<std::size_t>(parallel_threads(options));
  return std::max<std::size_t>(1, std::min(items, max));
}

int thread_cap() { return std::min(cap().load(), hard_limit()); }

void set_thread_cap(int n) {
  if (n < 1) {
    throw error(ErrorKind::input,
                "`n` must be a positive whole number, not " + std::to_string(n) + ".");
  }
  cap().store(n);
}

const char* parallel_backend() { return backend_in_use().name; }

void register_parallel_backend(const char* name, ParallelBackend run) {
  std::vector<Backend>& all = backends();
  for (Backend& backend : all) {
    if (std::string(name) == backend.name) {
      backend.run = run;
      backend.caller_works = false;
      return;
    }
  }
  all.insert(all.end() - 1, Backend{name, run, false});  // after OpenMP, before std::thread
}

#ifdef KESTREL_TEST_HOOKS
int threads_last_used() { return last_used.load(); }

void force_parallel_backend(const char* name) {
  const std::string wanted = name;
  std::string known;
  for (const Backend& backend : backends()) {
    if (wanted.empty() || wanted == backend.name) {
      forced_backend() = wanted;
      return;
    }
    known += std::string(known.empty() ? "" : ", ") + '"' + backend.name + '"';
  }
  throw error(ErrorKind::input, "backend must be one of " + known + ", not \"" + wanted + "\".");
}
#endif

}  // namespace kestrel
