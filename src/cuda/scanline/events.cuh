// The first kernel of scanline.cu: samples become events in the cells of tiles.
// Twin of simd/scanline/scanline.inc and simd/scanline/nest.inc: the same operations in the same
// order, none of them fused, so that the bits are those of the CPU. Integers add up the same in
// every order.
//
// A cell has A, Q and P of each limb. In third differences a point would be one number in place of
// three, but without the slope of the values between two points, which a shift of a point needs;
// and since the tiles in work fit the device's cache, cells that are larger cost no memory's time.
// An end of a run is three additions either way, which here are one 32-byte sector's.
#ifndef KESTREL_CUDA_SCANLINE_EVENTS_CUH
#define KESTREL_CUDA_SCANLINE_EVENTS_CUH

#include "cuda/scanline/task.cuh"

namespace kestrel_cuda {

/// Half the length of what lies within `room` on an axis; negative where nothing does.
__device__ inline double half_length(double slope, double room) {
  return room > 0 ? times(slope, __dsqrt_rn(room)) : -1.0;
}

struct ScanlineIndex {
  double base, part;
};

__device__ inline ScanlineIndex grid_index_of(const ScanlineAxis& axis, double x) {
  constexpr double kFarthest = 134217728.0;  // kScanlineFarthest
  const double from = minus(x, axis.origin), back = minus(from, x);
  const double lost = minus(minus(x, minus(from, back)), plus(axis.origin, back));
  const double index = times(from, axis.inverse_step);
  const double base = nearest(min(max(index, -kFarthest), kFarthest));
  const double rest =
      plus(minus(minus(from, times(base, axis.step_high)), times(base, axis.step_low)), lost);
  return {base, times(rest, axis.inverse_step)};
}

/// What 32 samples have of a tile: row `first` of it is the warp's item `before`.
struct Meetings {
  double squares[kWarp], row_base[kWarp], row_centre[kWarp], run_base[kWarp], run_centre[kWarp],
      weight[kWarp];
  int first[kWarp];
  unsigned before[kWarp];
};

/// Forward substitution at the outer indices; the number of rows that the sample has.
template <int Outer>
__device__ inline unsigned meet(const ScanlineTask& task, const kestrel_gpu_scanline_tile& tile,
                                unsigned sample, unsigned lane, Meetings* to) {
  constexpr int kRow = Outer, kRun = Outer + 1;
  double y[Outer + 1], squares = 0.0;
#pragma unroll
  for (int i = 0; i < Outer; ++i) {
    const ScanlineIndex at = grid_index_of(task.axis[i], task.axis[i].x[sample]);
    double centre = at.part;
#pragma unroll
    for (int o = 0; o < i; ++o) centre = plus(centre, times(task.slope[i][o], y[o]));
    const double index = plus(minus(tile.outer[i], at.base), tile.outer_shift[i]);
    y[i] = times(minus(index, centre), task.inverse[i]);
    squares = plus(squares, times(y[i], y[i]));
  }
  ScanlineIndex row{0.0, 0.0};
  if (task.axis[kRow].x != nullptr) row = grid_index_of(task.axis[kRow], task.axis[kRow].x[sample]);
  const ScanlineIndex run = grid_index_of(task.axis[kRun], task.axis[kRun].x[sample]);
  double row_centre = row.part, run_centre = run.part;
#pragma unroll
  for (int o = 0; o < Outer; ++o) {
    row_centre = plus(row_centre, times(task.slope[kRow][o], y[o]));
    run_centre = plus(run_centre, times(task.slope[kRun][o], y[o]));
  }
  const double left = minus(task.room, squares);
  const double reach = plus(half_length(task.slope[kRow][kRow], left), task.row_shift);
  const double begin = minus(tile.row_begin, row.base), end = minus(tile.row_end, row.base);
  const double first = highest(min(max(minus(row_centre, reach), begin), end));
  const double last = lowest(min(max(plus(row_centre, reach), minus(begin, 1.0)), minus(end, 1.0)));
  to->squares[lane] = squares;
  to->row_base[lane] = row.base;
  to->row_centre[lane] = row_centre;
  to->run_base[lane] = run.base;
  to->run_centre[lane] = run_centre;
  to->weight[lane] = task.weight == nullptr ? task.common : task.weight[sample];
  to->first[lane] = static_cast<int>(plus(first, row.base));
  if (!(left > 0) || !(first <= last)) return 0;
  return static_cast<unsigned>(minus(last, first)) + 1;
}

/// An end of a run so near to a point's index that its shift decides whether it belongs to it.
__device__ inline void settle_ends(const ScanlineTask& task, const kestrel_gpu_scanline_tile& tile,
                                   const double* shift, double base, double low, double high,
                                   double* start, double* stop) {
  const double begin = minus(tile.run_begin, base), end = minus(tile.run_end, base);
  const double first = nearest(low), last = nearest(high), near = task.run_shift;
  const auto shift_of = [&](double t) { return shift_at(shift, static_cast<int>(plus(t, base))); };
  if (fabs(minus(low, first)) <= near && first >= begin && first < end) {
    *start = shift_of(first) >= minus(low, first) ? first : plus(first, 1.0);
  }
  if (fabs(minus(high, last)) <= near && last >= begin && last < end) {
    *stop = shift_of(last) <= minus(high, last) ? plus(last, 1.0) : last;
  }
  if (*stop < *start) *stop = *start;
}

/// The events of a run: added to the cell of its first point, taken from that behind its last.
template <int Limbs>
struct Events {
  Whole number[kNumbers<Limbs> * kWarp];
  unsigned add[kWarp], take[kWarp];  // kNoCell: nowhere
};

/// Item `index` of the warp.
template <int Outer, int Limbs>
__device__ inline void make_event(const ScanlineTask& task, const ScanlineTile& tile,
                                  unsigned index, const Meetings& all, unsigned lane,
                                  Events<Limbs>* to) {
  constexpr int kRow = Outer, kRun = Outer + 1;
  unsigned own = 0;
#pragma unroll
  for (unsigned step = kWarp / 2; step > 0; step /= 2) {
    if (all.before[own + step] <= index) own += step;
  }
  const kestrel_gpu_scanline_tile& at = tile.at;
  const int row = all.first[own] + static_cast<int>(index - all.before[own]);
  const double from_base =
      plus(minus(row, all.row_base[own]), shift_at(task.axis[kRow].shift, row));
  const double y = times(minus(from_base, all.row_centre[own]), task.inverse[kRow]);
  const double left = minus(task.room, plus(all.squares[own], times(y, y)));
  const double centre = plus(all.run_centre[own], times(task.slope[kRun][kRow], y));
  const double base = all.run_base[own], radius = task.slope[kRun][kRun];
  const double reach = half_length(radius, left);
  const double begin = minus(at.run_begin, base), end = minus(at.run_end, base);
  const double low = minus(centre, reach), high = plus(centre, reach);
  double start = highest(min(max(low, begin), end));
  const double last = lowest(min(max(high, minus(begin, 1.0)), minus(end, 1.0)));
  double stop = max(plus(last, 1.0), start);
  const double gap = min(fabs(minus(low, nearest(low))), fabs(minus(high, nearest(high))));
  if (gap < task.run_shift) {
    settle_ends(task, at, task.axis[kRun].shift, base, low, high, &start, &stop);
  }
  to->add[lane] = to->take[lane] = kNoCell;
  if (!(start < stop)) return;
  const unsigned cell = tile.first_cell + static_cast<unsigned>(row - at.row_begin) *
                                              static_cast<unsigned>(at.row_length);
  to->add[lane] = cell + static_cast<unsigned>(minus(start, begin));
  // Nobody reads behind the last point of a row.
  if (stop < end) to->take[lane] = cell + static_cast<unsigned>(minus(stop, begin));
  const double anchor =
      min(max(nearest(centre), minus(at.anchor_first, base)), minus(at.anchor_last, base));
  const double d = minus(centre, anchor), room = times(times(radius, radius), left);
  const Whole k = static_cast<unsigned>(plus(anchor, base));
  double a = all.weight[own], b = times(plus(a, a), d), c = times(a, minus(room, times(d, d)));
#pragma unroll
  for (int limb = 0; limb < Limbs; ++limb) {
    const Split A = split(a), B = split(b), C = split(c);
    const Whole kA = A.bits * k, half = B.bits + kA;
    Whole* number = to->number + lane * kNumbers<Limbs> + 3 * limb;
    number[0] = A.bits;
    number[1] = half + kA;
    number[2] = C.bits - half * k;
    a = times(minus(a, A.whole), task.limb_scale);
    b = times(minus(b, B.whole), task.limb_scale);
    c = times(minus(c, C.whole), task.limb_scale);
  }
}

/// The numbers of an event by neighbouring lanes, so that they leave together.
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
__global__ void __launch_bounds__(kEventWarps* kWarp) add_events(const ScanlineTask task) {
  __shared__ Meetings all_meetings[kEventWarps];
  __shared__ Events<Limbs> all_events[kEventWarps];
  const unsigned lane = threadIdx.x % kWarp, of_block = threadIdx.x / kWarp;
  const unsigned warp = task.first_warp + blockIdx.x * kEventWarps + of_block;
  if (warp >= task.end_warp) return;
  Meetings& meetings = all_meetings[of_block];
  Events<Limbs>& events = all_events[of_block];
  const ScanlineWork work = task.work[last_not_above(
      task.works, warp, [&](unsigned i) { return task.work[i].first_warp; })];
  const ScanlineTile& tile = task.tile[work.tile];
  const unsigned sample = work.begin + (warp - work.first_warp) * kWarp + lane;
  const unsigned rows = sample < work.end ? meet<Outer>(task, tile.at, sample, lane, &meetings) : 0;
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
      make_event<Outer, Limbs>(task, tile, first + lane, meetings, lane, &events);
    } else {
      events.add[lane] = events.take[lane] = kNoCell;
    }
    __syncwarp();
    put_events<Limbs>(events, lane, task.cells);
  }
}

}  // namespace kestrel_cuda

#endif
