// Sums of kernel values over chunks of samples, at blocks of evaluation points: the two loops that
// take all of the density's time. The order of every sum depends on the number of samples alone:
// thread i of a block has the same samples in the same order, whatever else runs.
#ifndef KESTREL_CUDA_DIRECT_SUMS_CUH
#define KESTREL_CUDA_DIRECT_SUMS_CUH

#include <cstddef>

#include "cuda/base/exp2.cuh"
#include "cuda/base/warp.cuh"
#include "gpu/gpu_abi.h"

namespace kestrel_cuda {

/// The data as given, one row a variable, and the bandwidth's root: for the rim of the uniform
/// kernels. These rows are not padded: there are no data beyond `samples` and `points`.
struct Rim {
  const double *x, *e, *root;
  std::size_t samples, points;
};
/// A pair: its number in an unrolled loop, its sample and its point.
struct PairIndex {
  int index;
  std::size_t sample, point;
};

/// What a sum reads and writes, all in device memory.
template <class Real>
struct SumTask {
  const Real* sample;         // d rows of sample_stride: coordinates
  const Real* weight;         // of the samples, as the value object needs them
  const Real* point;          // d rows of point_stride: coordinates
  std::size_t sample_stride;  // a multiple of kChunkUnit; padding has weight zero
  std::size_t point_stride;   // a multiple of kPointUnit
  std::size_t chunk;          // samples of a chunk, a multiple of kChunkUnit
  std::size_t first_chunk;    // that of blockIdx.y = 0
  double* partial;            // [chunk * point_stride + point]
  // In half precision, for tensor_sum_single(): see tensor.cuh. `weight` then has two rows.
  const uint4 *grid_sample, *grid_point;
  Rim rim;
  int d;
};

constexpr int kChunkUnit = 256;
constexpr int kPointUnit = 1024;

template <class Real>
struct Vector16;
template <>
struct Vector16<double> {
  using type = double2;
  static constexpr int kLength = 2;
};
template <>
struct Vector16<float> {
  using type = float4;
  static constexpr int kLength = 4;
};

/// Loads 16 bytes of shared memory into registers.
template <class Real>
__device__ __forceinline__ void load16(const Real* from, Real* to) {
  using V = typename Vector16<Real>::type;
  const V v = *reinterpret_cast<const V*>(from);
  const Real* value = reinterpret_cast<const Real*>(&v);
#pragma unroll
  for (int i = 0; i < Vector16<Real>::kLength; ++i) to[i] = value[i];
}

/// The order in which one step of register_sum() is written, which the compiler's instructions
/// follow.
enum class Order { pairs, variables };

/// Adds sixteen bytes of samples, from position j of the tile on, at kPoints points.
template <class Value, class Real, int D, int kPoints, Order kOrder>
__device__ __forceinline__ void register_step(const Value& value, const Real (*tile)[kChunkUnit],
                                              int j, const Real (&point)[D][kPoints],
                                              Real (&sum)[kPoints]) {
  constexpr int kStep = Vector16<Real>::kLength;
  Real weight[kStep], x[D][kStep];
  load16(&tile[D][j], weight);
#pragma unroll
  for (int k = 0; k < D; ++k) load16(&tile[k][j], x[k]);
  if constexpr (kOrder == Order::pairs) {
#pragma unroll
    for (int s = 0; s < kStep; ++s) {
#pragma unroll
      for (int i = 0; i < kPoints; ++i) {
        Real v = value.start(weight[s]);
#pragma unroll
        for (int k = 0; k < D; ++k) value.extend(x[k][s], point[k][i], k, v);
        value.add(v, weight[s], PairIndex{s * kPoints + i, 0, 0}, sum[i]);
      }
    }
  } else {
    Real v[kStep][kPoints];
#pragma unroll
    for (int s = 0; s < kStep; ++s) {
#pragma unroll
      for (int i = 0; i < kPoints; ++i) v[s][i] = value.start(weight[s]);
    }
#pragma unroll
    for (int k = 0; k < D; ++k) {
#pragma unroll
      for (int s = 0; s < kStep; ++s) {
#pragma unroll
        for (int i = 0; i < kPoints; ++i) value.extend(x[k][s], point[k][i], k, v[s][i]);
      }
    }
#pragma unroll
    for (int s = 0; s < kStep; ++s) {
#pragma unroll
      for (int i = 0; i < kPoints; ++i) {
        value.add(v[s][i], weight[s], PairIndex{s * kPoints + i, 0, 0}, sum[i]);
      }
    }
  }
}

/// For few variables and the Gaussian kernel: every thread keeps kPoints points in registers and
/// pairs them with all samples of the chunk, which all threads read from a tile in shared memory.
/// `Value`: provides start(), extend(), add() and kPointScale. Grid: (points / (kThreads *
/// kPoints), chunks). kBlocks (blocks of a multiprocessor), kUnroll (steps unrolled) and kOrder
/// guide the compiler.
template <class Value, class Real, int D, int kPoints, int kThreads, int kBlocks, int kUnroll,
          Order kOrder>
__global__ void __launch_bounds__(kThreads, kBlocks) register_sum(const SumTask<Real> task) {
  constexpr int kTile = kChunkUnit;
  constexpr int kStep = Vector16<Real>::kLength;
  __shared__ __align__(16) Real tile[D + 1][kTile];
  const Value value(task);
  const std::size_t first_point =
      static_cast<std::size_t>(blockIdx.x) * kThreads * kPoints + threadIdx.x;
  Real point[D][kPoints];
  double total[kPoints];
#pragma unroll
  for (int i = 0; i < kPoints; ++i) {
    total[i] = 0.0;
#pragma unroll
    for (int k = 0; k < D; ++k) {
      point[k][i] =
          Value::kPointScale * task.point[k * task.point_stride + first_point + i * kThreads];
    }
  }
  const std::size_t chunk = task.first_chunk + blockIdx.y;
  const std::size_t begin = chunk * task.chunk;
  const std::size_t end =
      begin + task.chunk < task.sample_stride ? begin + task.chunk : task.sample_stride;
  for (std::size_t start = begin; start < end; start += kTile) {
    __syncthreads();
#pragma unroll
    for (int k = 0; k <= D; ++k) {
#pragma unroll
      for (int j = 0; j < kTile; j += kThreads) {
        if (kThreads <= kTile || threadIdx.x < kTile) {
          const Real* row = k < D ? task.sample + k * task.sample_stride : task.weight;
          tile[k][j + threadIdx.x] = row[start + j + threadIdx.x];
        }
      }
    }
    __syncthreads();
    Real sum[kPoints];
#pragma unroll
    for (int i = 0; i < kPoints; ++i) sum[i] = sizeof(Real) == 8 ? static_cast<Real>(total[i]) : 0;
#pragma unroll kUnroll
    for (int j = 0; j < kTile; j += kStep) {
      register_step<Value, Real, D, kPoints, kOrder>(value, tile, j, point, sum);
    }
#pragma unroll
    for (int i = 0; i < kPoints; ++i) {
      total[i] =
          sizeof(Real) == 8 ? static_cast<double>(sum[i]) : total[i] + static_cast<double>(sum[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < kPoints; ++i) {
    task.partial[chunk * task.point_stride + first_point + i * kThreads] = total[i];
  }
}

/// For many variables: 256 threads in 16 rows and 16 columns. A thread has kPoints points (of its
/// row) times kSamples samples (of its column); their squared distances are added up variable by
/// variable, from shared memory, in slabs of kSlab variables. `Value` turns minus the squared
/// distances into values and adds them. Grid: (points / (16 kPoints), chunks).
constexpr int kSide = 16;
constexpr int kSlab = 16;
/// Sums in single precision are added to those in double after this many samples, 64 a thread.
constexpr int kFlush = 1024;

template <class Real, int kCount>
__device__ __forceinline__ void load_strips(const Real* from, int place, Real* to) {
  constexpr int kLength = Vector16<Real>::kLength;
#pragma unroll
  for (int s = 0; s < kCount / kLength; ++s) {
    load16(from + (s * kSide + place) * kLength, to + s * kLength);
  }
}

/// The position in the block of the i-th value that load_strips() loads for `place`.
template <class Real>
__device__ __forceinline__ int strip_offset(int i, int place) {
  constexpr int kLength = Vector16<Real>::kLength;
  return (i / kLength * kSide + place) * kLength + i % kLength;
}

template <class Value, class Real, int kPoints, int kSamples>
__global__ void __launch_bounds__(kSide* kSide) tile_sum(const SumTask<Real> task) {
  constexpr int kThreads = kSide * kSide;
  constexpr int kBlock = kSide * kPoints, kTile = kSide * kSamples;
  static_assert(kChunkUnit % kTile == 0, "a chunk is whole tiles");
  __shared__ __align__(16) Real shared[kSide * (kSlab * (kPoints + kSamples) + kSamples)];
  Real* const points = shared;                    // [kSlab][kBlock]
  Real* const samples = points + kSlab * kBlock;  // [kSlab][kTile]
  Real* const weights = samples + kSlab * kTile;  // [kTile]
  const Value value(task);
  const int column = threadIdx.x % kSide, row = threadIdx.x / kSide;
  const std::size_t first_point = static_cast<std::size_t>(blockIdx.x) * kBlock;
  const std::size_t chunk = task.first_chunk + blockIdx.y;
  const std::size_t begin = chunk * task.chunk;
  const std::size_t end =
      begin + task.chunk < task.sample_stride ? begin + task.chunk : task.sample_stride;
  double total[kPoints];
  Real sum[kPoints];  // of at most kFlush samples
#pragma unroll
  for (int i = 0; i < kPoints; ++i) {
    total[i] = 0.0;
    sum[i] = 0;
  }
  for (std::size_t start = begin; start < end; start += kTile) {
    Real v[kPoints][kSamples], weight[kSamples];
    for (int slab = 0; slab < task.d; slab += kSlab) {
      const int width = task.d - slab < kSlab ? task.d - slab : kSlab;
      __syncthreads();
      if (task.d > kSlab || start == begin) {
        for (int at = threadIdx.x; at < width * kBlock; at += kThreads) {
          points[at] =
              Value::kPointScale *
              task.point[(slab + at / kBlock) * task.point_stride + first_point + at % kBlock];
        }
      }
      for (int at = threadIdx.x; at < width * kTile; at += kThreads) {
        samples[at] = task.sample[(slab + at / kTile) * task.sample_stride + start + at % kTile];
      }
      if (slab == 0 && threadIdx.x < kTile) {
        weights[threadIdx.x] = task.weight[start + threadIdx.x];
      }
      __syncthreads();
      if (slab == 0) {
        load_strips<Real, kSamples>(weights, column, weight);
#pragma unroll
        for (int i = 0; i < kPoints; ++i) {
#pragma unroll
          for (int s = 0; s < kSamples; ++s) v[i][s] = value.start(weight[s]);
        }
      }
#pragma unroll 2
      for (int k = 0; k < width; ++k) {
        Real x[kSamples], e[kPoints];
        load_strips<Real, kSamples>(samples + k * kTile, column, x);
        load_strips<Real, kPoints>(points + k * kBlock, row, e);
#pragma unroll
        for (int i = 0; i < kPoints; ++i) {
#pragma unroll
          for (int s = 0; s < kSamples; ++s) value.extend(x[s], e[i], slab + k, v[i][s]);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kPoints; ++i) {
#pragma unroll
      for (int s = 0; s < kSamples; ++s) {
        const PairIndex pair{i * kSamples + s, start + strip_offset<Real>(s, column),
                             first_point + strip_offset<Real>(i, row)};
        value.add(v[i][s], weight[s], pair, sum[i]);
      }
    }
    if constexpr (sizeof(Real) < sizeof(double)) {
      if ((start + kTile - begin) % kFlush == 0) {
#pragma unroll
        for (int i = 0; i < kPoints; ++i) {
          total[i] += static_cast<double>(sum[i]);
          sum[i] = 0;
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kPoints; ++i) {
    double of_row = total[i] + static_cast<double>(sum[i]);
#pragma unroll
    for (int step = kSide / 2; step > 0; step /= 2) {
      of_row += __shfl_down_sync(kWholeWarp, of_row, step, kSide);
    }
    if (column == 0) {
      task.partial[chunk * task.point_stride + first_point + strip_offset<Real>(i, row)] = of_row;
    }
  }
}

}  // namespace kestrel_cuda

#endif
