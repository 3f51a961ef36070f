// The limits of this device, for the roofline: multiply-adds and exponentials per second of all its
// multiprocessors, copies of device memory (bytes read and written), copies from and to the host's
// memory, pinned and from malloc(). Prints one line each: "ceiling" name, rate; the best of five
// after a first one. Built and run by bench/gpu.R.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "cuda/base/device.cuh"

using namespace kestrel_cuda;

namespace {

constexpr int kChains = 8, kSteps = 4096, kThreads = 256;

/// Independent chains of multiply-adds; `zero` is 0, but the compiler does not know that.
template <class Real>
__global__ void multiply_add(Real zero, Real* out) {
  Real v[kChains];
  for (int i = 0; i < kChains; ++i) v[i] = zero * static_cast<Real>(threadIdx.x + i);
  const Real factor = Real(1) + zero;
#pragma unroll 8
  for (int step = 0; step < kSteps; ++step) {
#pragma unroll
    for (int i = 0; i < kChains; ++i) v[i] = fma(v[i], factor, factor);
  }
  Real sum = 0;
  for (int i = 0; i < kChains; ++i) sum += v[i];
  if (sum == Real(-1)) *out = sum;
}

__global__ void exponentials(float zero, float* out) {
  float v[kChains];
  for (int i = 0; i < kChains; ++i) v[i] = zero * static_cast<float>(threadIdx.x + i);
#pragma unroll 8
  for (int step = 0; step < kSteps; ++step) {
#pragma unroll
    for (int i = 0; i < kChains; ++i) {
      asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(v[i]));
    }
  }
  float sum = 0;
  for (int i = 0; i < kChains; ++i) sum += v[i];
  if (sum == -1.0f) *out = sum;
}

/// The minimum of the seconds of five calls, after a first one.
double seconds_of(const std::function<void()>& call) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "making an event");
  check(cudaEventCreate(&end), "making an event");
  float min = 1e30f;
  for (int repetition = 0; repetition < 6; ++repetition) {
    check(cudaEventRecord(begin), "marking a time");
    call();
    check(cudaGetLastError(), "starting");
    check(cudaEventRecord(end), "marking a time");
    check(cudaEventSynchronize(end), "waiting");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "asking for the time");
    if (repetition > 0) min = std::min(min, milliseconds);
  }
  check(cudaEventDestroy(begin), "ending an event");
  check(cudaEventDestroy(end), "ending an event");
  return 1e-3 * min;
}

void print(const char* name, double rate) {
  std::printf("ceiling %s %.4g\n", name, rate);
  std::fflush(stdout);
}

void arithmetic() {
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "asking for the device");
  const unsigned blocks = 32 * static_cast<unsigned>(device.multiProcessorCount);
  Buffer<double> out;
  double* to = out.reserve(1);
  const double operations = static_cast<double>(blocks) * kThreads * kChains * kSteps;
  print("fma-single", operations / seconds_of([&] {
                       multiply_add<<<blocks, kThreads>>>(0.0f, reinterpret_cast<float*>(to));
                     }));
  print("fma-double",
        operations / seconds_of([&] { multiply_add<<<blocks, kThreads>>>(0.0, to); }));
  print("exp2-single", operations / seconds_of([&] {
                        exponentials<<<blocks, kThreads>>>(0.0f, reinterpret_cast<float*>(to));
                      }));
}

void copies() {
  constexpr std::size_t kBytes = std::size_t{1} << 30;
  Buffer<char> first, second;
  char *from = first.reserve(kBytes), *to = second.reserve(kBytes);
  check(cudaMemset(from, 1, kBytes), "filling memory");
  const double bytes = static_cast<double>(kBytes);
  const auto copy = [&](void* target, const void* source, cudaMemcpyKind kind) {
    return seconds_of([&] { check(cudaMemcpy(target, source, kBytes, kind), "copying"); });
  };
  print("memory", 2 * bytes / copy(to, from, cudaMemcpyDeviceToDevice));
  void* pinned = nullptr;
  check(cudaMallocHost(&pinned, kBytes), "taking pinned memory");
  std::memset(pinned, 1, kBytes);
  print("from-host-pinned", bytes / copy(to, pinned, cudaMemcpyHostToDevice));
  print("to-host-pinned", bytes / copy(pinned, from, cudaMemcpyDeviceToHost));
  check(cudaFreeHost(pinned), "freeing pinned memory");
  void* pageable = std::malloc(kBytes);
  if (pageable == nullptr) return;
  std::memset(pageable, 1, kBytes);
  print("from-host", bytes / copy(to, pageable, cudaMemcpyHostToDevice));
  print("to-host", bytes / copy(pageable, from, cudaMemcpyDeviceToHost));
  std::free(pageable);
}

}  // namespace

int main() {
  try {
    arithmetic();
    copies();
  } catch (const Failure& failure) {
    std::printf("failed: %s\n", failure.text);
    return 1;
  }
}
