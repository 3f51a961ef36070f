// How a block of rows.cuh finds the samples that reach its points, in two steps: those in the
// bounding box of the points and of a kernel about them, then those whose kernel reaches a point.
#ifndef KESTREL_CUDA_SCANLINE_ROW_SAMPLES_CUH
#define KESTREL_CUDA_SCANLINE_ROW_SAMPLES_CUH

#include "cuda/scanline/task.cuh"

namespace kestrel_cuda {

/// Rows of a warp, and the maximum number of warps of a block.
constexpr int kRowsOfWarp = 16;
constexpr unsigned kRowWarps = 8;
/// Warps of samples that a warp looks at in one go, so that their loads do not wait for each other.
constexpr unsigned kLooks = 4;
/// Samples in the bounding box that wait to be listed, and warps of samples of a block at most.
constexpr unsigned kCandidates = 2048, kChunkWarps = 256;

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
  /// Half the width of the kernel's bounding box, and a step more for the shifts of points and for
  /// rounding.
  double reach[KESTREL_GPU_SCANLINE_AXES];
};

struct RowTask {
  const RowGrid* grid;
  /// Of the row axis and the run axis, as ScanlineForm has them.
  double row_inverse, run_inverse, slope, room, limb_scale;
  /// The inverse of half the width of the kernel's bounding box along the run axis, in steps, for
  /// given indices on the outer axes.
  double inverse_reach;
  kestrel::ScanlineNest nest;
  RowShape shape;
  ScanlineBatch batch;
  unsigned first_block;

  KESTREL_HD bool radial() const { return nest == kestrel::ScanlineNest::ellipsoid; }
};

/// Samples that reach a block's points: where, and the weight times the profiles on outer axes.
struct ListedSamples {
  double squares[kRowWarps * kWarp], weight[kRowWarps * kWarp], row_base[kRowWarps * kWarp],
      row_centre[kRowWarps * kWarp], run_base[kRowWarps * kWarp], run_centre[kRowWarps * kWarp];
  int first[kRowWarps * kWarp], last[kRowWarps * kWarp];  // rows
  unsigned sample[kRowWarps * kWarp];
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
__device__ inline bool reaches(const RowTask& task, const RowBox& box,
                               const unfused::TileMeeting& met) {
  if (!(met.left > 0) || !(met.first <= met.last)) return false;
  const double beyond =
      distance_beyond(met.run_centre, box.run_begin - met.run_base, box.run_end - met.run_base) *
      task.inverse_reach;
  return beyond * beyond <= (task.radial() ? met.left : task.room);
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

/// Goes through the work of a batch, warp of samples after warp of samples.
class WorkCursor {
 public:
  __device__ WorkCursor(const ScanlineBatch& batch, unsigned warp) : batch_(batch) {
    at_ = last_not_above(batch.works, warp, [&](unsigned i) { return batch.work[i].first_warp; });
  }

  /// Calls put(look, work) with the works of warps warp, ..., warp + kLooks - 1, none of which is
  /// before those that were asked for last. Every work has a warp.
  template <class Put>
  __device__ void find(unsigned warp, const Put& put) {
    const unsigned lane = threadIdx.x % kWarp;
    unsigned begins = 0, steps = kWarp;
    while (true) {
      const unsigned next = at_ + 1 + lane;
      begins = next < batch_.works ? batch_.work[next].first_warp : 0xffffffffu;
      steps = __popc(__ballot_sync(kWholeWarp, begins <= warp));
      if (steps + kLooks <= kWarp) break;
      at_ += steps;
    }
    unsigned last = at_;
#pragma unroll
    for (unsigned look = 0; look < kLooks; ++look) {
      last = at_ + __popc(__ballot_sync(kWholeWarp, begins <= warp + look));
      put(look, batch_.work[last]);
    }
    at_ = last;
  }

 private:
  const ScanlineBatch& batch_;
  unsigned at_;
};

/// The coordinates of samples whose kernels' bounding boxes meet a block's points.
struct RowBounds {
  double low[KESTREL_GPU_SCANLINE_AXES], high[KESTREL_GPU_SCANLINE_AXES];
};

__device__ inline void set_bounds(const RowGrid& grid, const RowBox& box, int i, RowBounds* to) {
  const kestrel::ScanlineAxis& axis = grid.of.axis[i].axis;
  const int on = grid.of.axes - 2;
  const int first = i < on    ? box.outer[i]
                    : i == on ? box.row_begin
                              : box.run_begin,
            last = i < on ? box.outer[i] : (i == on ? box.row_end : box.run_end) - 1;
  const double step = axis.step_high + axis.step_low;
  const double low = (first - grid.reach[i]) * step, high = (last + grid.reach[i]) * step;
  // Some roundings of 2^-53 each.
  to->low[i] = axis.origin + low - 1e-15 * (fabs(axis.origin) + fabs(low));
  to->high[i] = axis.origin + high + 1e-15 * (fabs(axis.origin) + fabs(high));
}

/// Which of kLooks samples of each lane are within the bounds; `near`: which of them there are.
__device__ inline void look(const ScanlineGrid& grid, const RowBounds& bounds,
                            const unsigned sample[kLooks], bool near[kLooks]) {
  for (int i = 0; i < grid.axes; ++i) {
    const double* const x = grid.axis[i].x;
    if (x == nullptr) continue;  // an axis of one point
    const double low = bounds.low[i], high = bounds.high[i];
    double at[kLooks];
#pragma unroll
    for (unsigned u = 0; u < kLooks; ++u) at[u] = near[u] ? x[sample[u]] : low;
#pragma unroll
    for (unsigned u = 0; u < kLooks; ++u) near[u] = near[u] && at[u] >= low && at[u] <= high;
  }
}

/// The position of a lane's entry in a list of the block, if it has one.
__device__ inline unsigned place_in(bool there, unsigned* count) {
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned lanes = __ballot_sync(kWholeWarp, there);
  unsigned to = 0;
  if (lane == 0 && lanes != 0) to = atomicAdd(count, __popc(lanes));
  return __shfl_sync(kWholeWarp, to, 0) + __popc(lanes & ((1u << lane) - 1));
}

}  // namespace kestrel_cuda

#endif
