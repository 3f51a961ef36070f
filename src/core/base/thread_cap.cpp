// How many threads a process may use.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

#include "core/base/cpu_quota.hpp"
#include "core/base/error.hpp"
#include "core/base/parallel.hpp"

namespace kestrel {
namespace {

// The whole number at the start of an environment variable (OMP_NUM_THREADS may be a list), at most
// `max`; `max` if there is no such number.
int environment_number(const char* name, int max) {
  const char* text = std::getenv(name);
  if (text == nullptr) return max;
  const long value = std::strtol(text, nullptr, 10);
  return value >= 1 && value <= max ? static_cast<int>(value) : max;
}

int processors() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

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

}  // namespace

int thread_limit() {
  static const int limit =
      environment_number("OMP_THREAD_LIMIT", std::max(processors(), kFewThreads));
  return limit;
}

int thread_cap() { return std::min(cap().load(), thread_limit()); }

void set_thread_cap(int n) {
  if (n < 1) {
    throw error(ErrorKind::input,
                "`n` must be a positive whole number, not " + std::to_string(n) + ".");
  }
  cap().store(n);
}

}  // namespace kestrel
