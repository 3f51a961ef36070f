// A CUDA object that is another one, FAILING_CUDA_OBJECT, except that a device fails on the way.
// FAILING_CUDA holds the number of the device, and how many of its sums at points are good. Until
// it has failed, the other devices wait, so that it gets as many pieces as that.
#include <dlfcn.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

#include "gpu/gpu_abi.h"

namespace {

const kestrel_gpu_table* real = nullptr;
int failing_device = 0, good_sums = 0;
bool failed = false;
std::mutex mutex;
std::condition_variable has_failed;
std::map<void*, int> device_of;

int density_open(int device, const kestrel_gpu_kernel* kernel, const double* x, size_t stride,
                 const double* w, size_t n, const void* from, void** density, char* problem,
                 size_t room) {
  const int code =
      real->density_open(device, kernel, x, stride, w, n, from, density, problem, room);
  const std::lock_guard<std::mutex> lock(mutex);
  if (code == KESTREL_GPU_OK) device_of[*density] = device;
  return code;
}

int density_sum(void* density, const double* centre, const double* e, size_t stride, size_t m,
                double* sum, kestrel_gpu_poll poll, void* context, char* problem, size_t room) {
  {
    std::unique_lock<std::mutex> lock(mutex);
    if (device_of[density] != failing_device) {
      // Not for ever: it may not be used at all.
      has_failed.wait_for(lock, std::chrono::seconds(10), [] { return failed; });
    } else if (good_sums-- <= 0) {
      failed = true;
      has_failed.notify_all();
      std::snprintf(problem, room, "it was made to fail");
      return KESTREL_GPU_FAILED;
    }
  }
  return real->density_sum(density, centre, e, stride, m, sum, poll, context, problem, room);
}

}  // namespace

extern "C" const kestrel_gpu_table* kestrel_cuda_table() {
  static kestrel_gpu_table table;
  const char* path = std::getenv("FAILING_CUDA_OBJECT");
  const char* what = std::getenv("FAILING_CUDA");
  if (path == nullptr || what == nullptr) return nullptr;
  if (std::sscanf(what, "%d %d", &failing_device, &good_sums) != 2) return nullptr;
  void* const object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) return nullptr;
  const auto entry = reinterpret_cast<kestrel_gpu_entry>(dlsym(object, KESTREL_GPU_SYMBOL));
  if (entry == nullptr) return nullptr;
  real = entry();
  table = *real;
  table.density_open = density_open;
  table.density_sum = density_sum;
  return &table;
}
