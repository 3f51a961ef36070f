#include "core/base/thread_pool.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/parallel.hpp"

namespace kestrel {
namespace {

using Clock = std::chrono::steady_clock;

// Waking a helper takes the calling thread 4 microseconds, and the helper works 8 microseconds
// later (measured on a virtual machine with two processors; more on a busy one). So it pays if it
// gets at least this much to do.
constexpr double kSecondsOfHelper = 1e-4;
// How long the watching helper sleeps.
constexpr std::chrono::microseconds kPatience{100};
constexpr std::chrono::milliseconds kWait{50};

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

#ifdef KESTREL_TEST_HOOKS
std::atomic<bool> all_helpers_wanted{true};
void (*while_locked)() = nullptr;
#endif

class ThreadPool {
 public:
  void run(SharedLoop& loop, int threads) {
    const std::unique_lock<std::mutex> mine(in_use_, std::try_to_lock);
    if (!mine) {
      loop.work(0, false);
      return;
    }
    open(loop, threads - 1);
    loop.work(0, true);
    close();
  }

  void wake_helpers(double seconds) {
    const SharedLoop& loop = *loop_;  // only run() changes it, on this thread
    const int pay = helpers_that_pay(loop, seconds);
    if (pay <= asked_.load(std::memory_order_relaxed)) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    ask_for(pay);
  }

  void end_helpers() {
    if (getpid() != process_) return;  // a forked child has none of the threads
    const std::unique_lock<std::mutex> mine(in_use_, std::try_to_lock);
    if (!mine) return;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      quit_ = true;
    }
    wake_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
    const std::lock_guard<std::mutex> lock(mutex_);
    helpers_.clear();
    quit_ = false;
  }

 private:
  void open(SharedLoop& loop, int helpers) {
    std::unique_lock<std::mutex> lock(mutex_);
    loop_ = &loop;
    ++number_;
    max_helpers_ = helpers;
    asked_ = 0;
    joined_ = 0;
    begin_ = Clock::now();
#ifdef KESTREL_TEST_HOOKS
    if (while_locked != nullptr) while_locked();
    if (all_helpers_wanted) {
      ask_for(helpers);
      changed_.wait(
          lock, [&] { return joined_ >= helpers || joined_ >= static_cast<int>(helpers_.size()); });
      return;
    }
#endif
    const double others = static_cast<double>(loop.left()) - 1;
    ask_for(static_cast<int>(std::min({paid_, static_cast<double>(helpers), others})));
    have_helpers(1);
    if (asked_ < helpers && !watched_) wake_.notify_one();
  }

  void close() {
    std::unique_lock<std::mutex> lock(mutex_);
    asked_ = joined_;  // no more may join
    paid_ = seconds_between(begin_, Clock::now()) * (1 + joined_) / kSecondsOfHelper;
    while (inside_ > 0) {
      if (changed_.wait_for(lock, kWait) == std::cv_status::no_timeout) continue;
      lock.unlock();
      loop_->wait_for_helpers();
      lock.lock();
    }
    loop_ = nullptr;
  }

  int helpers_that_pay(const SharedLoop& loop, double seconds_of_item) const {
    const double left = static_cast<double>(loop.left());
    const double pay = std::min(left, left * seconds_of_item / kSecondsOfHelper);
    return static_cast<int>(std::min(pay, static_cast<double>(max_helpers_)));
  }

  // The rest with the lock held.

  void ask_for(int helpers) {
    have_helpers(helpers);
    for (; asked_ < helpers; ++asked_) wake_.notify_one();
  }

  // Starts threads until there are this many, or the system gives no more.
  void have_helpers(int helpers) {
    if (static_cast<int>(helpers_.size()) >= helpers) return;
    // Signals are for R's own thread.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      while (static_cast<int>(helpers_.size()) < helpers) helpers_.emplace_back([this] { help(); });
    } catch (const std::exception&) {
      // No thread, or no memory for one: those that there are take the items.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void help() {
    unsigned long seen = 0;  // the loop that this helper has worked on
    std::unique_lock<std::mutex> lock(mutex_);
    while (!quit_) {
      const bool is_new = loop_ != nullptr && number_ != seen;
      if (is_new && joined_ < asked_) {
        seen = number_;
        join(lock);
      } else if (is_new && !watched_ && asked_ < max_helpers_) {
        watch(lock);
      } else {
        wake_.wait(lock);
      }
    }
  }

  void join(std::unique_lock<std::mutex>& lock) {
    const int worker = ++joined_;
    ++inside_;
#ifdef KESTREL_TEST_HOOKS
    changed_.notify_one();
#endif
    SharedLoop* loop = loop_;
    lock.unlock();
    loop->work(worker, false);
    lock.lock();
    if (--inside_ == 0) changed_.notify_one();
  }

  void watch(std::unique_lock<std::mutex>& lock) {
    const unsigned long number = number_;
    const std::size_t done = loop_->done();
    const Clock::time_point begin = Clock::now();
    watched_ = true;
    wake_.wait_for(lock, kPatience);
    watched_ = false;
    if (number != number_ || loop_ == nullptr || asked_ >= max_helpers_) return;
    const std::size_t since = std::max<std::size_t>(1, loop_->done() - done);
    const double seconds = seconds_between(begin, Clock::now()) / static_cast<double>(since);
    ask_for(std::max<int>(asked_, helpers_that_pay(*loop_, seconds)));
  }

  const pid_t process_ = getpid();
  std::mutex in_use_;  // held while a loop runs

  std::mutex mutex_;                 // guards the rest
  std::condition_variable wake_;     // helpers sleep here
  std::condition_variable changed_;  // the calling thread does
  std::vector<std::thread> helpers_;
  SharedLoop* loop_ = nullptr;
  unsigned long number_ = 0;  // of the loop
  Clock::time_point begin_;   // when the loop began
  double paid_ = 0;           // how many helpers would have paid in the loop before
  int max_helpers_ = 0;
  std::atomic<int> asked_{0};  // how many helpers the loop has been given
  int joined_ = 0;             // how many of them have come
  int inside_ = 0;             // how many of those have not left
  bool watched_ = false;       // a helper watches
  bool quit_ = false;
};

// Never destroyed: the process may end in a signal handler, as R does at SIGUSR1 and SIGUSR2, on a
// thread that was interrupted while it held a mutex of the pool, or within a loop. Then whatever
// waits for the mutex or for the helpers waits for ever.
ThreadPool& pool() {
  static ThreadPool& one = *new ThreadPool;
  return one;
}

}  // namespace

void run_shared(SharedLoop& loop, int threads) { pool().run(loop, threads); }

void wake_helpers(double seconds) { pool().wake_helpers(seconds); }

void end_threads() { pool().end_helpers(); }

#ifdef KESTREL_TEST_HOOKS
void wait_for_all_helpers(bool wait) { all_helpers_wanted = wait; }

void call_while_locked(void (*what)()) { while_locked = what; }
#endif

}  // namespace kestrel
