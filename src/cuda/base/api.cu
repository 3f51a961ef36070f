// The interface of the CUDA object: the one function it exports, and those of the table. No
// exception and no type of C++ crosses it.
#include <cstdio>
#include <cstring>

#include "cuda/base/device.cuh"
#include "cuda/direct/direct.cuh"
#include "cuda/mixed/mixed.cuh"
#include "cuda/pairs/pairs.cuh"
#include "cuda/regression/regression.cuh"
#include "cuda/scanline/scanline.cuh"
#include "gpu/gpu_abi.h"

using namespace kestrel_cuda;

namespace {

__global__ void nothing() {}

int device(kestrel_gpu_device* out, char* problem, std::size_t room) {
  return guarded(problem, room, [&] {
    std::memset(out, 0, sizeof *out);
    int count = 0, current = 0;
    check(cudaGetDeviceCount(&count), "counting devices");
    if (count == 0) check(cudaErrorNoDevice, "counting devices");
    check(cudaGetDevice(&current), "asking for the device");
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, current), "asking what the device is");
    // Whether the object has code for this device shows only when a kernel is started.
    nothing<<<1, 1>>>();
    check(cudaGetLastError(), "starting a first kernel");
    check(cudaDeviceSynchronize(), "running a first kernel");
    std::size_t free_memory = 0, memory = 0;
    check(cudaMemGetInfo(&free_memory, &memory), "asking for memory");
    std::snprintf(out->name, sizeof out->name, "%s", properties.name);
    out->memory = static_cast<double>(memory);
    out->free_memory = static_cast<double>(free_memory);
    out->major = properties.major;
    out->minor = properties.minor;
    out->multiprocessors = properties.multiProcessorCount;
    check(cudaDriverGetVersion(&out->driver), "asking for the driver");
    check(cudaRuntimeGetVersion(&out->runtime), "asking for the runtime");
    return KESTREL_GPU_OK;
  });
}

Poll poll_of(kestrel_gpu_poll poll, void* context) {
  return [=](double fraction) { return poll == nullptr || poll(context, fraction) == 0; };
}

int done_or_stopped(bool done, char* problem, std::size_t room) {
  if (done) return KESTREL_GPU_OK;
  std::snprintf(problem, room, "stopped");
  return KESTREL_GPU_STOPPED;
}

int density_open(const kestrel_gpu_kernel* kernel, void** density, char* problem,
                 std::size_t room) {
  return guarded(problem, room, [&] {
    *density = make_density(*kernel).release();
    return KESTREL_GPU_OK;
  });
}

int density_samples(void* density, const double* x, std::size_t stride, const double* w,
                    std::size_t n, char* problem, std::size_t room) {
  return guarded(problem, room, [&] {
    static_cast<Density*>(density)->samples(x, stride, w, n);
    return KESTREL_GPU_OK;
  });
}

int density_sum(void* density, const double* centre, const double* e, std::size_t stride,
                std::size_t m, double* sum, kestrel_gpu_poll poll, void* context, char* problem,
                std::size_t room) {
  return guarded(problem, room, [&] {
    return done_or_stopped(
        static_cast<Density*>(density)->sum(centre, e, stride, m, sum, poll_of(poll, context)),
        problem, room);
  });
}

void density_close(void* density) { delete static_cast<Density*>(density); }

int sums_over_pairs(const kestrel_gpu_pairs* pairs, const double* x, std::size_t stride,
                    const double* w, std::size_t n, double* sum, kestrel_gpu_poll poll,
                    void* context, char* problem, std::size_t room) {
  return guarded(problem, room, [&] {
    return done_or_stopped(pair_sums(*pairs, x, stride, w, n, sum, poll_of(poll, context)), problem,
                           room);
  });
}

int scanline_open(const kestrel_gpu_scanline* runs, void** out, char* problem, std::size_t room) {
  return guarded(problem, room, [&] {
    *out = make_scanline(*runs).release();
    return KESTREL_GPU_OK;
  });
}

int scanline_slab(void* runs, const kestrel_gpu_scanline_slab* slab, double largest[2],
                  kestrel_gpu_take take, kestrel_gpu_poll poll, void* context, char* problem,
                  std::size_t room) {
  return guarded(problem, room, [&] {
    Take taken;
    if (take != nullptr) {
      taken = [=](std::size_t first, const double* values, std::size_t count) {
        return take(context, first, values, count) == 0;
      };
    }
    return done_or_stopped(
        static_cast<Scanline*>(runs)->slab(*slab, largest, taken, poll_of(poll, context)), problem,
        room);
  });
}

void scanline_close(void* runs) { delete static_cast<Scanline*>(runs); }

int cross_validation_curve(const kestrel_gpu_regression* regression, double* sum,
                           kestrel_gpu_poll poll, void* context, char* problem, std::size_t room) {
  return guarded(problem, room, [&] {
    return done_or_stopped(cross_validation(*regression, sum, poll_of(poll, context)), problem,
                           room);
  });
}

int mixed_open(const kestrel_gpu_mixed* data, void** mixed, char* problem, std::size_t room) {
  return guarded(problem, room, [&] {
    *mixed = make_mixed(*data).release();
    return KESTREL_GPU_OK;
  });
}

int mixed_moments(void* mixed, const kestrel_gpu_mixed_kernel* kernel, double* sum,
                  kestrel_gpu_poll poll, void* context, char* problem, std::size_t room) {
  return guarded(problem, room, [&] {
    return done_or_stopped(
        static_cast<Mixed*>(mixed)->moments(*kernel, sum, poll_of(poll, context)), problem, room);
  });
}

int mixed_changes(void* mixed, const double* fit, double* change, kestrel_gpu_poll poll,
                  void* context, char* problem, std::size_t room) {
  return guarded(problem, room, [&] {
    return done_or_stopped(static_cast<Mixed*>(mixed)->changes(fit, change, poll_of(poll, context)),
                           problem, room);
  });
}

void mixed_close(void* mixed) { delete static_cast<Mixed*>(mixed); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const kestrel_gpu_table* kestrel_cuda_table() {
  static const kestrel_gpu_table table = {
      KESTREL_GPU_VERSION,    device,          density_open,  density_samples, density_sum,
      density_close,          sums_over_pairs, scanline_open, scanline_slab,   scanline_close,
      cross_validation_curve, mixed_open,      mixed_moments, mixed_changes,   mixed_close};
  return &table;
}
