// What the kernels of scanline.cu share: their tasks, and arithmetic that is never fused.
#ifndef KESTREL_CUDA_SCANLINE_TASK_CUH
#define KESTREL_CUDA_SCANLINE_TASK_CUH

#include <cstddef>
#include <cstdint>

#include "cuda/base/warp.cuh"
#include "gpu/gpu_abi.h"

namespace kestrel_cuda {

using Whole = unsigned long long;  // modulo 2^64, as atomicAdd() takes it

/// Warps of a block that makes events, and of one that makes values.
constexpr int kEventWarps = 8, kScanWarps = 16;
constexpr unsigned kNoCell = 0xffffffff;

/// Integers of a cell, and what it takes: a sector of 32 bytes at least.
template <int Limbs>
constexpr int kNumbers = 3 * Limbs;
template <int Limbs>
constexpr int kCell = Limbs == 1 ? 4 : 3 * Limbs;

struct ScanlineAxis {
  double origin, inverse_step, step_high, step_low;
  const double *x, *shift;
};

/// A tile of a batch.
struct ScanlineTile {
  kestrel_gpu_scanline_tile at;
  unsigned first_cell;   // in the batch's cells
  unsigned first_group;  // of kScanWarps rows, in the batch
};

/// Samples begin, ..., end - 1 of a tile, 32 a warp: those of the batch from first_warp on.
struct ScanlineWork {
  unsigned begin, end, tile, first_warp;
};

struct ScanlineTask {
  double slope[KESTREL_GPU_SCANLINE_AXES][KESTREL_GPU_SCANLINE_AXES],
      inverse[KESTREL_GPU_SCANLINE_AXES];
  ScanlineAxis axis[KESTREL_GPU_SCANLINE_AXES];
  double room, limb_scale, row_shift, run_shift;
  const double* weight;
  double common;
  // Of a batch.
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

// ---- arithmetic --------------------------------------------------------------------------------

__device__ inline double plus(double a, double b) { return __dadd_rn(a, b); }
__device__ inline double minus(double a, double b) { return __dsub_rn(a, b); }
__device__ inline double times(double a, double b) { return __dmul_rn(a, b); }
__device__ inline double min(double a, double b) { return a < b ? a : b; }
__device__ inline double max(double a, double b) { return a > b ? a : b; }

/// Beside this number doubles are whole numbers: 1.5 * 2^52.
constexpr double kBeside = 6755399441055744.0;
__device__ inline double nearest(double v) { return minus(plus(v, kBeside), kBeside); }
__device__ inline double lowest(double v) {
  const double whole = nearest(v);
  return whole > v ? minus(whole, 1.0) : whole;
}
__device__ inline double highest(double v) {
  const double whole = nearest(v);
  return whole < v ? plus(whole, 1.0) : whole;
}

/// The nearest whole number, and that as an integer; |v| < 2^51.
struct Split {
  double whole;
  Whole bits;
};
__device__ inline Split split(double v) {
  const double beside = plus(v, kBeside);
  return {minus(beside, kBeside),
          static_cast<Whole>(__double_as_longlong(beside) - __double_as_longlong(kBeside))};
}

__device__ inline double shift_at(const double* shift, int index) {
  return shift == nullptr ? 0.0 : shift[index];
}

/// The last of `count` ascending values that is not above `key`; the first is not.
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
