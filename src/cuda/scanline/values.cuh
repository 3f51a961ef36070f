// The second kernel of scanline.cu: events in the cells of tiles become values.
#ifndef KESTREL_CUDA_SCANLINE_VALUES_CUH
#define KESTREL_CUDA_SCANLINE_VALUES_CUH

#include "cuda/scanline/task.cuh"

namespace kestrel_cuda {

/// Reads the numbers of a cell and sets it to zero.
template <int Limbs>
__device__ inline void take_cell(Whole* cell, bool there, Whole number[kNumbers<Limbs>]) {
#pragma unroll
  for (int i = 0; i < kCell<Limbs>; i += 2) {
    ulonglong2 pair = make_ulonglong2(0, 0);
    ulonglong2* from = reinterpret_cast<ulonglong2*>(cell + i);
    if (there) {
      pair = *from;
      *from = make_ulonglong2(0, 0);
    }
    number[i] = pair.x;
    if (i + 1 < kNumbers<Limbs>) number[i + 1] = pair.y;
  }
}

/// Turns the numbers of 32 cells into running sums that start from `sum`, and `sum` into the last
/// of these.
template <int Limbs>
__device__ inline void add_up(unsigned lane, Whole number[kNumbers<Limbs>],
                              Whole sum[kNumbers<Limbs>]) {
#pragma unroll
  for (int i = 0; i < kNumbers<Limbs>; ++i) {
#pragma unroll
    for (unsigned step = 1; step < kWarp; step *= 2) {
      const Whole other = __shfl_up_sync(kWholeWarp, number[i], step);
      if (lane >= step) number[i] += other;
    }
    number[i] += sum[i];
    sum[i] = __shfl_sync(kWholeWarp, number[i], kWarp - 1);
  }
}

/// The value at a point, which is `shift` away from its index.
template <int Limbs>
KESTREL_HD KESTREL_INLINE double value_at(const ScanlineScan& scan,
                                          const Whole number[kNumbers<Limbs>], unsigned point,
                                          double shift, double largest[2]) {
  Whole a[Limbs], q[Limbs], p[Limbs];
  KESTREL_UNROLL
  for (int limb = 0; limb < Limbs; ++limb) {
    a[limb] = number[3 * limb];
    q[limb] = number[3 * limb + 1];
    p[limb] = number[3 * limb + 2];
  }
  return kestrel::unfused::value_of_events<Limbs>(a, q, p, point, shift, scan, largest);
}

/// Cells that a lane takes at a time: their loads and shuffles do not wait for each other.
template <int Limbs>
constexpr int kTogether = Limbs == 1 ? 4 : 2;

/// A block takes kScanWarps rows of a tile, one a warp. `Along`: rows lie along the output.
/// Otherwise they lie across it, and neighbouring points of neighbouring rows are written together.
template <int Limbs, bool Along>
__global__ void __launch_bounds__(kScanWarps* kWarp) write_values(const ScanlineScan scan) {
  constexpr unsigned kSpan = kWarp * kTogether<Limbs>;
  __shared__ double turned[kScanWarps][kSpan + 1];
  const unsigned lane = threadIdx.x % kWarp, of_block = threadIdx.x / kWarp;
  const ScanlineTile& tile = scan.tile[last_not_above(
      scan.tiles, blockIdx.x, [&](unsigned i) { return scan.tile[i].first_group; })];
  const unsigned begin = static_cast<unsigned>(tile.at.run_begin);
  const unsigned points = static_cast<unsigned>(tile.at.run_end) - begin;
  const unsigned rows = static_cast<unsigned>(tile.at.row_end - tile.at.row_begin);
  const unsigned first_row = (blockIdx.x - tile.first_group) * kScanWarps;
  const unsigned row = first_row + of_block;
  Whole* cells =
      scan.cells + (tile.first_cell + row * tile.at.row_length) * std::size_t{kCell<Limbs>};
  double* out = scan.out + tile.at.first_point;
  Whole sum[kNumbers<Limbs>] = {};
  double largest[2] = {0.0, 0.0};
  for (unsigned first = 0; first < points; first += kSpan) {
    Whole number[kTogether<Limbs>][kNumbers<Limbs>];
#pragma unroll
    for (int u = 0; u < kTogether<Limbs>; ++u) {
      const unsigned t = first + u * kWarp + lane;
      take_cell<Limbs>(cells + t * std::size_t{kCell<Limbs>}, row < rows && t < points, number[u]);
    }
#pragma unroll
    for (int u = 0; u < kTogether<Limbs>; ++u) add_up<Limbs>(lane, number[u], sum);
#pragma unroll
    for (int u = 0; u < kTogether<Limbs>; ++u) {
      const unsigned t = first + u * kWarp + lane;
      if (row >= rows || t >= points) continue;
      const double value =
          value_at<Limbs>(scan, number[u], begin + t,
                          shift_at(scan.run_shift, static_cast<int>(begin + t)), largest);
      if (Along) {
        __stcs(out + row * scan.row_stride + t, value);
      } else {
        turned[of_block][u * kWarp + lane] = value;
      }
    }
    if (Along) continue;
    __syncthreads();
    const unsigned r = threadIdx.x % kScanWarps;
    for (unsigned p = threadIdx.x / kScanWarps; p < kSpan && first + p < points; p += kWarp) {
      if (first_row + r < rows) {
        __stcs(out + (first_row + r) + (first + p) * scan.run_stride, turned[r][p]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    Whole bits = static_cast<Whole>(__double_as_longlong(largest[i]));
    for (unsigned step = kWarp / 2; step > 0; step /= 2) {
      const Whole other = __shfl_xor_sync(kWholeWarp, bits, step);
      bits = other > bits ? other : bits;
    }
    if (lane == 0 && bits > 0) atomicMax(scan.largest + i, bits);
  }
}

}  // namespace kestrel_cuda

#endif
