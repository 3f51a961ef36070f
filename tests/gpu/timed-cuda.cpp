// A CUDA object that is another one, TIMED_CUDA_OBJECT, except that it notes when each call began
// and ended.
#include "timed-cuda.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "gpu/gpu_abi.h"

namespace {

const kestrel_gpu_table* real = nullptr;
std::mutex mutex;
std::map<const void*, int> device_of;
std::vector<TimedCall> calls;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int device_with(const void* handle) {
  const std::lock_guard<std::mutex> lock(mutex);
  return device_of[handle];
}

template <class Call>
int timed(const char* what, int device, const Call& call) {
  const double begin = now();
  const int code = call();
  const std::lock_guard<std::mutex> lock(mutex);
  calls.push_back({what, device, begin, now()});
  return code;
}

template <class Call>
int opened(int device, void** handle, const Call& call) {
  const int code = timed("open", device, call);
  const std::lock_guard<std::mutex> lock(mutex);
  if (code == KESTREL_GPU_OK) device_of[*handle] = device;
  return code;
}

template <class Call>
int used(const char* what, void* handle, const Call& call) {
  return timed(what, device_with(handle), call);
}

void closed(void* handle, void (*close)(void*)) {
  timed("close", device_with(handle), [&] {
    close(handle);
    return 0;
  });
}

/// The table with the functions that take long replaced.
kestrel_gpu_table make_table() {
  kestrel_gpu_table table = *real;
  table.density_open = [](int device, const kestrel_gpu_kernel* kernel, const double* x,
                          size_t stride, const double* w, size_t n, const void* from, void** out,
                          char* problem, size_t room) {
    return opened(device, out, [&] {
      return real->density_open(device, kernel, x, stride, w, n, from, out, problem, room);
    });
  };
  table.density_sum = [](void* handle, const double* centre, const double* e, size_t stride,
                         size_t m, double* sum, kestrel_gpu_poll poll, void* context, char* problem,
                         size_t room) {
    return used("sums", handle, [&] {
      return real->density_sum(handle, centre, e, stride, m, sum, poll, context, problem, room);
    });
  };
  table.density_close = [](void* handle) { closed(handle, real->density_close); };
  table.pairs_open = [](int device, const kestrel_gpu_pairs* request, const double* x,
                        size_t stride, const double* w, size_t n, const void* from, void** out,
                        size_t* pieces, char* problem, size_t room) {
    return opened(device, out, [&] {
      return real->pairs_open(device, request, x, stride, w, n, from, out, pieces, problem, room);
    });
  };
  table.pairs_sum = [](void* handle, size_t piece, double* sum, kestrel_gpu_poll poll,
                       void* context, char* problem, size_t room) {
    return used("sums", handle,
                [&] { return real->pairs_sum(handle, piece, sum, poll, context, problem, room); });
  };
  table.pairs_close = [](void* handle) { closed(handle, real->pairs_close); };
  table.scanline_open = [](int device, const kestrel_gpu_scanline* runs, const void* from,
                           void** out, char* problem, size_t room) {
    return opened(device, out,
                  [&] { return real->scanline_open(device, runs, from, out, problem, room); });
  };
  table.scanline_slab = [](void* handle, const kestrel_gpu_scanline_slab* slab, double largest[2],
                           kestrel_gpu_take take, kestrel_gpu_pair pair, kestrel_gpu_poll poll,
                           void* context, char* problem, size_t room) {
    return used("sums", handle, [&] {
      return real->scanline_slab(handle, slab, largest, take, pair, poll, context, problem, room);
    });
  };
  table.scanline_close = [](void* handle) { closed(handle, real->scanline_close); };
  table.regression_open = [](int device, const kestrel_gpu_regression* request, const void* from,
                             void** out, char* problem, size_t room) {
    return opened(device, out,
                  [&] { return real->regression_open(device, request, from, out, problem, room); });
  };
  table.regression_sums = [](void* handle, size_t first, size_t count, double* sum,
                             kestrel_gpu_poll poll, void* context, char* problem, size_t room) {
    return used("sums", handle, [&] {
      return real->regression_sums(handle, first, count, sum, poll, context, problem, room);
    });
  };
  table.regression_close = [](void* handle) { closed(handle, real->regression_close); };
  table.mixed_open = [](int device, const kestrel_gpu_mixed* data, const void* from, void** out,
                        char* problem, size_t room) {
    return opened(device, out,
                  [&] { return real->mixed_open(device, data, from, out, problem, room); });
  };
  table.mixed_sums = [](void* handle, int task, size_t first, size_t count, const double* given,
                        double* sum, kestrel_gpu_poll poll, void* context, char* problem,
                        size_t room) {
    const char* name = task == KESTREL_GPU_mixed_changes ? "changes" : "sums";
    return used(name, handle, [&] {
      return real->mixed_sums(handle, task, first, count, given, sum, poll, context, problem, room);
    });
  };
  table.mixed_close = [](void* handle) { closed(handle, real->mixed_close); };
  return table;
}

}  // namespace

extern "C" void kestrel_timed_forget() {
  const std::lock_guard<std::mutex> lock(mutex);
  calls.clear();
}

extern "C" size_t kestrel_timed_copy(TimedCall* to, size_t room) {
  const std::lock_guard<std::mutex> lock(mutex);
  std::copy_n(calls.begin(), std::min(room, calls.size()), to);
  return calls.size();
}

extern "C" const kestrel_gpu_table* kestrel_cuda_table() {
  const char* path = std::getenv("TIMED_CUDA_OBJECT");
  void* const object = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) return nullptr;
  const auto entry = reinterpret_cast<kestrel_gpu_entry>(dlsym(object, KESTREL_GPU_SYMBOL));
  if (entry == nullptr) return nullptr;
  real = entry();
  static kestrel_gpu_table table;
  table = make_table();
  return &table;
}
