// Sums over pairs of a Gaussian kernel times monomials of the difference, for functionals of the
// density's derivatives. Blocks and chunks are those of pair_kernels.cuh.
#ifndef KESTREL_CUDA_PAIRS_PAIR_MONOMIALS_CUH
#define KESTREL_CUDA_PAIRS_PAIR_MONOMIALS_CUH

#include <cstddef>

#include "cuda/pairs/pair_kernels.cuh"

namespace kestrel_cuda {

/// kDegree rows of `count` indices: factor r of monomial s is number factor[r * count + s] of a
/// pair's numbers v_0, ..., v_{d-1} and 1.
struct PairMonomials {
  const int* factor;
  unsigned count;
};

/// How many numbers a pair has in shared memory: v, 1 and its weighted exponential. Odd, so that
/// threads with a pair each have no bank conflicts.
__host__ __device__ constexpr int pair_numbers(int d) { return (d + 2) | 1; }

/// Writes the numbers of the pair of point i and sample j of the tile to a row, one for each
/// thread.
__device__ __forceinline__ void write_pair(const PairTask<double>& task,
                                           const Exp2Double& exponential, std::size_t i,
                                           const double* tile, int j, bool counts, double* row) {
  double q = 0.0;
  for (int k = 0; k < task.d; ++k) {
    const double v = task.z[k * task.stride + i] - tile[k * kPairTile + j];
    row[k] = v;
    q = fma(v, v, q);
  }
  const double e = exponential.of(-cut_square(q * task.scale));
  row[task.d] = 1.0;
  row[task.d + 1] = counts ? e * tile[task.d * kPairTile + j] * task.weight[i] : 0.0;
}

/// Sums of 2^-q times each monomial over the pairs i < j. A block takes one sample at a time: each
/// thread writes the numbers of its own point's pair, and then each thread adds one monomial of
/// some of these pairs. blockIdx.z counts groups of kPairThreads monomials. A block writes its sums
/// to task.partial, monomial by monomial. Shared memory: d + 1 rows of kPairTile, and
/// pair_numbers(d) a thread.
template <int kDegree>
__global__ void __launch_bounds__(kPairThreads)
    pair_monomials(const PairTask<double> task, const PairMonomials monomials) {
  extern __shared__ __align__(16) double shared[];
  const int width = pair_numbers(task.d), me = static_cast<int>(threadIdx.x);
  double* const tile = shared;
  double* const pairs = shared + (task.d + 1) * kPairTile;
  const Exp2Double exponential;
  const unsigned first_monomial = blockIdx.z * kPairThreads;
  const int here = static_cast<int>(min(monomials.count - first_monomial, unsigned{kPairThreads}));
  const int groups = kPairThreads / here, group = me / here;
  int factor[kDegree];
#pragma unroll
  for (int r = 0; r < kDegree; ++r) {
    factor[r] = monomials.factor[r * monomials.count + first_monomial + me % here];
  }
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * kPairThreads;
  const std::size_t i = first + threadIdx.x;
  const std::size_t chunk = (task.first_chunk + blockIdx.y) * task.chunk;
  const std::size_t end = chunk + task.chunk < task.stride ? chunk + task.chunk : task.stride;
  double total = 0.0;
  for (std::size_t start = chunk > first ? chunk : first; start < end; start += kPairTile) {
    __syncthreads();
    load_pair_tile(task, start, task.d, tile);
    for (int j = 0; j < kPairTile; ++j) {
      __syncthreads();
      write_pair(task, exponential, i, tile, j, start + j > i, pairs + me * width);
      __syncthreads();
      for (int pair = group < groups ? group : kPairThreads; pair < kPairThreads; pair += groups) {
        const double* const row = pairs + pair * width;
        double term = row[task.d + 1];
#pragma unroll
        for (int r = 0; r < kDegree - 1; ++r) term *= row[factor[r]];
        total = fma(term, row[factor[kDegree - 1]], total);
      }
    }
  }
  __syncthreads();
  pairs[me] = total;
  __syncthreads();
  if (me >= here) return;
  for (int other = 1; other < groups; ++other) total += pairs[other * here + me];
  const std::size_t block = static_cast<std::size_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  task.partial[block * monomials.count + first_monomial + me] = total;
}

}  // namespace kestrel_cuda

#endif
