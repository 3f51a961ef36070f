// Sums of runs on the device: their interface to api.cu.
#ifndef KESTREL_CUDA_SCANLINE_SCANLINE_CUH
#define KESTREL_CUDA_SCANLINE_SCANLINE_CUH

#include <cstddef>
#include <functional>
#include <memory>

#include "cuda/base/pair.cuh"
#include "cuda/direct/direct.cuh"
#include "gpu/gpu_abi.h"

namespace kestrel_cuda {

/// Returns false to stop.
using Take = std::function<bool(std::size_t first, const double* values, std::size_t count)>;

/// See scanline_open() and the functions after it in gpu/gpu_abi.h. Memory on the device: 8 bytes
/// for each number of a sample, 192 MiB of cells (more for tiles that need it), and parts of the
/// output (kestrel::scanline_held_parts()); and up to 72 MiB of page-locked memory of the host for
/// each device, which stay with the process.
class Scanline {
 public:
  virtual ~Scanline() = default;
  /// Returns false if the poll, or `take` where that is not empty, stopped it.
  virtual bool slab(const kestrel_gpu_scanline_slab& slab, double largest[2], const Take& take,
                    const Pair& pair, const Poll& poll) = 0;
};

/// `from`: null, or one that was made of the same grid and samples on another device.
std::unique_ptr<Scanline> make_scanline(const kestrel_gpu_scanline& runs, const Scanline* from,
                                        int from_device);

}  // namespace kestrel_cuda

#endif
