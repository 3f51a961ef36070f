// The first kernel of scanline.cu: samples become events in the cells of tiles. The order does not
// matter, since the sums are of integers.
//
// A cell has A, Q and P of each limb. With third differences a point would have one number instead
// of three, but no slope of the values between two points, which a shifted point needs. Since the
// tiles of a batch fit in the device's cache, larger cells cost no time of the memory. An end of a
// run takes three additions either way; here they are to one 32-byte sector.
#ifndef KESTREL_CUDA_SCANLINE_EVENTS_CUH
#define KESTREL_CUDA_SCANLINE_EVENTS_CUH

#include "cuda/scanline/task.cuh"

namespace kestrel_cuda {

/// Warps of a block.
constexpr int kEventWarps = 8;

struct EventTask {
  ScanlineGrid grid;
  ScanlineBatch batch;
  unsigned first_warp, end_warp;
};

/// How 32 samples cross a tile. A sample's first row, `first`, is the warp's item `before`.
struct Meetings {
  double squares[kWarp], row_base[kWarp], row_centre[kWarp], run_base[kWarp], run_centre[kWarp],
      weight[kWarp];
  int first[kWarp];
  unsigned before[kWarp];
};

/// Returns the number of rows of the tile that the sample crosses.
template <int Outer>
KESTREL_HD KESTREL_INLINE unsigned meet(const ScanlineGrid& grid,
                                        const kestrel_gpu_scanline_tile& tile, unsigned sample,
                                        unsigned lane, Meetings* to) {
  const unfused::TileMeeting met = meeting_of<Outer, false>(grid, tile, sample);
  to->squares[lane] = met.squares;
  to->row_base[lane] = met.row_base;
  to->row_centre[lane] = met.row_centre;
  to->run_base[lane] = met.run_base;
  to->run_centre[lane] = met.run_centre;
  to->weight[lane] = met.weight;
  to->first[lane] = static_cast<int>(unfused::add(met.first, met.row_base));
  if (!(met.left > 0) || !(met.first <= met.last)) return 0;
  return static_cast<unsigned>(unfused::subtract(met.last, met.first)) + 1;
}

/// The events of runs: each is added to the cell of the run's first point and subtracted from the
/// cell after its last.
template <int Limbs>
struct Events {
  Whole number[kNumbers<Limbs> * kWarp];
  unsigned add[kWarp], take[kWarp];  // kNoCell: nowhere
};

/// Makes the event of item `index` of the warp.
template <int Outer, int Limbs>
KESTREL_HD KESTREL_INLINE void make_event(const ScanlineGrid& grid, const ScanlineTile& tile,
                                          unsigned index, const Meetings& all, unsigned lane,
                                          Events<Limbs>* to) {
  using namespace kestrel::unfused;
  constexpr int kRow = Outer, kRun = Outer + 1;
  unsigned own = 0;
  KESTREL_UNROLL
  for (unsigned step = kWarp / 2; step > 0; step /= 2) {
    if (all.before[own + step] <= index) own += step;
  }
  const kestrel_gpu_scanline_tile& at = tile.at;
  const int row = all.first[own] + static_cast<int>(index - all.before[own]);
  const double y = distance_of(row, shift_at(grid.axis[kRow].shift, row), all.row_base[own],
                               all.row_centre[own], grid.inverse[kRow]);
  const double left = subtract(grid.room, add(all.squares[own], multiply(y, y)));
  const double centre = add(all.run_centre[own], multiply(grid.slope[kRun][kRow], y));
  const double base = all.run_base[own], radius = grid.slope[kRun][kRun];
  const double begin = subtract(at.run_begin, base), end = subtract(at.run_end, base);
  const Run run = run_of(centre, half_length(radius, left), begin, end);
  double start = run.start, stop = run.stop;
  if (gap_of(run) < grid.run_shift) {
    kestrel::settle_ends(grid.axis[kRun].shift, base, begin, end, grid.run_shift, run.low, run.high,
                         &start, &stop);
  }
  to->add[lane] = to->take[lane] = kNoCell;
  if (!(start < stop)) return;
  const unsigned cell = tile.first_cell + static_cast<unsigned>(row - at.row_begin) *
                                              static_cast<unsigned>(at.row_length);
  to->add[lane] = cell + static_cast<unsigned>(subtract(start, begin));
  // Cells after the last point of a row are never read.
  if (stop < end) to->take[lane] = cell + static_cast<unsigned>(subtract(stop, begin));
  const double anchor =
      anchor_of(centre, subtract(at.anchor_first, base), subtract(at.anchor_last, base));
  const RunPolynomial of = run_polynomial(all.weight[own], multiply(multiply(radius, radius), left),
                                          subtract(centre, anchor));
  Whole* const number = to->number + lane * kNumbers<Limbs>;
  put_limbs<Limbs>(of, static_cast<unsigned>(add(anchor, base)), grid.limb_scale,
                   [&](int limb, Whole A, Whole Q, Whole P) {
                     number[3 * limb] = A;
                     number[3 * limb + 1] = Q;
                     number[3 * limb + 2] = P;
                   });
}

/// Neighbouring lanes add the numbers of one event, so that these are sent together.
template <int Limbs>
__device__ inline void put_events(const Events<Limbs>& events, unsigned lane, Whole* cells) {
  constexpr unsigned kOf = kNumbers<Limbs>, kTogether = kWarp / kOf;
  const unsigned number = lane % kOf, which = lane / kOf;
  if (which >= kTogether) return;
#pragma unroll
  for (unsigned first = 0; first < kWarp; first += kTogether) {
    const unsigned event = first + which;
    if (event >= kWarp) return;
    const Whole value = events.number[event * kOf + number];
    const unsigned add = events.add[event], take = events.take[event];
    if (add != kNoCell) {
      atomicAdd(cells + static_cast<std::size_t>(add) * kCell<Limbs> + number, value);
    }
    if (take != kNoCell) {
      atomicAdd(cells + static_cast<std::size_t>(take) * kCell<Limbs> + number, 0 - value);
    }
  }
}

/// Each warp takes 32 samples, then all of their rows in the tile, 32 at a time.
template <int Outer, int Limbs>
__global__ void __launch_bounds__(kEventWarps* kWarp) add_events(const EventTask task) {
  __shared__ Meetings all_meetings[kEventWarps];
  __shared__ Events<Limbs> all_events[kEventWarps];
  const unsigned lane = threadIdx.x % kWarp, of_block = threadIdx.x / kWarp;
  const unsigned warp = task.first_warp + blockIdx.x * kEventWarps + of_block;
  if (warp >= task.end_warp) return;
  Meetings& meetings = all_meetings[of_block];
  Events<Limbs>& events = all_events[of_block];
  const ScanlineWork work = task.batch.work[last_not_above(
      task.batch.works, warp, [&](unsigned i) { return task.batch.work[i].first_warp; })];
  const ScanlineTile& tile = task.batch.tile[work.tile];
  const unsigned sample = work.begin + (warp - work.first_warp) * kWarp + lane;
  const unsigned rows =
      sample < work.end ? meet<Outer>(task.grid, tile.at, sample, lane, &meetings) : 0;
  unsigned until = rows;
#pragma unroll
  for (unsigned step = 1; step < kWarp; step *= 2) {
    const unsigned other = __shfl_up_sync(kWholeWarp, until, step);
    if (lane >= step) until += other;
  }
  meetings.before[lane] = until - rows;
  const unsigned items = __shfl_sync(kWholeWarp, until, kWarp - 1);
  for (unsigned first = 0; first < items; first += kWarp) {
    __syncwarp();
    if (first + lane < items) {
      make_event<Outer, Limbs>(task.grid, tile, first + lane, meetings, lane, &events);
    } else {
      events.add[lane] = events.take[lane] = kNoCell;
    }
    __syncwarp();
    put_events<Limbs>(events, lane, task.batch.cells);
  }
}

}  // namespace kestrel_cuda

#endif
