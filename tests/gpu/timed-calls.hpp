// Where the time of a task on devices goes, with an object that notes its calls (timed-cuda.cpp).
#ifndef KESTREL_TESTS_TIMED_CALLS_HPP
#define KESTREL_TESTS_TIMED_CALLS_HPP

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "timed-cuda.hpp"

namespace kestrel {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The calls of the object, if it notes them.
class Calls {
 public:
  explicit Calls(const std::string& path) : object_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (object_ == nullptr) return;
    forget_ = reinterpret_cast<TimedForget>(dlsym(object_, KESTREL_TIMED_FORGET));
    copy_ = reinterpret_cast<TimedCopy>(dlsym(object_, KESTREL_TIMED_COPY));
  }

  void forget() const {
    if (forget_ != nullptr) forget_();
  }
  /// Milliseconds of a task from `begin` to `end`: when the host was alone, and for each device the
  /// sums of its calls of each kind, and when its first sums began and its last ones ended.
  void print(double begin, double end) const {
    if (copy_ == nullptr) return;
    std::vector<TimedCall> calls(copy_(nullptr, 0));
    copy_(calls.data(), calls.size());
    std::sort(calls.begin(), calls.end(),
              [](const TimedCall& a, const TimedCall& b) { return a.begin < b.begin; });
    const double alone = calls.empty() ? end - begin : calls.front().begin - begin;
    double reached = calls.empty() ? end : calls.front().begin, between = 0.0;
    int devices = 0;
    for (const TimedCall& call : calls) {
      between += std::max(0.0, call.begin - reached);
      reached = std::max(reached, call.end);
      devices = std::max(devices, call.device + 1);
    }
    std::printf("  host alone: %.2f before, %.2f between, %.2f after\n", 1e3 * alone, 1e3 * between,
                1e3 * (end - reached));
    for (int device = 0; device < devices; ++device) print_device(calls, device, begin);
  }

 private:
  static void print_device(const std::vector<TimedCall>& calls, int device, double begin) {
    std::printf("  device %d:", device);
    double first = HUGE_VAL, last = 0.0;
    for (const char* what : {"open", "sums", "changes", "close"}) {
      double all = 0.0, longest = 0.0;
      int count = 0;
      for (const TimedCall& call : calls) {
        if (call.device != device || std::string(call.what) != what) continue;
        all += call.end - call.begin;
        longest = std::max(longest, call.end - call.begin);
        ++count;
        if (std::string(what) == "close" || std::string(what) == "open") continue;
        first = std::min(first, call.begin - begin);
        last = std::max(last, call.end - begin);
      }
      if (count == 0) continue;
      std::printf(" %d %s %.2f (%.2f)", count, what, 1e3 * all, 1e3 * longest);
    }
    if (last > 0) std::printf(", from %.2f to %.2f", 1e3 * first, 1e3 * last);
    std::printf("\n");
  }

  void* const object_;
  TimedForget forget_ = nullptr;
  TimedCopy copy_ = nullptr;
};

}  // namespace kestrel

#endif
