// Two tasks on two threads of the host.
#ifndef KESTREL_CUDA_BASE_PAIR_CUH
#define KESTREL_CUDA_BASE_PAIR_CUH

#include <functional>

#include "cuda/base/device.cuh"

namespace kestrel_cuda {

/// See kestrel_gpu_pair. Returns false if it has called nothing. May be empty.
using Pair = std::function<bool(void (*body)(void* task, int item), void* task)>;

/// Runs first() on this thread and second() on another one meanwhile, or afterwards on this one.
/// Each must end without the other's help once that has thrown or returned false. Throws the
/// Failure of the first one that failed, else returns whether both returned true.
template <class First, class Second>
bool run_both(const Pair& pair, const First& first, const Second& second) {
  struct Both {
    const First& first;
    const Second& second;
    const int device;
    bool good[2] = {false, false};
    int code[2] = {KESTREL_GPU_OK, KESTREL_GPU_OK};
    Failure failure[2] = {};
  } both{first, second, current_device()};
  const auto body = [](void* task, int item) {
    Both& all = *static_cast<Both*>(task);
    Failure& failure = all.failure[item];
    all.code[item] = guarded(failure.text, sizeof failure.text, [&] {
      const OnDevice on(all.device);
      all.good[item] = item == 0 ? all.first() : all.second();
      return int{KESTREL_GPU_OK};
    });
  };
  if (!pair || !pair(body, &both)) return first() && second();
  for (int item = 0; item < 2; ++item) {
    if (both.code[item] == KESTREL_GPU_OK) continue;
    both.failure[item].code = both.code[item];
    throw both.failure[item];
  }
  return both.good[0] && both.good[1];
}

}  // namespace kestrel_cuda

#endif
