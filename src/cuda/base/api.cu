// The interface of the CUDA object: the one function it exports, and those of the table. No
// exception and no type of C++ crosses it.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cuda/base/device.cuh"
#include "cuda/base/transfer.cuh"
#include "cuda/direct/direct.cuh"
#include "cuda/direct/variable.cuh"
#include "cuda/mixed/mixed.cuh"
#include "cuda/pairs/pairs.cuh"
#include "cuda/regression/regression.cuh"
#include "cuda/scanline/scanline.cuh"
#include "gpu/gpu_abi.h"

using namespace kestrel_cuda;

namespace {

__global__ void nothing() {}

int devices(int* count, char* problem, std::size_t room) {
  return guarded(problem, room, [&] {
    *count = 0;
    check(cudaGetDeviceCount(count), "counting devices");
    if (*count == 0) check(cudaErrorNoDevice, "counting devices");
    *count = std::min(*count, kMostDevices);
    return KESTREL_GPU_OK;
  });
}

int describe(int number, kestrel_gpu_device* out, char* problem, std::size_t room) {
  return guarded(problem, room, [&] {
    std::memset(out, 0, sizeof *out);
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, number), "asking what the device is");
    std::snprintf(out->name, sizeof out->name, "%s", properties.name);
    out->memory = static_cast<double>(properties.totalGlobalMem);
    out->major = properties.major;
    out->minor = properties.minor;
    out->multiprocessors = properties.multiProcessorCount;
    check(cudaDriverGetVersion(&out->driver), "asking for the driver");
    check(cudaRuntimeGetVersion(&out->runtime), "asking for the runtime");
    return KESTREL_GPU_OK;
  });
}

int start(int number, double* free_memory, char* problem, std::size_t room) {
  return guarded(problem, room, [&] {
    const OnDevice on(number);
    // Whether the object has code for this device shows only when a kernel is started.
    nothing<<<1, 1>>>();
    check(cudaGetLastError(), "starting a first kernel");
    check(cudaDeviceSynchronize(), "running a first kernel");
    std::size_t bytes = 0, memory = 0;
    check(cudaMemGetInfo(&bytes, &memory), "asking for memory");
    *free_memory = static_cast<double>(bytes);
    return KESTREL_GPU_OK;
  });
}

/// What a handle points to: an object and its device, which is the current one while the object is
/// made, used and freed.
template <class Object>
struct Handle {
  int device;
  std::unique_ptr<Object> object;
};

/// make(other, its device) makes the object; `other` is that of the handle `from`, or null.
template <class Object, class Make>
int open_handle(int device, const void* from, void** out, char* problem, std::size_t room,
                const Make& make) {
  return guarded(problem, room, [&] {
    const OnDevice on(device);
    const auto* const other = static_cast<const Handle<Object>*>(from);
    auto handle = std::make_unique<Handle<Object>>();
    handle->device = device;
    handle->object =
        other == nullptr ? make(nullptr, device) : make(other->object.get(), other->device);
    *out = handle.release();
    return KESTREL_GPU_OK;
  });
}

/// Runs body(object), which returns false if it was stopped.
template <class Object, class Body>
int use_handle(void* handle, char* problem, std::size_t room, const Body& body) {
  return guarded(problem, room, [&] {
    auto& held = *static_cast<Handle<Object>*>(handle);
    const OnDevice on(held.device);
    if (body(*held.object)) return int{KESTREL_GPU_OK};
    std::snprintf(problem, room, "stopped");
    return int{KESTREL_GPU_STOPPED};
  });
}

template <class Object>
void close_handle(void* handle) {
  if (handle == nullptr) return;
  char problem[512] = "";
  guarded(problem, sizeof problem, [&] {
    auto* const held = static_cast<Handle<Object>*>(handle);
    const OnDevice on(held->device);
    delete held;
    return KESTREL_GPU_OK;
  });
}

Poll poll_of(kestrel_gpu_poll poll, void* context) {
  return [=](double fraction) { return poll == nullptr || poll(context, fraction) == 0; };
}

int density_open(int device, const kestrel_gpu_kernel* kernel, const double* x, std::size_t stride,
                 const double* w, std::size_t n, const void* from, void** density, char* problem,
                 std::size_t room) {
  return open_handle<Density>(device, from, density, problem, room,
                              [&](const Density* other, int other_device) {
                                std::unique_ptr<Density> made = make_density(*kernel);
                                if (other != nullptr) {
                                  made->samples(*other, other_device);
                                } else {
                                  made->samples(x, stride, w, n);
                                }
                                return made;
                              });
}

int density_sum(void* density, const double* centre, const double* e, std::size_t stride,
                std::size_t m, double* sum, kestrel_gpu_poll poll, void* context, char* problem,
                std::size_t room) {
  return use_handle<Density>(density, problem, room, [&](Density& held) {
    return held.sum(centre, e, stride, m, sum, poll_of(poll, context));
  });
}

int variable_open(int device, const kestrel_gpu_variable* request, const double* x,
                  std::size_t stride, const double* w, const double* h, std::size_t n,
                  const void* from, void** variable, char* problem, std::size_t room) {
  return open_handle<Variable>(device, from, variable, problem, room,
                               [&](const Variable* other, int other_device) {
                                 std::unique_ptr<Variable> made = make_variable(*request);
                                 if (other != nullptr) {
                                   made->samples(*other, other_device);
                                 } else {
                                   made->samples(x, stride, w, h, n);
                                 }
                                 return made;
                               });
}

int variable_sum(void* variable, const double* e, std::size_t stride, const double* h,
                 std::size_t m, double* sum, kestrel_gpu_poll poll, void* context, char* problem,
                 std::size_t room) {
  return use_handle<Variable>(variable, problem, room, [&](Variable& held) {
    return held.sum(e, stride, h, m, sum, poll_of(poll, context));
  });
}

int pairs_open(int device, const kestrel_gpu_pairs* request, const double* x, std::size_t stride,
               const double* w, std::size_t n, const void* from, void** pairs, std::size_t* pieces,
               char* problem, std::size_t room) {
  return open_handle<Pairs>(
      device, from, pairs, problem, room, [&](const Pairs* other, int other_device) {
        auto made = make_pairs(*request, x, stride, w, n, other, other_device);
        *pieces = made->pieces();
        return made;
      });
}

int pairs_sum(void* pairs, std::size_t piece, double* sum, kestrel_gpu_poll poll, void* context,
              char* problem, std::size_t room) {
  return use_handle<Pairs>(pairs, problem, room, [&](Pairs& held) {
    return held.sum(piece, sum, poll_of(poll, context));
  });
}

int scanline_open(int device, const kestrel_gpu_scanline* runs, const void* from, void** out,
                  char* problem, std::size_t room) {
  return open_handle<Scanline>(device, from, out, problem, room,
                               [&](const Scanline* other, int other_device) {
                                 return make_scanline(*runs, other, other_device);
                               });
}

int scanline_slab(void* runs, const kestrel_gpu_scanline_slab* slab, double largest[2],
                  kestrel_gpu_take take, kestrel_gpu_pair pair, kestrel_gpu_poll poll,
                  void* context, char* problem, std::size_t room) {
  return use_handle<Scanline>(runs, problem, room, [&](Scanline& held) {
    Take taken;
    if (take != nullptr) {
      taken = [=](std::size_t first, const double* values, std::size_t count) {
        return take(context, first, values, count) == 0;
      };
    }
    Pair paired;
    if (pair != nullptr) {
      paired = [=](void (*body)(void*, int), void* task) { return pair(context, body, task) != 0; };
    }
    return held.slab(*slab, largest, taken, paired, poll_of(poll, context));
  });
}

int regression_open(int device, const kestrel_gpu_regression* request, const void* from,
                    void** regression, char* problem, std::size_t room) {
  return open_handle<Regression>(device, from, regression, problem, room,
                                 [&](const Regression* other, int other_device) {
                                   return make_regression(*request, other, other_device);
                                 });
}

int regression_sums(void* regression, std::size_t first, std::size_t count, double* sum,
                    kestrel_gpu_poll poll, void* context, char* problem, std::size_t room) {
  return use_handle<Regression>(regression, problem, room, [&](Regression& held) {
    return held.sums(first, count, sum, poll_of(poll, context));
  });
}

int mixed_open(int device, const kestrel_gpu_mixed* data, const void* from, void** mixed,
               char* problem, std::size_t room) {
  return open_handle<Mixed>(
      device, from, mixed, problem, room,
      [&](const Mixed* other, int other_device) { return make_mixed(*data, other, other_device); });
}

int mixed_kernel(void* mixed, const kestrel_gpu_mixed_kernel* kernel, char* problem,
                 std::size_t room) {
  return use_handle<Mixed>(mixed, problem, room, [&](Mixed& held) {
    held.kernel(*kernel);
    return true;
  });
}

int mixed_sums(void* mixed, int task, std::size_t first, std::size_t count, const double* given,
               double* sum, kestrel_gpu_poll poll, void* context, char* problem, std::size_t room) {
  return use_handle<Mixed>(mixed, problem, room, [&](Mixed& held) {
    return held.sums(task, first, count, given, sum, poll_of(poll, context));
  });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const kestrel_gpu_table* kestrel_cuda_table() {
  static const kestrel_gpu_table table = {KESTREL_GPU_VERSION,
                                          devices,
                                          describe,
                                          start,
                                          density_open,
                                          density_sum,
                                          close_handle<Density>,
                                          variable_open,
                                          variable_sum,
                                          close_handle<Variable>,
                                          pairs_open,
                                          pairs_sum,
                                          close_handle<Pairs>,
                                          scanline_open,
                                          scanline_slab,
                                          close_handle<Scanline>,
                                          regression_open,
                                          regression_sums,
                                          close_handle<Regression>,
                                          mixed_open,
                                          mixed_kernel,
                                          mixed_sums,
                                          close_handle<Mixed>,
                                          set_host_loop};
  return &table;
}
