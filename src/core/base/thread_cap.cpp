// How many threads a process may use.
#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <string>
#include <thread>

#ifdef __linux__
#include <sched.h>

#include <cerrno>
#endif

#include "core/base/cpu_quota.hpp"
#include "core/base/error.hpp"
#include "core/base/parallel.hpp"

namespace kestrel {
namespace {

// The whole number at the start of an environment variable (OMP_NUM_THREADS may be a list); INT_MAX
// if there is no positive one.
int environment_number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return INT_MAX;
  const long value = std::strtol(text, nullptr, 10);
  return value >= 1 && value <= INT_MAX ? static_cast<int>(value) : INT_MAX;
}

// The processors that this thread may run on now, and those that it starts; 0 if the system does
// not tell. hardware_concurrency() counts those of the machine with the C library of many systems.
int processors_of_thread() {
#ifdef __linux__
  // The system refuses a set that is smaller than its own.
  for (int size = CPU_SETSIZE; size <= 1 << 20; size *= 2) {
    cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(size));
    if (set == nullptr) return 0;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(size));
    const bool told = sched_getaffinity(0, bytes, set) == 0;
    const bool too_small = !told && errno == EINVAL;
    const int count = told ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (!too_small) return count;
  }
#endif
  return 0;
}

int processors() {
  const int mine = processors_of_thread();
  return mine > 0 ? mine : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// Threads beyond a quota of processor time make the system stop all of them in turn. The nearest
// whole number of them is used.
int threads_of_quota() {
  const double quota = cpu_quota();
  return quota < INT_MAX ? std::max(1, static_cast<int>(quota + 0.5)) : INT_MAX;
}

// What a quota and the environment allow, read once.
int initial_cap() {
  static const int cap = std::min({threads_of_quota(), environment_number("OMP_NUM_THREADS"),
                                   environment_number("RCPP_PARALLEL_NUM_THREADS")});
  return cap;
}

// By set_thread_cap(); 0 before the first.
std::atomic<int> chosen_cap{0};

}  // namespace

int allowed_threads(int asked) {
  static const int limit = environment_number("OMP_THREAD_LIMIT");
  const int threads = std::min(asked, limit);
  return threads <= kFewThreads ? threads : std::min(threads, std::max(processors(), kFewThreads));
}

int thread_cap() {
  const int chosen = chosen_cap.load();
  return allowed_threads(chosen > 0 ? chosen : std::min(initial_cap(), processors()));
}

void set_thread_cap(int n) {
  if (n < 1) {
    throw error(ErrorKind::input,
                "`n` must be a positive whole number, not " + std::to_string(n) + ".");
  }
  chosen_cap.store(n);
}

}  // namespace kestrel
