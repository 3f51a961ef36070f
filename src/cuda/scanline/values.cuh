// The second kernel of scanline.cu: the cells of tiles become values.
#ifndef KESTREL_CUDA_SCANLINE_VALUES_CUH
#define KESTREL_CUDA_SCANLINE_VALUES_CUH

#include "cuda/scanline/task.cuh"

namespace kestrel_cuda {

/// Warps of a block.
constexpr int kScanWarps = 16;

struct ScanlineScan {
  const double* run_shift;
  double limb, factor, power;
  std::size_t row_stride, run_stride;
  ScanlineBatch batch;
  double* out;
  Whole* largest;  // two doubles, as integers
};

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

/// Cells that hold the events of runs. A warp takes 32 of them at a time, from the first point of a
/// row to the last.
template <int LimbsOf>
class EventCells {
 public:
  static constexpr int Limbs = LimbsOf, kCellNumbers = kCell<Limbs>, kOf = kNumbers<Limbs>;
  /// Cells that a lane takes at a time: their loads and shuffles do not wait for each other.
  static constexpr int kTogether = Limbs == 1 ? 4 : 2;

  /// Reads the numbers of the cell of point t of a row and sets them to zero.
  __device__ static void take(Whole* row, unsigned t, unsigned, bool there, Whole number[kOf]) {
    Whole* const cell = row + t * std::size_t{kCell<Limbs>};
#pragma unroll
    for (int i = 0; i < kCell<Limbs>; i += 2) {
      ulonglong2 pair = make_ulonglong2(0, 0);
      ulonglong2* from = reinterpret_cast<ulonglong2*>(cell + i);
      if (there) {
        pair = *from;
        *from = make_ulonglong2(0, 0);
      }
      number[i] = pair.x;
      if (i + 1 < kOf) number[i + 1] = pair.y;
    }
  }

  __device__ void pass(unsigned lane, Whole number[kOf]) { add_up<Limbs>(lane, number, sum_); }

  /// The value at a point, which is `shift` away from its index.
  __device__ static double value(const ScanlineScan& scan, const Whole number[kOf], unsigned point,
                                 double shift, double largest[2]) {
    Whole a[Limbs], q[Limbs], p[Limbs];
#pragma unroll
    for (int limb = 0; limb < Limbs; ++limb) {
      a[limb] = number[3 * limb];
      q[limb] = number[3 * limb + 1];
      p[limb] = number[3 * limb + 2];
    }
    return unfused::value_of_events<Limbs>(a, q, p, point, shift, scan, largest);
  }

 private:
  Whole sum_[kOf] = {};
};

/// Cells that hold sums of values: a row has its first limbs, then its second ones.
template <int LimbsOf>
class RowCells {
 public:
  static constexpr int Limbs = LimbsOf, kCellNumbers = Limbs, kOf = Limbs, kTogether = 4;

  __device__ static void take(Whole* row, unsigned t, unsigned length, bool there,
                              Whole number[kOf]) {
#pragma unroll
    for (int limb = 0; limb < Limbs; ++limb) {
      Whole* const from = row + limb * std::size_t{length} + t;
      number[limb] = there ? *from : 0;
      if (there) *from = 0;
    }
  }

  __device__ void pass(unsigned, Whole*) {}

  __device__ static double value(const ScanlineScan& scan, const Whole number[kOf], unsigned,
                                 double, double largest[2]) {
    return unfused::value_of_rows<Limbs>(number, scan, largest);
  }
};

/// A block takes kScanWarps rows of a tile, one a warp. `Along`: rows lie along the output.
/// Otherwise they lie across it, and neighbouring points of neighbouring rows are written together.
template <class Cells, bool Along>
__global__ void __launch_bounds__(kScanWarps* kWarp) write_values(const ScanlineScan scan) {
  constexpr int kTogether = Cells::kTogether;
  constexpr unsigned kSpan = kWarp * kTogether;
  __shared__ double turned[kScanWarps][kSpan + 1];
  const unsigned lane = threadIdx.x % kWarp, of_block = threadIdx.x / kWarp;
  const ScanlineTile& tile = scan.batch.tile[last_not_above(
      scan.batch.tiles, blockIdx.x, [&](unsigned i) { return scan.batch.tile[i].first_group; })];
  const unsigned begin = static_cast<unsigned>(tile.at.run_begin);
  const unsigned points = static_cast<unsigned>(tile.at.run_end) - begin;
  const unsigned rows = static_cast<unsigned>(tile.at.row_end - tile.at.row_begin);
  const unsigned first_row = (blockIdx.x - tile.first_group) * kScanWarps;
  const unsigned row = first_row + of_block;
  const unsigned length = static_cast<unsigned>(tile.at.row_length);
  Whole* const cells =
      scan.batch.cells + (tile.first_cell + row * length) * std::size_t{Cells::kCellNumbers};
  double* out = scan.out + tile.at.first_point;
  Cells sums;
  double largest[2] = {0.0, 0.0};
  for (unsigned first = 0; first < points; first += kSpan) {
    Whole number[kTogether][Cells::kOf];
#pragma unroll
    for (int u = 0; u < kTogether; ++u) {
      const unsigned t = first + u * kWarp + lane;
      Cells::take(cells, t, length, row < rows && t < points, number[u]);
    }
#pragma unroll
    for (int u = 0; u < kTogether; ++u) sums.pass(lane, number[u]);
#pragma unroll
    for (int u = 0; u < kTogether; ++u) {
      const unsigned t = first + u * kWarp + lane;
      if (row >= rows || t >= points) continue;
      const double value =
          Cells::value(scan, number[u], begin + t,
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
