// The threads that go together.
#ifndef KESTREL_CUDA_BASE_WARP_CUH
#define KESTREL_CUDA_BASE_WARP_CUH

namespace kestrel_cuda {

constexpr unsigned kWarp = 32;
/// All of them, as a mask.
constexpr unsigned kWholeWarp = 0xffffffffu;

}  // namespace kestrel_cuda

#endif
