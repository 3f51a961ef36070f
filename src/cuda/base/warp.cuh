// Warp primitives.
#ifndef KESTREL_CUDA_BASE_WARP_CUH
#define KESTREL_CUDA_BASE_WARP_CUH

namespace kestrel_cuda {

constexpr unsigned kWarp = 32;
/// The mask of all its threads.
constexpr unsigned kWholeWarp = 0xffffffffu;

}  // namespace kestrel_cuda

#endif
