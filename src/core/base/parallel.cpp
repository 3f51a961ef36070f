#include "core/base/parallel.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "core/base/led.hpp"
#include "core/base/thread_pool.hpp"

namespace kestrel {
namespace {

using Clock = std::chrono::steady_clock;

// The process that loaded the library; any other process that runs this code is a forked child.
const pid_t home_process = getpid();

#ifdef KESTREL_TEST_HOOKS
std::atomic<int> last_used{0};

// How many different threads take part in a loop.
class ThreadCount {
 public:
  explicit ThreadCount(int threads) {
    seen_.reserve(static_cast<std::size_t>(threads));  // so that note() allocates nothing
  }
  ~ThreadCount() { last_used.store(static_cast<int>(seen_.size())); }

  void note() noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::thread::id id = std::this_thread::get_id();
    if (std::find(seen_.begin(), seen_.end(), id) == seen_.end()) seen_.push_back(id);
  }

 private:
  std::mutex mutex_;
  std::vector<std::thread::id> seen_;
};
#else
struct ThreadCount {
  explicit ThreadCount(int) {}
  void note() noexcept {}
};
#endif

// Set while this thread is in a body, so that a loop inside it does not start threads again.
thread_local bool inside_loop = false;

// When this thread last polled. Kept across loops, because Ctrl-C has to be noticed during a
// thousand loops of 10 ms each, too.
thread_local Clock::time_point last_poll{};
thread_local double poll_interval = kPollInterval;

bool poll_is_due(Clock::time_point now) {
  return std::chrono::duration<double>(now - last_poll).count() >= poll_interval;
}

class Crew;
class Loop;

// Whoever helps this thread in a body of parallel_led_for().
thread_local Crew* own_crew = nullptr;

// The loop whose body this thread is in, if this thread polls for that loop.
thread_local Loop* polled_loop = nullptr;

// The loop whose body this thread is in.
thread_local Loop* own_loop = nullptr;

struct InsideLoop {
  InsideLoop(Loop* own, Crew* crew, bool polls) {
    inside_loop = true;
    own_loop = own;
    own_crew = crew;
    if (polls) polled_loop = own;
  }
  ~InsideLoop() {
    inside_loop = false;
    own_loop = polled_loop = nullptr;
    own_crew = nullptr;
  }
};

// Ends an item after the poll has stopped its loop.
struct Stopped {};

// ---- threads that help others ------------------------------------------------------------------

// The helpers of a loop, which sleep until a leader runs helped_for().
class Crew {
 public:
  using Body = std::function<void(std::size_t)>;

  // On a leader. Returns when all items are done.
  void run(std::size_t items, const Body& body) {
    Job job{items, body};
    std::unique_lock<std::mutex> lock(mutex_);
    jobs_.push_back(&job);
    if (sleeping_ > 0) wake_.notify_all();
    while (job.next < job.items) take_one(job, lock);
    jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
    while (job.done < job.items) changed_.wait(lock);
    if (job.failure) std::rethrow_exception(job.failure);
  }

  // On a helper, until leave() has been called as often as enter(), and `over()`. `often`: null, or
  // what is called between items and at least once in kSleep.
  template <class Over, class Often>
  void help(const Over& over, const Often& often) {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      if constexpr (!std::is_same_v<Often, std::nullptr_t>) {
        lock.unlock();
        often();
        lock.lock();
      }
      const auto open = std::find_if(jobs_.begin(), jobs_.end(),
                                     [](const Job* job) { return job->next < job->items; });
      if (open != jobs_.end()) {
        take_one(**open, lock);
        continue;
      }
      if (over() && leaders_ == 0) return;
      ++sleeping_;
      wake_.wait_for(lock, kSleep);
      --sleeping_;
    }
  }

  void enter() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++leaders_;
  }
  void leave() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--leaders_ == 0) wake_.notify_all();
  }

 private:
  struct Job {
    const std::size_t items;
    const Body& body;
    std::size_t next = 0, done = 0;
    std::exception_ptr failure = nullptr;
  };
  static constexpr std::chrono::milliseconds kSleep{20};

  void take_one(Job& job, std::unique_lock<std::mutex>& lock) {
    const std::size_t item = job.next++;
    lock.unlock();
    std::exception_ptr failure;
    try {
      job.body(item);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure) job.failure = failure;
    if (++job.done == job.items) changed_.notify_all();
  }

  std::mutex mutex_;                 // guards the rest
  std::condition_variable wake_;     // helpers sleep here
  std::condition_variable changed_;  // leaders do
  std::vector<Job*> jobs_;
  int leaders_ = 0, sleeping_ = 0;
};

// ---- one run of parallel_for -------------------------------------------------------------------

class Loop : public SharedLoop {
 public:
  // leaders: of the threads that take items, if others help them, or 0.
  Loop(std::size_t items, int threads, int leaders, const Poll& poll,
       const std::function<void(std::size_t, int)>& body)
      : items_(items),
        threads_(static_cast<std::size_t>(threads)),
        leaders_(leaders),
        poll_(poll),
        body_(body),
        count_(threads) {}

  // Items are handed out in order and a taken item is always run. So every item below a failing one
  // is run too, and the lowest failing item is the same for any number of threads.
  void work(int worker, bool wakes) noexcept override {
    count_.note();
    const bool polls = poll_ && worker == 0;
    const bool led = leaders_ > 0;
    InsideLoop mark(this, led ? &crew_ : nullptr, polls);
    if (led && worker < leaders_) crew_.enter();
    if (!led || worker < leaders_) take_items(worker, wakes, polls);
    if (!led) return;
    // A leader that finds no more items helps those that still have one.
    if (worker < leaders_) crew_.leave();
    const auto over = [this] { return untaken() == 0; };
    if (polls) {
      crew_.help(over, [this] { poll_if_due(); });
    } else {
      crew_.help(over, nullptr);
    }
  }

  // While leaders work, all other threads can help them, however few items are left.
  std::size_t left() const noexcept override {
    const bool led = leaders_ > 0 && !stop_.load() && done_.load() < items_;
    return led ? std::max(untaken(), threads_) : untaken();
  }
  std::size_t done() const noexcept override { return done_.load(); }
  void wait_for_helpers() noexcept override { poll_if_due(); }

  bool stopped() const noexcept { return stop_.load(std::memory_order_relaxed); }

  // On the calling thread only. A poll that has thrown is not asked again, since the loop rethrows
  // its first exception.
  void poll_if_due() noexcept {
    if (!poll_ || poll_failure_) return;
    if (!poll_is_due(Clock::now())) return;
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

  void finish() {
    if (poll_failure_) std::rethrow_exception(poll_failure_);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::size_t untaken() const noexcept {
    const std::size_t taken = next_.load();
    return stop_.load() || taken >= items_ ? 0 : items_ - taken;
  }

  void take_items(int worker, bool wakes, bool polls) noexcept {
    Clock::time_point begin = wakes ? Clock::now() : Clock::time_point();
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
      if (!wakes) continue;
      const Clock::time_point end = Clock::now();
      wake_helpers(std::chrono::duration<double>(end - begin).count());
      begin = end;
    }
  }

  void fail(std::size_t item, std::exception_ptr failure) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (item < failed_item_) {
      failed_item_ = item;
      failure_ = failure;
    }
    stop_.store(true);
  }

  const std::size_t items_, threads_;
  const int leaders_;
  const Poll& poll_;
  const std::function<void(std::size_t, int)>& body_;

  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> done_{0};
  std::atomic<bool> stop_{false};
  std::exception_ptr poll_failure_;  // touched by the calling thread only

  ThreadCount count_;
  Crew crew_;

  std::mutex mutex_;  // guards the rest
  std::size_t failed_item_ = std::numeric_limits<std::size_t>::max();
  std::exception_ptr failure_;
};

void run_loop(std::size_t items, int threads, int leaders, const Poll& poll,
              const std::function<void(std::size_t, int)>& body) {
  Loop loop(items, threads, leaders, poll, body);
  if (items > 0) loop.poll_if_due();
  if (threads > 1) {
    run_shared(loop, threads);
  } else if (items > 0) {
    loop.work(0, false);
  }
  loop.finish();
}

}  // namespace

void parallel_for(std::size_t items, const ParallelOptions& options,
                  const std::function<void(std::size_t item, int worker)>& body) {
  if (inside_loop) {
    for (std::size_t item = 0; item < items; ++item) body(item, 0);
    return;
  }
  run_loop(items, static_cast<int>(parallel_workers(items, options)), 0, options.poll, body);
}

void parallel_led_for(std::size_t items, int leaders, const ParallelOptions& options,
                      const std::function<void(std::size_t item, int worker)>& body) {
  constexpr int kHelpers = 15;
  if (inside_loop) return parallel_for(items, options, body);
  const int threads = parallel_threads(options);
  const int all = static_cast<int>(std::min<std::size_t>(items, static_cast<std::size_t>(threads)));
  const int takers = std::min(leaders, all);
  run_loop(items, std::min(threads, (1 + kHelpers) * takers), takers, options.poll, body);
}

void helped_for(std::size_t items, const std::function<void(std::size_t item)>& body) {
  if (own_crew != nullptr && items > 1) return own_crew->run(items, body);
  for (std::size_t item = 0; item < items; ++item) body(item);
}

void poll_if_due(const ParallelOptions& options) {
  if (inside_loop) {
    if (polled_loop != nullptr) polled_loop->poll_in_body();
    return;
  }
  if (!options.poll || !poll_is_due(Clock::now())) return;
  options.poll(0.0);
  last_poll = Clock::now();
}

bool loop_is_stopped() { return own_loop != nullptr && own_loop->stopped(); }

void set_poll_interval(double seconds) { poll_interval = seconds; }

int parallel_threads(const ParallelOptions& options) {
  if (inside_loop || getpid() != home_process) return 1;
  return options.threads > 0 ? allowed_threads(options.threads) : thread_cap();
}

std::size_t parallel_workers(std::size_t items, const ParallelOptions& options) {
  const std::size_t max = static_cast<std::size_t>(parallel_threads(options));
  return std::max<std::size_t>(1, std::min(items, max));
}

#ifdef KESTREL_TEST_HOOKS
int threads_last_used() { return last_used.load(); }
#endif

}  // namespace kestrel
