#include <algorithm>
#include <cub/device/device_radix_sort.cuh>

#include "cuda/base/device.cuh"
#include "cuda/base/sort.cuh"

namespace kestrel_cuda {

namespace {

__global__ void number(unsigned* place, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) place[i] = i;
}

}  // namespace

void sort_ascending(const double* values, unsigned n, double* sorted, unsigned* order) {
  if (n == 0) return;
  constexpr unsigned kThreads = 256;
  Buffer<unsigned> place;
  Buffer<unsigned char> room;
  number<<<(n + kThreads - 1) / kThreads, kThreads>>>(place.reserve(n), n);
  check(cudaGetLastError(), "starting to number values");
  const int count = static_cast<int>(n);
  std::size_t bytes = 0;
  const auto sort = [&](void* memory) {
    check(
        cub::DeviceRadixSort::SortPairs(memory, bytes, values, sorted, place.data(), order, count),
        "sorting");
  };
  sort(nullptr);
  sort(room.reserve(std::max<std::size_t>(1, bytes)));
}

}  // namespace kestrel_cuda
