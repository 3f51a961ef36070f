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

namespace unfused = kestrel::unfused;
using kestrel::unfused::Whole;

constexpr unsigned kNoCell = 0xffffffff;

/// Integers of a cell of events, and the room that it takes.
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
  unsigned first_cell;            // in the batch's cells
  unsigned first_group;           // of kScanWarps rows, in the batch
  unsigned first_warp, end_warp;  // of samples, in the batch
  unsigned first_block;           // of rows.cuh, in the batch
};

/// Samples begin, ..., end - 1 of a tile: 32 for each of the batch's warps from first_warp on.
struct ScanlineWork {
  unsigned begin, end, tile, first_warp;
};

/// A grid, a kernel and the samples.
struct ScanlineGrid {
  double slope[KESTREL_GPU_SCANLINE_AXES][KESTREL_GPU_SCANLINE_AXES],
      inverse[KESTREL_GPU_SCANLINE_AXES];
  DeviceAxis axis[KESTREL_GPU_SCANLINE_AXES];
  int axes;
  kestrel::Kernel kernel;
  kestrel::ScanlineNest nest;
  double room, limb_scale, row_shift, run_shift;
  const double* weight;
  double common;
};

/// The current batch.
struct ScanlineBatch {
  const ScanlineTile* tile;
  unsigned tiles;
  const ScanlineWork* work;
  unsigned works;
  Whole* cells;
};

KESTREL_HD KESTREL_INLINE double shift_at(const double* shift, int index) {
  return shift == nullptr ? 0.0 : shift[index];
}

KESTREL_HD KESTREL_INLINE double weight_at(const ScanlineGrid& grid, unsigned sample) {
  return grid.weight == nullptr ? grid.common : grid.weight[sample];
}

/// Where a sample crosses a tile, or another part of the grid with members of these names.
template <int Outer, bool Straight, class Tile>
KESTREL_HD KESTREL_INLINE unfused::TileMeeting meeting_of(const ScanlineGrid& grid,
                                                          const Tile& tile, unsigned sample) {
  return unfused::meet_tile<Outer, Straight>(grid, tile, weight_at(grid, sample),
                                             [&](int i) -> unfused::GridIndex {
                                               const DeviceAxis& on = grid.axis[i];
                                               if (i == Outer && on.x == nullptr)
                                                 return {0.0, 0.0, 0.0};  // an axis of one point
                                               return unfused::grid_index_of(on.axis, on.x[sample]);
                                             });
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
