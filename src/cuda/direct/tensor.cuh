// Sums of the Gaussian kernel by inner products on the tensor cores, so that the other units only
// have the exponentials left: see GaussianProducts in leaves.cuh for the formula. Needs compute
// capability 8.0.
#ifndef KESTREL_CUDA_DIRECT_TENSOR_CUH
#define KESTREL_CUDA_DIRECT_TENSOR_CUH

#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>

#include <cstddef>

#include "cuda/base/exp2.cuh"
#include "cuda/base/warp.cuh"
#include "cuda/direct/sums.cuh"

namespace kestrel_cuda {

/// A warp multiplies 16 points by 8 samples at a time. Thread 4 g + t of the warp has four results:
/// those of point g and samples 2 t and 2 t + 1, and those of point g + 8 and the same samples.
constexpr int kTensorPoints = 16, kTensorSamples = 8;
/// Threads and warps of a block in single precision.
constexpr int kTensorThreads = 256, kTensorWarps = kTensorThreads / 32;
/// From 8 variables on this is faster than the vector units; the registers hold 64 at most.
constexpr int kTensorFewest = 8, kTensorMost = 64;

/// The samples of a chunk in tiles of kTile: fetch(start, stage) begins to copy a tile to shared
/// memory, where there is room for two, and use(stage) adds it while the next one is copied.
template <int kTile, class Real, class Fetch, class Use>
__device__ __forceinline__ void for_tiles(const SumTask<Real>& task, std::size_t chunk,
                                          const Fetch& fetch, const Use& use) {
  const std::size_t begin = chunk * task.chunk;
  const std::size_t end =
      begin + task.chunk < task.sample_stride ? begin + task.chunk : task.sample_stride;
  int stage = 0;
  fetch(begin, stage);
  __pipeline_commit();
  for (std::size_t start = begin; start < end; start += kTile, stage ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (start + kTile < end) fetch(start + kTile, stage ^ 1);
    __pipeline_commit();
    use(stage);
  }
}

/// Writes the sums of kTiles tiles of points: total[i][half] are those of one thread, at point g +
/// 8 half of tile i.
template <int kTiles>
__device__ __forceinline__ void write_sums(const double (&total)[kTiles][2], double* to) {
#pragma unroll
  for (int i = 0; i < kTiles; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      double sum = total[i][half];
      sum += __shfl_xor_sync(kWholeWarp, sum, 1);
      sum += __shfl_xor_sync(kWholeWarp, sum, 2);
      if (threadIdx.x % 4 == 0) to[i * kTensorPoints + half * 8] = sum;
    }
  }
}

/// c += a b over 4 kSteps variables, kSteps = 2 or 4: a[2 s] is variable 4 s + t of point g, a[2 s
/// + 1] that of point g + 8, and b[s] that of sample g.
template <int kSteps>
__device__ __forceinline__ void multiply_add(double (&c)[4], const double* a, const double* b) {
#if __CUDA_ARCH__ >= 900
  if constexpr (kSteps == 4) {
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
          "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
  } else {
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
  }
#elif __CUDA_ARCH__ >= 800
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
          : "d"(a[2 * s + half]), "d"(b[s]));
    }
  }
#endif
}

/// Double precision, for at most 8 kSlabs variables. A warp has kTiles tiles of points in
/// registers; kBlocks blocks of kThreads threads are on a multiprocessor at a time. Grid: (points /
/// (warps of a block * kTiles * kTensorPoints), chunks).
template <int kSlabs, int kTiles, int kThreads, int kBlocks, int kUnroll>
__global__ void __launch_bounds__(kThreads, kBlocks) tensor_sum_double(const SumTask<double> task) {
#if __CUDA_ARCH__ >= 800
  constexpr int kVariables = 8 * kSlabs, kTile = kSlabs > 4 ? 32 : kSlabs > 2 ? 64 : 128;
  constexpr int kRow = kTile + 4;  // the threads of half a warp read from different banks
  __shared__ __align__(16) double samples[2][kVariables][kRow];
  __shared__ __align__(16) double weights[2][kTile];
  const Exp2Table<true> exponential;
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const std::size_t first_point =
      (static_cast<std::size_t>(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32) *
          (kTiles * kTensorPoints) +
      g;
  const int beyond = (kVariables - task.d) * kRow;
  for (int at = threadIdx.x; at < 2 * beyond; at += kThreads) {
    samples[at / beyond][task.d][at % beyond] = 0.0;
  }
  double point[kTiles][4 * kSlabs], total[kTiles][2];
#pragma unroll
  for (int i = 0; i < kTiles; ++i) {
    total[i][0] = total[i][1] = 0.0;
#pragma unroll
    for (int a = 0; a < 4 * kSlabs; ++a) {
      const int k = a / 2 * 4 + t;
      const std::size_t at = first_point + i * kTensorPoints + a % 2 * 8;
      point[i][a] = k < task.d ? 2.0 * task.point[k * task.point_stride + at] : 0.0;
    }
  }
  const std::size_t chunk = task.first_chunk + blockIdx.y;
  const auto fetch = [&](std::size_t start, int stage) {
    for (int at = threadIdx.x; at < task.d * (kTile / 2); at += kThreads) {
      const int k = at / (kTile / 2), j = at % (kTile / 2) * 2;
      __pipeline_memcpy_async(&samples[stage][k][j],
                              task.sample + k * task.sample_stride + start + j, 16);
    }
    const int j = 2 * threadIdx.x;
    if (j < kTile) __pipeline_memcpy_async(&weights[stage][j], task.weight + start + j, 16);
  };
  const auto use = [&](int stage) {
#pragma unroll kUnroll
    for (int j = 0; j < kTile; j += kTensorSamples) {
      double weight[2], v[kTiles][4];
      load16(&weights[stage][j + 2 * t], weight);
#pragma unroll
      for (int i = 0; i < kTiles; ++i) {
#pragma unroll
        for (int c = 0; c < 4; ++c) v[i][c] = weight[c % 2];
      }
#pragma unroll
      for (int slab = 0; slab < kSlabs; slab += 2) {
        double b[4];
#pragma unroll
        for (int s = 0; s < 4; ++s) {
          if (2 * slab + s < 2 * kSlabs) b[s] = samples[stage][slab * 8 + s * 4 + t][j + g];
        }
#pragma unroll
        for (int i = 0; i < kTiles; ++i) {
          if (slab + 1 < kSlabs) {
            multiply_add<4>(v[i], point[i] + 4 * slab, b);
          } else {
            multiply_add<2>(v[i], point[i] + 4 * slab, b);
          }
        }
      }
#pragma unroll
      for (int i = 0; i < kTiles; ++i) {
#pragma unroll
        for (int c = 0; c < 4; ++c) exponential.add(v[i][c], 0, total[i][c / 2]);
      }
    }
  };
  for_tiles<kTile>(task, chunk, fetch, use);
  write_sums(total, task.partial + chunk * task.point_stride + first_point);
#endif
}

// In single precision a coordinate x = high + low is two half-precision numbers, a multiple of a
// unit and a remainder. The unit is a power of two such that no sample or point is longer than
// kGridRadius units. So products and sums of multiples are multiples of the square of the unit, up
// to 2^24 of them, which is exact in single precision in any order. Products with a remainder are
// added up apart: they are so small that their rounding errors hardly count, and those of two
// remainders are often so small that they do not count at all.
constexpr double kGridRadius = 3300.0;
/// A finer unit would make remainders that half precision has no digits for.
constexpr float kFinestUnit = 0x1p-11f;

/// What thread 4 g + t has of sample or point g: {the multiples for variables 2 t and 2 t + 1, for
/// 2 t + 8 and 2 t + 9, the remainders for both pairs}.
using GridNumbers = uint4;
/// Numbers of `count` samples or points.
inline std::size_t grid_numbers(std::size_t count, int d) {
  return count / 8 * ((d + 15) / 16) * kWarp;
}

/// Squared lengths of what is not among the multiples, and of what remainders lose.
struct GridRests {
  double remainder = 0, lost = 0;
};

/// Splits x; both numbers are multiplied by `factor`, a power of two. The rests are those of x.
__device__ __forceinline__ void split(float x, float unit, float factor, __half* high, __half* low,
                                      GridRests* rests) {
  const float multiple = __half2float(__float2half_rn(rintf(x * (1.0f / unit)) * unit));
  const float remainder = x - multiple;
  const float kept = __half2float(__float2half_rn(remainder)), lost = remainder - kept;
  *high = __float2half_rn(multiple * factor);
  *low = __float2half_rn(kept * factor);
  rests->remainder += static_cast<double>(remainder) * remainder;
  rests->lost += static_cast<double>(lost) * lost;
}

/// Four neighbouring threads have the values of a column, none negative: raises a number to the
/// largest sum of four in the warp.
__device__ __forceinline__ void raise_by_warp(double value, unsigned long long* largest) {
  value += __shfl_xor_sync(kWholeWarp, value, 1);
  value += __shfl_xor_sync(kWholeWarp, value, 2);
  for (int step = 16; step > 2; step /= 2) {
    value = fmax(value, __shfl_xor_sync(kWholeWarp, value, step));
  }
  if (threadIdx.x % 32 == 0) {
    atomicMax(largest, static_cast<unsigned long long>(__double_as_longlong(value)));
  }
}

/// The numbers of the columns of `row` times a power of two. A warp takes a group of 8 columns; its
/// numbers for a slab of 16 variables begin at to[(group * slabs + slab) * 32]. Raises largest[0]
/// and largest[1] to the largest `remainder` and the largest `lost` of a column.
__global__ void put_on_grid(const float* row, std::size_t stride, int d, float unit, float factor,
                            GridNumbers* to, unsigned long long* largest) {
  const int lane = threadIdx.x % 32, slabs = (d + 15) / 16;
  const std::size_t group =
      static_cast<std::size_t>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (group * 8 >= stride) return;
  const float* const column = row + group * 8 + lane / 4;
  GridRests rests;
  for (int slab = 0; slab < slabs; ++slab) {
    __half2 high[2], low[2];
    for (int pair = 0; pair < 2; ++pair) {
      const int k = slab * 16 + pair * 8 + lane % 4 * 2;
      const float x = k < d ? column[k * stride] : 0.0f;
      const float y = k + 1 < d ? column[(k + 1) * stride] : 0.0f;
      split(x, unit, factor, &high[pair].x, &low[pair].x, &rests);
      split(y, unit, factor, &high[pair].y, &low[pair].y, &rests);
    }
    const auto bits = [](const __half2& both) { return *reinterpret_cast<const unsigned*>(&both); };
    to[(group * slabs + slab) * 32 + lane] = {bits(high[0]), bits(high[1]), bits(low[0]),
                                              bits(low[1])};
  }
  raise_by_warp(rests.remainder, largest);
  raise_by_warp(rests.lost, largest + 1);
}

/// Inner products are of samples and of points times this.
constexpr float kPointFactor = 2.0f;

/// Weights (the logarithms minus squared lengths) as multiples of what products of multiples are
/// multiples of, and remainders.
__global__ void weights_on_grid(const float* weight, std::size_t count, float unit, float* to) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float scale = kPointFactor * unit * unit;
  const float multiple = rintf(weight[i] / scale) * scale;
  to[i] = multiple;
  to[count + i] = weight[i] - multiple;
}

/// d = a b + c over 16 variables: a is {variables 2 t and 2 t + 1 of point g, of point g + 8,
/// variables 2 t + 8 and 2 t + 9 of both}, b the same of sample g.
__device__ __forceinline__ void multiply_add(float (&d)[4], const unsigned (&a)[4], unsigned b,
                                             unsigned b_8, const float* c) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b), "r"(b_8), "f"(c[0]), "f"(c[1]),
        "f"(c[2]), "f"(c[3]));
#endif
}

/// Single precision, for at most 16 kSlabs variables. kAll: with products of two remainders.
template <int kSlabs, int kTiles, int kBlocks, int kUnroll, bool kAll>
__global__ void __launch_bounds__(kTensorThreads, kBlocks)
    tensor_sum_single(const SumTask<float> task) {
#if __CUDA_ARCH__ >= 800
  constexpr int kTile = kSlabs > 2 ? 64 : 128, kNumbers = kTile / kTensorSamples * kSlabs * 32;
  __shared__ GridNumbers samples[2][kNumbers];
  __shared__ __align__(16) float weights[2][2][kTile];  // multiples, remainders
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, t = lane % 4;
  const std::size_t first_tile =
      (static_cast<std::size_t>(blockIdx.x) * kTensorWarps + warp) * kTiles;
  unsigned high[kTiles][kSlabs][4], low[kTiles][kSlabs][4];
  double total[kTiles][2];
#pragma unroll
  for (int i = 0; i < kTiles; ++i) {
    total[i][0] = total[i][1] = 0.0;
#pragma unroll
    for (int slab = 0; slab < kSlabs; ++slab) {
      const GridNumbers* from =
          task.grid_point + ((first_tile + i) * 2 * kSlabs + slab) * 32 + lane;
      const GridNumbers a = from[0], a_8 = from[kSlabs * 32];
      high[i][slab][0] = a.x;
      high[i][slab][1] = a_8.x;
      high[i][slab][2] = a.y;
      high[i][slab][3] = a_8.y;
      low[i][slab][0] = a.z;
      low[i][slab][1] = a_8.z;
      low[i][slab][2] = a.w;
      low[i][slab][3] = a_8.w;
    }
  }
  const std::size_t chunk = task.first_chunk + blockIdx.y;
  const auto fetch = [&](std::size_t start, int stage) {
    const GridNumbers* from = task.grid_sample + start / kTensorSamples * (kSlabs * 32);
#pragma unroll
    for (int at = 0; at < kNumbers; at += kTensorThreads) {
      __pipeline_memcpy_async(&samples[stage][at + threadIdx.x], from + at + threadIdx.x, 16);
    }
    const int row = threadIdx.x / (kTile / 4), j = threadIdx.x % (kTile / 4) * 4;
    if (row < 2) {
      __pipeline_memcpy_async(&weights[stage][row][j],
                              task.weight + row * task.sample_stride + start + j, 16);
    }
  };
  const auto use = [&](int stage) {
    float sum[kTiles][2];
#pragma unroll
    for (int i = 0; i < kTiles; ++i) sum[i][0] = sum[i][1] = 0.0f;
#pragma unroll kUnroll
    for (int j = 0; j < kTile; j += kTensorSamples) {
      const float2 multiple = *reinterpret_cast<const float2*>(&weights[stage][0][j + 2 * t]);
      const float2 remainder = *reinterpret_cast<const float2*>(&weights[stage][1][j + 2 * t]);
      const float from_high[4] = {multiple.x, multiple.y, multiple.x, multiple.y};
      const float from_low[4] = {remainder.x, remainder.y, remainder.x, remainder.y};
      float of_high[kTiles][4], of_low[kTiles][4];
#pragma unroll
      for (int slab = 0; slab < kSlabs; ++slab) {
        const GridNumbers b = samples[stage][(j / kTensorSamples * kSlabs + slab) * 32 + lane];
        if constexpr (kAll) {
#pragma unroll
          for (int i = 0; i < kTiles; ++i)
            multiply_add(of_low[i], low[i][slab], b.z, b.w, slab == 0 ? from_low : of_low[i]);
        }
#pragma unroll
        for (int i = 0; i < kTiles; ++i)
          multiply_add(of_high[i], high[i][slab], b.x, b.y, slab == 0 ? from_high : of_high[i]);
#pragma unroll
        for (int i = 0; i < kTiles; ++i) {
          multiply_add(of_low[i], low[i][slab], b.x, b.y,
                       slab == 0 && !kAll ? from_low : of_low[i]);
        }
#pragma unroll
        for (int i = 0; i < kTiles; ++i)
          multiply_add(of_low[i], high[i][slab], b.z, b.w, of_low[i]);
      }
#pragma unroll
      for (int i = 0; i < kTiles; ++i) {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          sum[i][c / 2] += Exp2Single<0>::of(of_high[i][c] + of_low[i][c]);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      total[i][0] += static_cast<double>(sum[i][0]);
      total[i][1] += static_cast<double>(sum[i][1]);
    }
  };
  for_tiles<kTile>(task, chunk, fetch, use);
  write_sums(total,
             task.partial + chunk * task.point_stride + first_tile * kTensorPoints + lane / 4);
#endif
}

}  // namespace kestrel_cuda

#endif
