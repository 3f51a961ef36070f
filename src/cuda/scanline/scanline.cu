// Sums of radial Epanechnikov kernels on a regular grid: the `scanline` engine on the device.
// core/scanline/README.md says how it works; the host has sorted the samples and cut the tiles.
//
// Tiles are taken in batches whose cells fit in the device's cache together: first the events of
// all their samples are added, by atomic additions of integers, then the values of all their points
// are written. A batch has too few rows for all multiprocessors, so several run at a time.
#include <algorithm>
#include <vector>

#include "cuda/base/device.cuh"
#include "cuda/base/streams.cuh"
#include "cuda/scanline/events.cuh"
#include "cuda/scanline/scanline.cuh"
#include "cuda/scanline/values.cuh"

namespace kestrel_cuda {

namespace {

/// Batches that run at a time, each with cells of its own. On an H100, 1e6 samples on 195 million
/// points take 36, 33, 32 and 31 ms with 2, 4, 8 and 12.
constexpr std::size_t kLanes = 12;
/// The maximum number of batches that wait to run; the poll is called once in as many.
constexpr std::size_t kAhead = 16;
/// The maximum number of warps of samples in one launch, and about that in a batch of several
/// tiles.
constexpr unsigned kLaunchWarps = 1u << 17, kBatchWarps = 1u << 24;

using EventKernel = void (*)(ScanlineTask);
using ValueKernel = void (*)(ScanlineScan);

template <int Limbs>
EventKernel event_kernel(int outer) {
  switch (outer) {
    case 0: return add_events<0, Limbs>;
    case 1: return add_events<1, Limbs>;
    case 2: return add_events<2, Limbs>;
    case 3: return add_events<3, Limbs>;
    default: return add_events<4, Limbs>;
  }
}

template <int Limbs>
ValueKernel value_kernel(bool along) {
  return along ? write_values<Limbs, true> : write_values<Limbs, false>;
}

/// What depends on the number of limbs.
struct Kernels {
  EventKernel events;
  ValueKernel values;
  std::size_t cell;  // integers of one
};

template <int Limbs>
Kernels kernels_of(const kestrel_gpu_scanline& runs) {
  return {event_kernel<Limbs>(runs.axes - 2), value_kernel<Limbs>(runs.run_stride == 1),
          static_cast<std::size_t>(kCell<Limbs>)};
}

Kernels choose_kernels(const kestrel_gpu_scanline& runs) {
  switch (runs.limbs) {
    case 1: return kernels_of<1>(runs);
    case 2: return kernels_of<2>(runs);
    default: return kernels_of<4>(runs);
  }
}

struct Batch {
  std::size_t first_tile, tiles, first_work, works;
  std::size_t cells;
  unsigned warps, groups;
};

/// The batches of a slab.
struct Batches {
  std::vector<ScanlineTile> tile;
  std::vector<ScanlineWork> work;
  std::vector<Batch> batch;
  std::vector<std::size_t> first;  // the first batch of each part, and the number of batches
  std::size_t cells = 0;           // of the largest batch

  /// Keeps the memory: a slab may have millions of ranges.
  void clear() {
    tile.clear();
    work.clear();
    batch.clear();
    first.clear();
    cells = 0;
  }
};

/// Puts tile t of the slab into the last batch.
void add_tile(const kestrel_gpu_scanline_slab& slab, std::size_t t, Batches* to) {
  const kestrel_gpu_scanline_tile& at = slab.tile[t];
  Batch& batch = to->batch.back();
  const std::size_t rows = static_cast<std::size_t>(at.row_end - at.row_begin);
  to->tile.push_back({at, static_cast<unsigned>(batch.cells), batch.groups});
  const std::size_t last = t + 1 < slab.tiles ? slab.tile[t + 1].first_range : slab.ranges;
  for (std::size_t r = at.first_range; r < last; ++r) {
    const std::size_t begin = slab.range[r].begin, end = slab.range[r].end;
    to->work.push_back({static_cast<unsigned>(begin), static_cast<unsigned>(end),
                        static_cast<unsigned>(batch.tiles), batch.warps});
    batch.warps += pieces(end - begin, kWarp);
    ++batch.works;
  }
  batch.cells += rows * at.row_length;
  batch.groups += pieces(rows, kScanWarps);
  ++batch.tiles;
  to->cells = std::max(to->cells, batch.cells);
}

void make_batches(const kestrel_gpu_scanline_slab& slab, std::size_t cell_bytes, Batches* to) {
  Batches& all = *to;
  all.clear();
  all.tile.reserve(slab.tiles);
  all.work.reserve(slab.ranges);
  for (std::size_t p = 0; p < slab.parts; ++p) {
    const std::size_t end = p + 1 < slab.parts ? slab.part[p + 1].first_tile : slab.tiles;
    all.first.push_back(all.batch.size());
    for (std::size_t t = slab.part[p].first_tile; t < end; ++t) {
      const kestrel_gpu_scanline_tile& at = slab.tile[t];
      const std::size_t cells = static_cast<std::size_t>(at.row_end - at.row_begin) * at.row_length;
      const bool begins = t == slab.part[p].first_tile;
      if (begins || (all.batch.back().cells + cells) * cell_bytes > kestrel::kScanlineBatchBytes ||
          all.batch.back().warps > kBatchWarps) {
        all.batch.push_back({t, 0, all.work.size(), 0, 0, 0, 0});
      }
      add_tile(slab, t, to);
    }
  }
  all.first.push_back(all.batch.size());
}

template <class T>
const T* send(const std::vector<T>& from, Buffer<T>* to) {
  T* const data = to->reserve(std::max<std::size_t>(1, from.size()));
  check(cudaMemcpy(data, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice),
        "copying tiles");
  return data;
}

class DeviceScanline : public Scanline {
 public:
  DeviceScanline(const kestrel_gpu_scanline& runs, const DeviceScanline* from, int from_device)
      : kernels_(choose_kernels(runs)) {
    task_ = {};
    const auto copied = [&](const double* given, std::size_t count, const Buffer<double>* other,
                            Buffer<double>* to) -> const double* {
      if (given == nullptr) return nullptr;
      if (from != nullptr) return copy_from(from_device, *other, count, to);
      upload(given, count, to->reserve(std::max<std::size_t>(1, count)));
      return to->data();
    };
    for (int i = 0; i < runs.axes; ++i) {
      for (int j = 0; j <= i; ++j) task_.slope[i][j] = runs.slope[i][j];
      task_.inverse[i] = runs.inverse[i];
      const kestrel_gpu_scanline_axis& axis = runs.axis[i];
      task_.axis[i] = {
          {axis.origin, axis.inverse_step, axis.step_high, axis.step_low},
          copied(axis.x, runs.n, from != nullptr ? &from->x_[i] : nullptr, &x_[i]),
          copied(axis.shift, axis.count, from != nullptr ? &from->shift_[i] : nullptr, &shift_[i])};
    }
    task_.weight =
        copied(runs.weight, runs.n, from != nullptr ? &from->weight_ : nullptr, &weight_);
    finish_sending();
    task_.common = runs.common;
    task_.room = runs.room;
    task_.limb_scale = runs.limb_scale;
    task_.row_shift = runs.row_shift;
    task_.run_shift = runs.run_shift;
    scan_ = {};
    scan_.run_shift = task_.axis[runs.axes - 1].shift;
    scan_.limb = runs.limb;
    scan_.factor = runs.factor;
    scan_.power = runs.power;
    scan_.row_stride = runs.row_stride;
    scan_.run_stride = runs.run_stride;
  }

  bool slab(const kestrel_gpu_scanline_slab& slab, double largest[2], const Take& take,
            const Poll& poll) override {
    // Work that a slab that was stopped has left.
    check(cudaDeviceSynchronize(), "finishing what went before");
    prepare(slab);
    Drain<Take> drain(copies_, locked_, take);
    std::size_t first_point = 0, pieces_of[2] = {0, 0};
    for (std::size_t p = 0; p < slab.parts; ++p) {
      const std::size_t own = p % 2;
      if (!drain.finish(pieces_of[own])) return false;
      for (std::size_t b = batches_.first[p]; b < batches_.first[p + 1]; ++b) {
        launch(b, values_[own].data());
        if (!drain.step(false)) return false;
        const double all = static_cast<double>(batches_.batch.size());
        if (b % kAhead == 0 && !poll(static_cast<double>(b) / all)) return false;
      }
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        summed_[own][lane].record(lane_[lane].get());
      if (take) {
        drain.push(values_[own].data(), first_point, slab.part[p].points, summed_[own], kLanes);
      }
      pieces_of[own] = drain.pushed();
      first_point += slab.part[p].points;
    }
    if (!drain.finish(drain.pushed())) return false;
    check(cudaDeviceSynchronize(), "summing runs");
    check(cudaMemcpy(largest, largest_.data(), 2 * sizeof(double), cudaMemcpyDeviceToHost),
          "copying bounds back");
    return true;
  }

 private:
  /// Copies tiles and ranges of samples to the device, clears the cells, makes room for values.
  void prepare(const kestrel_gpu_scanline_slab& slab) {
    make_batches(slab, kernels_.cell * sizeof(Whole), &batches_);
    task_.tile = scan_.tile = send(batches_.tile, &tiles_);
    task_.work = send(batches_.work, &work_);
    const std::size_t numbers = kLanes * batches_.cells * kernels_.cell;
    Whole* const cells = cells_.reserve(std::max<std::size_t>(1, numbers));
    check(cudaMemset(cells, 0, numbers * sizeof(Whole)), "clearing cells");
    std::size_t points = 1;
    for (std::size_t p = 0; p < slab.parts; ++p) points = std::max(points, slab.part[p].points);
    for (std::size_t p = 0; p < std::min<std::size_t>(2, slab.parts); ++p)
      values_[p].reserve(points);
    scan_.largest = largest_.reserve(2);
    check(cudaMemset(scan_.largest, 0, 2 * sizeof(Whole)), "clearing bounds");
    // The streams do not wait by themselves for what was done here.
    check(cudaDeviceSynchronize(), "making a slab ready");
  }

  void launch(std::size_t b, double* values) {
    const Batch& batch = batches_.batch[b];
    const cudaStream_t stream = lane_[b % kLanes].get();
    if (b >= kAhead) done_[b % kAhead].wait();
    ScanlineTask task = task_;
    task.tile += batch.first_tile;
    task.work += batch.first_work;
    task.works = static_cast<unsigned>(batch.works);
    task.cells = cells_.data() + b % kLanes * batches_.cells * kernels_.cell;
    for (unsigned first = 0; first < batch.warps; first += kLaunchWarps) {
      task.first_warp = first;
      task.end_warp = std::min(batch.warps, first + kLaunchWarps);
      kernels_
          .events<<<pieces(task.end_warp - first, kEventWarps), kEventWarps * kWarp, 0, stream>>>(
              task);
      check(cudaGetLastError(), "starting to add samples");
    }
    ScanlineScan scan = scan_;
    scan.tile += batch.first_tile;
    scan.tiles = static_cast<unsigned>(batch.tiles);
    scan.cells = task.cells;
    scan.out = values;
    kernels_.values<<<batch.groups, kScanWarps * kWarp, 0, stream>>>(scan);
    check(cudaGetLastError(), "starting to sum rows");
    done_[b % kAhead].record(stream);
  }

  const Kernels kernels_;
  ScanlineTask task_;
  ScanlineScan scan_;
  Batches batches_;
  Buffer<double> x_[KESTREL_GPU_SCANLINE_AXES], shift_[KESTREL_GPU_SCANLINE_AXES], weight_;
  Buffer<ScanlineTile> tiles_;
  Buffer<ScanlineWork> work_;
  Buffer<Whole> cells_, largest_;
  Buffer<double> values_[2];
  Locked locked_[2] = {Locked(Drain<Take>::kPiece), Locked(Drain<Take>::kPiece)};
  Event done_[kAhead], summed_[2][kLanes];
  // Last, so that their work is finished before anything above is freed.
  Stream lane_[kLanes], copies_;
};

}  // namespace

std::unique_ptr<Scanline> make_scanline(const kestrel_gpu_scanline& runs, const Scanline* from,
                                        int from_device) {
  if (runs.axes < 2 || runs.axes > KESTREL_GPU_SCANLINE_AXES) {
    refuse("a grid of %d axes", runs.axes);
  }
  if (runs.n > kestrel::kScanlineDeviceSamples) refuse("%zu samples", runs.n);
  return std::unique_ptr<Scanline>(
      new DeviceScanline(runs, static_cast<const DeviceScanline*>(from), from_device));
}

}  // namespace kestrel_cuda
