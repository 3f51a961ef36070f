// The other first kernel of scanline.cu: the values of samples are added at every point that they
// reach. Any compact kernel, radial or product.
//
// A warp holds the sums of 32 points of 16 rows in registers and goes through the samples that
// reach them. So a value costs no memory; the sums are added to the cells once for each block, by
// atomic additions of integers, since the samples of a tile are shared by several blocks.
#ifndef KESTREL_CUDA_SCANLINE_ROWS_CUH
#define KESTREL_CUDA_SCANLINE_ROWS_CUH

#include "cuda/scanline/row_samples.cuh"

namespace kestrel_cuda {

/// Rows that a warp computes side by side, since every operation waits for the one before.
constexpr int kRowsBeside = 2;

/// A row of a sample, for a warp: what row_value() takes. Without points the weight is zero.
struct alignas(32) RowItem {
  double squares, weight, centre;
};

/// Makes the item of a row that a sample reaches. Returns whether it reaches some of the points
/// begin, ..., end - 1.
template <kestrel::Kernel K>
__device__ inline bool make_item(const RowTask& task, const ListedSamples& list, unsigned own,
                                 int row, double shift, int begin, int end, RowItem* to) {
  using namespace kestrel::unfused;
  const double y =
      distance_of(row, shift, list.row_base[own], list.row_centre[own], task.row_inverse);
  const double square = multiply(y, y);
  double squares = list.squares[own], weight = list.weight[own];
  if (task.radial()) {
    squares = add(squares, square);
  } else if (task.nest == kestrel::ScanlineNest::product) {
    // The values of a product are those of its last axis alone, times the weight.
    squares = 0.0;
    weight = multiply(weight, profile<K>(square));
  } else {
    squares = maximum(squares, square);
  }
  const double centre = add(list.run_centre[own], multiply(task.slope, y));
  const double base = list.run_base[own];
  const double beyond = distance_beyond(centre, begin - base, end - base) * task.run_inverse;
  const double far = beyond * beyond;
  const bool reached = (task.radial() ? squares + far : maximum(squares, far)) <= task.room;
  *to = {rest_or_squares<K>(squares), reached ? weight : 0.0, centre};
  return reached && weight > 0;
}

/// Whether a point at the rim of a uniform kernel belongs to it.
__device__ KESTREL_SELDOM inline bool inside_rim(const RowGrid& grid, const int* outer,
                                                 bool straight, unsigned sample, int row,
                                                 int point) {
  const int axes = grid.of.axes;
  std::size_t index[KESTREL_GPU_SCANLINE_AXES] = {};
  for (int i = 0; i < axes - 2; ++i) index[i] = static_cast<std::size_t>(outer[i]);
  index[axes - 2] = static_cast<std::size_t>(row);
  index[axes - 1] = static_cast<std::size_t>(point);
  return kestrel::inside_support(grid.data, straight, sample, index);
}

/// A warp's points.
struct WarpBox {
  int first_row, first_point, end_point;
  double shift, row_shift;  // of the lane's point, and of row lane % kRowsOfWarp
};

/// Adds rows of a sample to a warp's sums. `rows`: which of its rows, as bits. `place`: of the
/// lane's point, relative to the sample's base.
template <kestrel::Kernel K, bool Box, int Limbs>
__device__ inline void add_items(const RowTask& task, const RowBox& box, const WarpBox& warp,
                                 const RowItem* item, unsigned rows, double place, unsigned sample,
                                 Whole sum[kRowsOfWarp][Limbs]) {
  using namespace kestrel::unfused;
  const int point = warp.first_point + static_cast<int>(threadIdx.x % kWarp);
#pragma unroll
  for (int first = 0; first < kRowsOfWarp; first += kRowsBeside) {
    if ((rows >> first & ((1u << kRowsBeside) - 1)) == 0) continue;
#pragma unroll
    for (int r = first; r < first + kRowsBeside; ++r) {
      const double squares = item[r].squares, weight = item[r].weight;
      const double y = multiply(subtract(place, item[r].centre), task.run_inverse);
      const double square = multiply(y, y);
      const double q = Box ? maximum(squares, square) : add(squares, square);
      double value;
      if constexpr (kestrel::KernelOf<K>::kIndicator) {
        bool inside = q < 1 - kestrel::kRim;
        if (!inside && q < 1 + kestrel::kRim && weight > 0 && point < warp.end_point) {
          inside = inside_rim(*task.grid, box.outer, Box, sample, warp.first_row + r, point);
        }
        value = inside ? weight : 0.0;
      } else {
        value = multiply(weight, row_value<K>(squares, square, q));
      }
      put_value<Limbs>(value, task.limb_scale, [&](int limb, Whole bits) { sum[r][limb] += bits; });
    }
  }
}

/// Adds the samples of the list to a warp's sums: first it finds those that reach its points, then
/// it takes their rows, those of two samples at a time.
template <kestrel::Kernel K, bool Box, int Limbs>
__device__ inline void add_listed(const RowTask& task, const RowBox& box, const ListedSamples& list,
                                  unsigned listed, const WarpBox& warp, RowItem* item,
                                  Whole sum[kRowsOfWarp][Limbs]) {
  constexpr unsigned kRows = kRowsOfWarp;
  static_assert(2 * kRows == kWarp, "a lane for each row of two samples");
  const unsigned lane = threadIdx.x % kWarp;
  const int point = warp.first_point + static_cast<int>(lane),
            row = warp.first_row + static_cast<int>(lane % kRows);
  for (unsigned first = 0; first < listed; first += kWarp) {
    const unsigned mine = first + lane;
    bool meets = false;
    if (mine < listed && list.first[mine] < warp.first_row + kRowsOfWarp &&
        list.last[mine] >= warp.first_row) {
      const double base = list.run_base[mine];
      const double beyond =
          distance_beyond(list.run_centre[mine], warp.first_point - base, warp.end_point - base) *
          task.inverse_reach;
      meets = beyond * beyond <= task.room - (task.radial() ? list.squares[mine] : 0.0);
    }
    for (unsigned left = __ballot_sync(kWholeWarp, meets); left != 0;) {
      const unsigned one = first + __ffs(static_cast<int>(left)) - 1;
      left &= left - 1;
      const bool second = left != 0;
      const unsigned two = second ? first + __ffs(static_cast<int>(left)) - 1 : one;
      left &= left - 1;
      const unsigned own = lane < kRows ? one : two;
      bool reached = false;
      item[lane] = {0.0, 0.0, 0.0};
      if ((lane < kRows || second) && row >= list.first[own] && row <= list.last[own]) {
        reached = make_item<K>(task, list, own, row, warp.row_shift, warp.first_point,
                               warp.end_point, item + lane);
      }
      const unsigned rows = __ballot_sync(kWholeWarp, reached);
      __syncwarp();
#pragma unroll 1
      for (unsigned s = 0; s < 2; ++s) {
        const unsigned sample = s == 0 ? one : two;
        const double place =
            unfused::add(unfused::subtract(point, list.run_base[sample]), warp.shift);
        add_items<K, Box, Limbs>(task, box, warp, item + s * kRows, rows >> (s * kRows) & 0xffffu,
                                 place, list.sample[sample], sum);
      }
      __syncwarp();
    }
  }
}

/// A block takes some samples of a tile, and a part of its points.
template <kestrel::Kernel K, bool Box, int Limbs>
__global__ void __launch_bounds__(kRowWarps* kWarp, 2) add_rows(const RowTask task) {
  __shared__ ListedSamples list;
  __shared__ RowItem all_items[kRowWarps][kWarp];
  __shared__ RowBounds bounds;
  __shared__ unsigned candidate[kCandidates], waiting, filled;
  const unsigned lane = threadIdx.x % kWarp, of_block = threadIdx.x / kWarp;
  const unsigned block = task.first_block + blockIdx.x;
  const ScanlineTile& tile = task.batch.tile[last_not_above(
      task.batch.tiles, block, [&](unsigned i) { return task.batch.tile[i].first_block; })];
  const RowShape shape = task.shape;
  const unsigned warps = shape.warps();
  const unsigned columns = shape.columns(tile.at), parts = columns * shape.bands(tile.at);
  const unsigned part = (block - tile.first_block) % parts,
                 chunk = (block - tile.first_block) / parts;
  const int row_begin = tile.at.row_begin + static_cast<int>(part / columns * shape.rows()),
            run_begin = tile.at.run_begin + static_cast<int>(part % columns * shape.points());
  const RowBox box{
      tile.at.outer, tile.at.outer_shift,
      row_begin,     min(tile.at.row_end, row_begin + static_cast<int>(shape.rows())),
      run_begin,     min(tile.at.run_end, run_begin + static_cast<int>(shape.points()))};
  const int first_row = row_begin + static_cast<int>(of_block / shape.along) * kRowsOfWarp,
            first_point = run_begin + static_cast<int>(of_block % shape.along * kWarp);
  const int point = first_point + static_cast<int>(lane),
            own_row = first_row + static_cast<int>(lane % kRowsOfWarp);
  const ScanlineGrid& grid = task.grid->of;
  const DeviceAxis* const axis = grid.axis + grid.axes;
  const WarpBox own{first_row, first_point, min(box.run_end, first_point + static_cast<int>(kWarp)),
                    point < box.run_end ? shift_at(axis[-1].shift, point) : 0.0,
                    own_row < box.row_end ? shift_at(axis[-2].shift, own_row) : 0.0};
  const bool has_points = first_row < box.row_end && first_point < box.run_end;
  Whole sum[kRowsOfWarp][Limbs] = {};
  const unsigned first_warp = tile.first_warp + chunk * kChunkWarps,
                 end_warp = min(tile.end_warp, first_warp + kChunkWarps);
  if (threadIdx.x < static_cast<unsigned>(grid.axes)) {
    set_bounds(*task.grid, box, static_cast<int>(threadIdx.x), &bounds);
  }
  if (threadIdx.x == 0) waiting = filled = 0;
  __syncthreads();
  WorkCursor cursor(task.batch, min(first_warp + of_block * kLooks, end_warp - 1));
  for (unsigned from = first_warp; from < end_warp; from += warps * kLooks) {
    const unsigned warp = from + of_block * kLooks;
    unsigned sample[kLooks] = {};
    bool near[kLooks] = {};
    if (warp < end_warp) {
      cursor.find(warp, [&](unsigned u, const ScanlineWork& work) {
        sample[u] = work.begin + (warp + u - work.first_warp) * kWarp + lane;
        near[u] = warp + u < end_warp && sample[u] < work.end;
      });
      look(grid, bounds, sample, near);
    }
#pragma unroll
    for (unsigned u = 0; u < kLooks; ++u) {
      const unsigned to = place_in(near[u], &waiting);
      if (near[u]) candidate[to] = sample[u];
    }
    __syncthreads();
    const unsigned found = waiting;
    __syncthreads();
    const bool more = from + warps * kLooks < end_warp;
    if (more && found + warps * kLooks * kWarp <= kCandidates) continue;
    for (unsigned first = 0; first < found; first += blockDim.x) {
      const unsigned mine = first + threadIdx.x;
      bool there = false;
      unfused::TileMeeting met;
      if (mine < found) {
        met = meeting_in(grid, box, candidate[mine]);
        there = reaches(task, box, met);
      }
      const unsigned to = place_in(there, &filled);
      if (there) list_sample(met, candidate[mine], to, &list);
      const unsigned listed = static_cast<unsigned>(__syncthreads_count(there));
      if (has_points) {
        add_listed<K, Box, Limbs>(task, box, list, listed, own, all_items[of_block], sum);
      }
      __syncthreads();
      if (threadIdx.x == 0) waiting = filled = 0;
      __syncthreads();
    }
  }
  if (point >= box.run_end) return;
  const std::size_t length = tile.at.row_length;
#pragma unroll
  for (int r = 0; r < kRowsOfWarp; ++r) {
    if (first_row + r >= box.row_end) break;
    const std::size_t row = static_cast<std::size_t>(first_row + r - tile.at.row_begin);
    Whole* const to = task.batch.cells + (tile.first_cell + row * length) * Limbs +
                      static_cast<std::size_t>(point - tile.at.run_begin);
#pragma unroll
    for (int limb = 0; limb < Limbs; ++limb) {
      if (sum[r][limb] != 0) atomicAdd(to + limb * length, sum[r][limb]);
    }
  }
}

}  // namespace kestrel_cuda

#endif
