#include "cuda/base/device.cuh"
#include "cuda/base/locked.cuh"

namespace kestrel_cuda {

double* locked_values(std::size_t count) {
  struct Memory {
    void* data = nullptr;
    std::size_t count = 0;
  };
  static Memory of_device[kMostDevices];
  Memory& own = of_device[current_device()];
  if (count > own.count) {
    check(cudaFreeHost(own.data), "freeing locked memory");
    own = Memory{};
    check(cudaHostAlloc(&own.data, count * sizeof(double), cudaHostAllocDefault),
          "locking memory of the host", KESTREL_GPU_HOST_MEMORY);
    own.count = count;
  }
  return static_cast<double*>(own.data);
}

}  // namespace kestrel_cuda
