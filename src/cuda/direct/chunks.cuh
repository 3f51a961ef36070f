// Sums over samples at points by chunks of samples, whose partial sums are added in the end.
#ifndef KESTREL_CUDA_DIRECT_CHUNKS_CUH
#define KESTREL_CUDA_DIRECT_CHUNKS_CUH

#include <algorithm>
#include <cstddef>

#include "cuda/base/device.cuh"
#include "cuda/direct/direct.cuh"
#include "cuda/direct/sums.cuh"

namespace kestrel_cuda {

/// Samples of a chunk. This depends on their number alone; there are at most 512 chunks.
inline std::size_t chunk_size(std::size_t n) {
  return std::max<std::size_t>(1024, round_up((n + 511) / 512, kFlush));
}

/// The maximum number of partial sums, for the points that are processed at a time.
constexpr std::size_t kPartialSums = std::size_t{1} << 25;

/// The sum over the chunks for every point; a sum below `smallest` becomes 0. Groups of 16 chunks
/// are added, and then their sums: the order depends on the number of chunks alone. If `square` is
/// not null, the sums are by inner products, 2^square times too large. All are multiplied by
/// `scale` at the end.
static __global__ void add_chunks(const double* partial, std::size_t stride, std::size_t chunks,
                                  std::size_t points, double smallest, const double* square,
                                  double scale, double* sum) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= points) return;
  double total = 0.0;
  for (std::size_t group = 0; group < chunks; group += 16) {
    double of_group = 0.0;
    for (std::size_t c = group; c < chunks && c < group + 16; ++c)
      of_group += partial[c * stride + i];
    total += of_group;
  }
  total = total < smallest ? 0.0 : total;
  sum[i] = scale * (square == nullptr ? total : total * exp2(-square[i]));
}

/// Calls body(first, count, poll) for blocks of the m points, each of which has so many partial
/// sums. Returns false as soon as a body does.
template <class Body>
bool for_blocks(std::size_t m, std::size_t partial_sums, const Poll& poll, const Body& body) {
  const std::size_t max =
      std::max<std::size_t>(1, kPartialSums / partial_sums / kPointUnit) * kPointUnit;
  for (std::size_t first = 0; first < m; first += max) {
    const std::size_t count = std::min(max, m - first);
    const Poll part = [&](double fraction) {
      return poll((static_cast<double>(first) + fraction * static_cast<double>(count)) /
                  static_cast<double>(m));
    };
    if (!body(first, count, part)) return false;
  }
  return true;
}

/// Calls launch(first, count) for some chunks at a time, of so many operations each, and the poll
/// between launches. Returns false if that stopped them.
template <class Launch>
bool for_chunks(std::size_t chunks, double operations, const Poll& poll, const Launch& launch) {
  const std::size_t at_a_time = std::min<std::size_t>(
      32768, std::max<std::size_t>(1, static_cast<std::size_t>(kLaunchOperations / operations)));
  Pace pace;
  for (std::size_t first = 0; first < chunks; first += at_a_time) {
    launch(first, static_cast<unsigned>(std::min(at_a_time, chunks - first)));
    check(cudaGetLastError(), "starting a sum");
    pace.launched();
    if (!poll(static_cast<double>(first) / static_cast<double>(chunks))) {
      check(cudaDeviceSynchronize(), "stopping");
      return false;
    }
  }
  return true;
}

}  // namespace kestrel_cuda

#endif
