// The other first kernel of scanline.cu: the values of samples are added at every point that they
// reach. Any compact kernel, radial or product.
//
// A warp holds the sums of 32 points of 16 rows in registers and goes through the samples that
// reach them. So a value costs no memory; the sums are added to the cells once for each block, by
// atomic additions of integers, since the samples of a tile are shared by several blocks.
#ifndef KESTREL_CUDA_SCANLINE_ROWS_CUH
#define KESTREL_CUDA_SCANLINE_ROWS_CUH

#include "cuda/scanline/task.cuh"

namespace kestrel_cuda {

/// Rows of a warp, and the maximum number of warps of a block.
constexpr int kRowsOfWarp = 16;
constexpr unsigned kRowWarps = 8;
/// Samples that wait to be added by a block, and what it takes at most: so many times 32.
constexpr unsigned kListed = 512, kChunkWarps = 256;

/// The warps of a block: so many beside each other along the rows, and across them.
struct RowShape {
  unsigned along = 1, across = 1;
  KESTREL_HD unsigned warps() const { return along * across; }
  KESTREL_HD unsigned points() const { return along * kWarp; }
  KESTREL_HD unsigned rows() const { return across * kRowsOfWarp; }
  /// Blocks beside each other along the rows of a tile, and across them.
  KESTREL_HD unsigned columns(const kestrel_gpu_scanline_tile& tile) const {
    return (static_cast<unsigned>(tile.run_end - tile.run_begin) + points() - 1) / points();
  }
  KESTREL_HD unsigned bands(const kestrel_gpu_scanline_tile& tile) const {
    return (static_cast<unsigned>(tile.row_end - tile.row_begin) + rows() - 1) / rows();
  }
};

/// What all blocks have in common, in the device's memory.
struct RowGrid {
  ScanlineGrid of;
  kestrel::ScanlineData data;  // of uniform kernels
  /// The inverse of half the width of the kernel's bounding box along the run axis, in steps, for
  /// given indices on the outer axes.
  double inverse_reach;
};

struct RowTask {
  const RowGrid* grid;
  RowShape shape;
  ScanlineBatch batch;
  unsigned first_block;
};

/// Samples that reach a block's points: where, and the weight times the profiles on outer axes.
struct ListedSamples {
  double squares[kListed], weight[kListed], row_base[kListed], row_centre[kListed],
      run_base[kListed], run_centre[kListed];
  int first[kListed], last[kListed];  // rows
  unsigned sample[kListed];
};

/// Rows of samples, those of two for each warp: what row_value() takes.
struct RowItems {
  double squares[kWarp], weight[kWarp], centre[kWarp];
};

/// A block's part of a tile.
struct RowBox {
  const int* outer;
  const double* outer_shift;
  int row_begin, row_end, run_begin, run_end;
};

KESTREL_HD KESTREL_SELDOM inline unfused::TileMeeting meeting_in(const ScanlineGrid& grid,
                                                                 const RowBox& box,
                                                                 unsigned sample) {
  const bool straight = grid.nest != kestrel::ScanlineNest::ellipsoid;
  switch (2 * (grid.axes - 2) + (straight ? 1 : 0)) {
    case 0: return meeting_of<0, false>(grid, box, sample);
    case 1: return meeting_of<0, true>(grid, box, sample);
    case 2: return meeting_of<1, false>(grid, box, sample);
    case 3: return meeting_of<1, true>(grid, box, sample);
    case 4: return meeting_of<2, false>(grid, box, sample);
    case 5: return meeting_of<2, true>(grid, box, sample);
    case 6: return meeting_of<3, false>(grid, box, sample);
    case 7: return meeting_of<3, true>(grid, box, sample);
    case 8: return meeting_of<4, false>(grid, box, sample);
    default: return meeting_of<4, true>(grid, box, sample);
  }
}

/// How far `centre` is from the points begin, ..., end - 1, less one step for their shifts and for
/// rounding.
KESTREL_HD KESTREL_INLINE double distance_beyond(double centre, double begin, double end) {
  return unfused::maximum(unfused::maximum(begin - 1 - centre, centre - end), 0.0);
}

/// Whether a sample reaches the box.
__device__ inline bool reaches(const RowGrid& all, const RowBox& box,
                               const unfused::TileMeeting& met) {
  const ScanlineGrid& grid = all.of;
  if (!(met.left > 0) || !(met.first <= met.last)) return false;
  const double beyond =
      distance_beyond(met.run_centre, box.run_begin - met.run_base, box.run_end - met.run_base) *
      all.inverse_reach;
  const double room = grid.nest == kestrel::ScanlineNest::ellipsoid ? met.left : grid.room;
  return beyond * beyond <= room;
}

__device__ inline void list_sample(const unfused::TileMeeting& met, unsigned sample, unsigned to,
                                   ListedSamples* list) {
  list->squares[to] = met.squares;
  list->weight[to] = met.weight;
  list->row_base[to] = met.row_base;
  list->row_centre[to] = met.row_centre;
  list->run_base[to] = met.run_base;
  list->run_centre[to] = met.run_centre;
  list->first[to] = static_cast<int>(unfused::add(met.first, met.row_base));
  list->last[to] = static_cast<int>(unfused::add(met.last, met.row_base));
  list->sample[to] = sample;
}

/// Makes an item of a row that a sample reaches. Returns whether it reaches some of the points
/// begin, ..., end - 1.
template <kestrel::Kernel K>
__device__ inline bool make_item(const ScanlineGrid& grid, const ListedSamples& list, unsigned own,
                                 int row, double shift, int begin, int end, unsigned lane,
                                 RowItems* to) {
  using namespace kestrel::unfused;
  const int on = grid.axes - 2, run = on + 1;
  const double y =
      distance_of(row, shift, list.row_base[own], list.row_centre[own], grid.inverse[on]);
  const double square = multiply(y, y);
  double squares = list.squares[own], weight = list.weight[own];
  if (grid.nest == kestrel::ScanlineNest::ellipsoid) {
    squares = add(squares, square);
  } else if (grid.nest == kestrel::ScanlineNest::product) {
    // The values of a product are those of its last axis alone, times the weight.
    squares = 0.0;
    weight = multiply(weight, profile<K>(square));
  } else {
    squares = maximum(squares, square);
  }
  const double centre = add(list.run_centre[own], multiply(grid.slope[run][on], y));
  to->squares[lane] = rest_or_squares<K>(squares);
  to->weight[lane] = weight;
  to->centre[lane] = centre;
  const double base = list.run_base[own];
  const double beyond = distance_beyond(centre, begin - base, end - base) * grid.inverse[run];
  const double far = beyond * beyond;
  return weight > 0 &&
         (grid.nest == kestrel::ScanlineNest::ellipsoid ? squares + far : maximum(squares, far)) <=
             grid.room;
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

/// Adds the samples of the list to a warp's sums. `shift`: of the lane's point; `row_shift`: of row
/// lane % kRowsOfWarp.
template <kestrel::Kernel K, bool Box, int Limbs>
__device__ inline void add_listed(const RowTask& task, const RowBox& box, const ListedSamples& list,
                                  unsigned listed, int first_row, int first_point, double shift,
                                  double row_shift, RowItems* items,
                                  Whole sum[kRowsOfWarp][Limbs]) {
  using namespace kestrel::unfused;
  constexpr unsigned kRows = kRowsOfWarp, kTogether = kWarp / kRows;
  const ScanlineGrid& grid = task.grid->of;
  const unsigned lane = threadIdx.x % kWarp;
  const int point = first_point + static_cast<int>(lane),
            last_point = min(box.run_end, first_point + static_cast<int>(kWarp));
  const int own_row = first_row + static_cast<int>(lane % kRows);
  const double inverse = grid.inverse[grid.axes - 1], scale = grid.limb_scale;
  for (unsigned first = 0; first < listed; first += kTogether) {
    const unsigned own = first + lane / kRows;
    bool meets = false;
    if (own < listed && own_row >= list.first[own] && own_row <= list.last[own]) {
      meets =
          make_item<K>(grid, list, own, own_row, row_shift, first_point, last_point, lane, items);
    }
    const unsigned all = __ballot_sync(kWholeWarp, meets);
    __syncwarp();
#pragma unroll 1
    for (unsigned s = 0; s < kTogether; ++s) {
      const unsigned rows = all >> (s * kRows) & ((1u << kRows) - 1);
      if (rows == 0) continue;
      const double place = add(subtract(point, list.run_base[first + s]), shift);
#pragma unroll
      for (unsigned r = 0; r < kRows; ++r) {
        if ((rows >> r & 1) == 0) continue;
        const unsigned item = s * kRows + r;
        const double squares = items->squares[item], weight = items->weight[item];
        const double y = multiply(subtract(place, items->centre[item]), inverse);
        const double square = multiply(y, y);
        const double q = Box ? maximum(squares, square) : add(squares, square);
        double value;
        if constexpr (kestrel::KernelOf<K>::kIndicator) {
          bool inside = q < 1 - kestrel::kRim;
          if (!inside && q < 1 + kestrel::kRim && point < last_point) {
            inside = inside_rim(*task.grid, box.outer, Box, list.sample[first + s],
                                first_row + static_cast<int>(r), point);
          }
          value = inside ? weight : 0.0;
        } else {
          value = multiply(weight, row_value<K>(squares, square, q));
        }
        put_value<Limbs>(value, scale, [&](int limb, Whole bits) { sum[r][limb] += bits; });
      }
    }
    __syncwarp();
  }
}

/// Goes through the work of a batch, warp of samples after warp of samples.
class WorkCursor {
 public:
  __device__ WorkCursor(const ScanlineBatch& batch, unsigned warp) : batch_(batch) {
    at_ = last_not_above(batch.works, warp, [&](unsigned i) { return batch.work[i].first_warp; });
  }

  /// The work of a warp that is not before the one asked for last.
  __device__ ScanlineWork find(unsigned warp) {
    const unsigned lane = threadIdx.x % kWarp;
    for (unsigned steps = kWarp; steps == kWarp; at_ += steps) {
      const unsigned next = at_ + 1 + lane;
      const bool begun = next < batch_.works && batch_.work[next].first_warp <= warp;
      steps = __popc(__ballot_sync(kWholeWarp, begun));
    }
    return batch_.work[at_];
  }

 private:
  const ScanlineBatch& batch_;
  unsigned at_;
};

/// A block takes some samples of a tile, and a part of its points.
template <kestrel::Kernel K, bool Box, int Limbs>
__global__ void __launch_bounds__(kRowWarps* kWarp, 2) add_rows(const RowTask task) {
  __shared__ ListedSamples list;
  __shared__ RowItems all_items[kRowWarps];
  __shared__ unsigned filled;
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
  const DeviceAxis* const axis = task.grid->of.axis + task.grid->of.axes;
  const double shift = point < box.run_end ? shift_at(axis[-1].shift, point) : 0.0;
  const double row_shift = own_row < box.row_end ? shift_at(axis[-2].shift, own_row) : 0.0;
  Whole sum[kRowsOfWarp][Limbs] = {};
  const unsigned first_warp = tile.first_warp + chunk * kChunkWarps,
                 end_warp = min(tile.end_warp, first_warp + kChunkWarps);
  if (threadIdx.x == 0) filled = 0;
  __syncthreads();
  WorkCursor cursor(task.batch, min(first_warp + of_block, end_warp - 1));
  unsigned listed = 0;
  for (unsigned from = first_warp; from < end_warp; from += warps) {
    const unsigned warp = from + of_block;
    bool there = false;
    unfused::TileMeeting met;
    unsigned sample = 0;
    if (warp < end_warp) {
      const ScanlineWork work = cursor.find(warp);
      sample = work.begin + (warp - work.first_warp) * kWarp + lane;
      if (sample < work.end) {
        met = meeting_in(task.grid->of, box, sample);
        there = reaches(*task.grid, box, met);
      }
    }
    const unsigned lanes = __ballot_sync(kWholeWarp, there);
    unsigned to = 0;
    if (lane == 0 && lanes != 0) to = atomicAdd(&filled, __popc(lanes));
    to = __shfl_sync(kWholeWarp, to, 0) + __popc(lanes & ((1u << lane) - 1));
    if (there) list_sample(met, sample, to, &list);
    listed += __syncthreads_count(there);
    if (from + warps < end_warp && listed + warps * kWarp <= kListed) continue;
    if (first_row < box.row_end && first_point < box.run_end) {
      add_listed<K, Box, Limbs>(task, box, list, listed, first_row, first_point, shift, row_shift,
                                &all_items[of_block], sum);
    }
    __syncthreads();
    if (threadIdx.x == 0) filled = 0;
    listed = 0;
    __syncthreads();
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
