// Tasks of the kernels of scanline.cu. Their arithmetic is that of the CPU (shared/scanline.inc)
// and gives the same bits.
#ifndef KESTREL_CUDA_SCANLINE_TASK_CUH
#define KESTREL_CUDA_SCANLINE_TASK_CUH

#include <cstddef>
#include <cstdint>

#include "cuda/base/warp.cuh"
#include "gpu/gpu_abi.h"
#include "shared/unfused.hpp"

namespace kestrel_cuda {

using kestrel::unfused::Whole;

/// Warps of a block, for events and for values.
constexpr int kEventWarps = 8, kScanWarps = 16;
constexpr unsigned kNoCell = 0xffffffff;

/// Integers of a cell, and the room that it takes.
template <int Limbs>
constexpr int kNumbers = kestrel::scanline_numbers(Limbs);
template <int Limbs>
constexpr int kCell = kestrel::scanline_cell(Limbs);

struct DeviceAxis {
  kestrel::ScanlineAxis axis;
  const double *x, *shift;
};

/// A tile of a batch.
struct ScanlineTile {
  kestrel_gpu_scanline_tile at;
  unsigned first_cell;   // in the batch's cells
  unsigned first_group;  // of kScanWarps rows, in the batch
};

/// Samples begin, ..., end - 1 of a tile: 32 for each of the batch's warps from first_warp on.
struct ScanlineWork {
  unsigned begin, end, tile, first_warp;
};

struct ScanlineTask {
  double slope[KESTREL_GPU_SCANLINE_AXES][KESTREL_GPU_SCANLINE_AXES],
      inverse[KESTREL_GPU_SCANLINE_AXES];
  DeviceAxis axis[KESTREL_GPU_SCANLINE_AXES];
  double room, limb_scale, row_shift, run_shift;
  const double* weight;
  double common;
  // The current batch.
  const ScanlineTile* tile;
  const ScanlineWork* work;
  unsigned works, first_warp, end_warp;
  Whole* cells;
};

struct ScanlineScan {
  const double* run_shift;
  double limb, factor, power;
  std::size_t row_stride, run_stride;
  const ScanlineTile* tile;
  unsigned tiles;
  Whole* cells;
  double* out;
  Whole* largest;  // two doubles, as integers
};

KESTREL_HD KESTREL_INLINE double shift_at(const double* shift, int index) {
  return shift == nullptr ? 0.0 : shift[index];
}

/// The last of `count` ascending values that is not above `key`; the first must not be above it.
template <class Value>
__device__ inline unsigned last_not_above(unsigned count, unsigned key, const Value& value) {
  unsigned low = 0;
  for (unsigned high = count; high - low > 1;) {
    const unsigned middle = low + (high - low) / 2;
    (value(middle) <= key ? low : high) = middle;
  }
  return low;
}

}  // namespace kestrel_cuda

#endif
