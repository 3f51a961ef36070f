// Sums of compact kernels on a regular grid: the `scanline` engine on the device.
// core/scanline/README.md says how it works; the host has sorted the samples and cut the tiles.
//
// Tiles are taken in batches whose cells fit in the device's cache together: first all their
// samples are added, as events (events.cuh) or at every point that they reach (rows.cuh), by atomic
// additions of integers, then the values of all their points are written. A batch of events has too
// few rows for all multiprocessors, so several run at a time.
#include <algorithm>
#include <cmath>
#include <vector>

#include "cuda/base/device.cuh"
#include "cuda/base/pair.cuh"
#include "cuda/base/streams.cuh"
#include "cuda/scanline/batches.cuh"
#include "cuda/scanline/events.cuh"
#include "cuda/scanline/rows.cuh"
#include "cuda/scanline/scanline.cuh"
#include "cuda/scanline/values.cuh"

namespace kestrel_cuda {

namespace {

/// Batches that run at a time, each with cells of its own. On an H100, 1e6 samples on 195 million
/// points take 36, 33, 32 and 31 ms with 2, 4, 8 and 12.
constexpr std::size_t kLanes = 12;
/// The maximum number of batches that wait to run, and by events of their warps of samples, some 20
/// ms of work: the device goes on while the host takes values. The poll is called once in kPolled.
constexpr std::size_t kAhead = 256, kRowsAhead = 16, kWarpsAhead = std::size_t{1} << 23,
                      kPolled = 16;
/// The maximum number of warps of samples in one launch of events, and of blocks in one of rows.
constexpr unsigned kLaunchWarps = 1u << 17, kLaunchBlocks = 1u << 15;

using EventKernel = void (*)(EventTask);
using RowKernel = void (*)(RowTask);
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

template <int Limbs, kestrel::Kernel K>
RowKernel row_kernel(bool box) {
  if constexpr (kestrel::is_indicator(K)) {
    if (box) return add_rows<K, true, Limbs>;
  }
  // Only counts of points within a support need no second limb.
  if constexpr (kestrel::is_compact(K) && (Limbs == 2 || kestrel::is_indicator(K))) {
    return add_rows<K, false, Limbs>;
  }
  return nullptr;
}

template <int Limbs>
RowKernel row_kernel(int leaf) {
  switch (leaf) {
#define KESTREL_KERNEL(name, form, inner, outer)                                   \
  case KESTREL_GPU_##name: return row_kernel<Limbs, kestrel::Kernel::name>(false); \
  case KESTREL_GPU_product_##name:                                                 \
    return row_kernel<Limbs, kestrel::Kernel::name>(true);
#include "shared/kernels.def"
  }
  return nullptr;
}

template <class Cells>
ValueKernel value_kernel(bool along) {
  return along ? write_values<Cells, true> : write_values<Cells, false>;
}

/// The kernels for a request, one of the first two, and the integers of a cell.
struct Kernels {
  EventKernel events;
  RowKernel rows;
  ValueKernel values;
  std::size_t cell;
};

template <int Limbs>
Kernels kernels_of(const kestrel_gpu_scanline& runs) {
  const bool along = runs.run_stride == 1;
  if (runs.events) {
    return {event_kernel<Limbs>(runs.axes - 2), nullptr, value_kernel<EventCells<Limbs>>(along),
            EventCells<Limbs>::kCellNumbers};
  }
  if constexpr (Limbs <= 2) {
    return {nullptr, row_kernel<Limbs>(runs.leaf), value_kernel<RowCells<Limbs>>(along),
            RowCells<Limbs>::kCellNumbers};
  }
  return {};
}

Kernels choose_kernels(const kestrel_gpu_scanline& runs) {
  switch (runs.limbs) {
    case 1: return kernels_of<1>(runs);
    case 2: return kernels_of<2>(runs);
    default: return kernels_of<4>(runs);
  }
}

/// The kernel and the nest of a leaf.
void describe_leaf(int leaf, ScanlineGrid* grid) {
  using kestrel::Kernel;
  using kestrel::ScanlineNest;
  switch (leaf) {
#define KESTREL_KERNEL(name, form, inner, outer)                                                  \
  case KESTREL_GPU_##name:                                                                        \
    grid->kernel = Kernel::name;                                                                  \
    grid->nest = ScanlineNest::ellipsoid;                                                         \
    break;                                                                                        \
  case KESTREL_GPU_product_##name:                                                                \
    grid->kernel = Kernel::name;                                                                  \
    grid->nest = kestrel::is_indicator(Kernel::name) ? ScanlineNest::box : ScanlineNest::product; \
    break;
#include "shared/kernels.def"
  }
}

template <class T>
void send(const std::vector<T>& from, Buffer<T>* to) {
  T* const data = to->reserve(std::max<std::size_t>(1, from.size()));
  check(cudaMemcpy(data, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice),
        "copying tiles");
}

/// Points of all parts of a slab, and of the largest one.
struct PointCounts {
  std::size_t all = 0, largest = 1;
};

PointCounts count_points(const kestrel_gpu_scanline_slab& slab) {
  PointCounts points;
  for (std::size_t p = 0; p < slab.parts; ++p) {
    points.all += slab.part[p].points;
    points.largest = std::max(points.largest, slab.part[p].points);
  }
  return points;
}

class DeviceScanline : public Scanline {
 public:
  DeviceScanline(const kestrel_gpu_scanline& runs, const DeviceScanline* from, int from_device)
      : kernels_(choose_kernels(runs)) {
    const auto copied = [&](const double* given, std::size_t count, const Buffer<double>* other,
                            Buffer<double>* to) -> const double* {
      if (given == nullptr) return nullptr;
      if (from != nullptr) return copy_from(from_device, *other, count, to);
      upload(given, count, to->reserve(std::max<std::size_t>(1, count)));
      return to->data();
    };
    describe_leaf(runs.leaf, &grid_);
    grid_.axes = runs.axes;
    for (int i = 0; i < runs.axes; ++i) {
      for (int j = 0; j <= i; ++j) grid_.slope[i][j] = runs.slope[i][j];
      grid_.inverse[i] = runs.inverse[i];
      const kestrel_gpu_scanline_axis& axis = runs.axis[i];
      grid_.axis[i] = {
          {axis.origin, axis.inverse_step, axis.step_high, axis.step_low},
          copied(axis.x, runs.n, from != nullptr ? &from->x_[i] : nullptr, &x_[i]),
          copied(axis.shift, axis.count, from != nullptr ? &from->shift_[i] : nullptr, &shift_[i])};
      copied(axis.point, axis.count, from != nullptr ? &from->point_[i] : nullptr, &point_[i]);
    }
    grid_.weight =
        copied(runs.weight, runs.n, from != nullptr ? &from->weight_ : nullptr, &weight_);
    finish_sending();
    grid_.common = runs.common;
    grid_.room = runs.room;
    grid_.limb_scale = runs.limb_scale;
    grid_.row_shift = runs.row_shift;
    grid_.run_shift = runs.run_shift;
    if (kernels_.rows != nullptr) prepare_rows(runs);
    const DeviceAxis& run = grid_.axis[runs.axes - 1];
    scan_ = {run.shift,       runs.limb,       runs.factor, runs.power, runs.row_stride,
             runs.run_stride, ScanlineBatch{}, nullptr,     nullptr};
  }

  bool slab(const kestrel_gpu_scanline_slab& slab, double largest[2], const Take& take,
            const Pair& pair, const Poll& poll) override {
    // Work that a slab that was stopped has left.
    check(cudaDeviceSynchronize(), "finishing what went before");
    prepare(slab);
    finished_ = warps_ahead_ = 0;
    const auto [all, largest_part] = count_points(slab);
    const std::size_t held = kestrel::scanline_held_parts(slab.parts, largest_part);
    Drain<Take> drain(copies_, take, largest_part, take ? all : 0);
    const auto launch = [&] {
      Ending ending(drain);
      return ending.whole = launch_parts(slab, held, static_cast<bool>(take), poll, drain);
    };
    // One thread that did both would be busy all the time, and the copies would wait for it.
    const auto follow = [&] { return drain.follow(); };
    if (!run_both(take ? pair : Pair(), launch, follow)) return false;
    check(cudaDeviceSynchronize(), "summing runs");
    check(cudaMemcpy(largest, largest_.data(), 2 * sizeof(double), cudaMemcpyDeviceToHost),
          "copying bounds back");
    return true;
  }

 private:
  /// Ends a drain when nothing more is pushed, whatever the reason.
  struct Ending {
    explicit Ending(Drain<Take>& of) : drain(of) {}
    ~Ending() { drain.end(whole); }
    Drain<Take>& drain;
    bool whole = false;
  };

  /// Starts all batches, and pushes the values of each part if they go `back`. The last parts of
  /// these, `held` at most, are still to be taken when it returns.
  bool launch_parts(const kestrel_gpu_scanline_slab& slab, std::size_t held, bool back,
                    const Poll& poll, Drain<Take>& drain) {
    std::size_t first_point = 0, pieces_of[kestrel::kScanlineHeldParts] = {};
    for (std::size_t p = 0; p < slab.parts; ++p) {
      const std::size_t own = p % held;
      if (!drain.finish(pieces_of[own])) return false;
      for (std::size_t b = batches_.first[p]; b < batches_.first[p + 1]; ++b) {
        const double before = static_cast<double>(b) / static_cast<double>(batches_.batch.size());
        const auto ask = [&] { return poll(before); };
        if (!launch(b, values_[own].data(), ask) || !drain.step()) return false;
        if (b % kPolled == 0 && !ask()) return false;
      }
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        summed_[own][lane].record(lane_[lane].get());
      if (back) {
        drain.push(values_[own].data(), first_point, slab.part[p].points, summed_[own], kLanes);
      }
      pieces_of[own] = drain.pushed();
      first_point += slab.part[p].points;
    }
    return true;
  }

  /// Sends what the kernels for rows take.
  void prepare_rows(const kestrel_gpu_scanline& runs) {
    RowGrid grid{grid_, {}, {}};
    kestrel::ScanlineData& data = grid.data;
    data.d = static_cast<std::size_t>(runs.d);
    for (int k = 0; k < runs.d; ++k) {
      data.axis_of[k] = runs.axis_of[k];
      data.sample[k] = grid_.axis[runs.axis_of[k]].x;
      data.point[k] = point_[runs.axis_of[k]].data();
      for (int l = 0; l <= k; ++l) data.root[k][l] = runs.root[k][l];
    }
    for (int i = 0; i < runs.axes; ++i) {
      double squares = 0;
      for (int j = 0; j <= i; ++j) squares += runs.slope[i][j] * runs.slope[i][j];
      grid.reach[i] = std::sqrt(squares) * (1 + 1e-9) + 1;
    }
    check(cudaMemcpy(row_grid_.reserve(1), &grid, sizeof grid, cudaMemcpyHostToDevice),
          "copying a grid");
    const int on = runs.axes - 2, run = on + 1;
    rows_.grid = row_grid_.data();
    rows_.row_inverse = runs.inverse[on];
    rows_.run_inverse = runs.inverse[run];
    rows_.slope = runs.slope[run][on];
    rows_.room = runs.room;
    rows_.limb_scale = runs.limb_scale;
    rows_.inverse_reach = 1 / std::hypot(runs.slope[run][on], runs.slope[run][run]);
    rows_.nest = grid_.nest;
  }

  /// Copies tiles and ranges of samples to the device, clears the cells, makes room for values.
  void prepare(const kestrel_gpu_scanline_slab& slab) {
    make_batches(slab, kernels_.cell * sizeof(Whole), &batches_);
    send(batches_.tile, &tiles_);
    send(batches_.work, &work_);
    const std::size_t numbers = kLanes * batches_.cells * kernels_.cell;
    Whole* const cells = cells_.reserve(std::max<std::size_t>(1, numbers));
    check(cudaMemset(cells, 0, numbers * sizeof(Whole)), "clearing cells");
    const std::size_t points = count_points(slab).largest;
    for (std::size_t p = 0; p < kestrel::scanline_held_parts(slab.parts, points); ++p)
      values_[p].reserve(points);
    scan_.largest = largest_.reserve(2);
    check(cudaMemset(scan_.largest, 0, 2 * sizeof(Whole)), "clearing bounds");
    // The streams do not wait by themselves for what was done here.
    check(cudaDeviceSynchronize(), "making a slab ready");
  }

  /// Waits until few enough of the batches before this one are left.
  void hold_back(std::size_t b) {
    const std::size_t most = kernels_.events != nullptr ? kAhead : kRowsAhead;
    for (; finished_ < b && (b - finished_ >= most || warps_ahead_ > kWarpsAhead); ++finished_) {
      done_[finished_ % kAhead].wait();
      warps_ahead_ -= batches_.batch[finished_].warps;
    }
    warps_ahead_ += batches_.batch[b].warps;
  }

  /// Starts to add the samples of a batch and to write its values. Returns false if `ask` stops it.
  template <class Ask>
  bool launch(std::size_t b, double* values, const Ask& ask) {
    const Batch& batch = batches_.batch[b];
    const cudaStream_t stream = lane_[b % kLanes].get();
    hold_back(b);
    ScanlineScan scan = scan_;
    scan.batch = {tiles_.data() + batch.first_tile, static_cast<unsigned>(batch.tiles),
                  work_.data() + batch.first_work, static_cast<unsigned>(batch.works),
                  cells_.data() + b % kLanes * batches_.cells * kernels_.cell};
    scan.out = values;
    if (kernels_.events != nullptr) {
      launch_events(batch, scan.batch, stream);
    } else if (!launch_rows(batch, scan.batch, stream, ask)) {
      return false;
    }
    kernels_.values<<<batch.groups, kScanWarps * kWarp, 0, stream>>>(scan);
    check(cudaGetLastError(), "starting to sum rows");
    done_[b % kAhead].record(stream);
    return true;
  }

  void launch_events(const Batch& batch, const ScanlineBatch& on_device, cudaStream_t stream) {
    EventTask task{grid_, on_device, 0, 0};
    for (unsigned first = 0; first < batch.warps; first += kLaunchWarps) {
      task.first_warp = first;
      task.end_warp = std::min(batch.warps, first + kLaunchWarps);
      kernels_
          .events<<<pieces(task.end_warp - first, kEventWarps), kEventWarps * kWarp, 0, stream>>>(
              task);
      check(cudaGetLastError(), "starting to add samples");
    }
  }

  /// A batch may take seconds, so the poll is called between launches, while one is still waiting.
  template <class Ask>
  bool launch_rows(const Batch& batch, const ScanlineBatch& on_device, cudaStream_t stream,
                   const Ask& ask) {
    RowTask task = rows_;
    task.shape = batches_.shape;
    task.batch = on_device;
    for (unsigned first = 0; first < batch.blocks; first += kLaunchBlocks) {
      if (first >= 2 * kLaunchBlocks) {
        launched_[first / kLaunchBlocks % 2].wait();
        if (!ask()) return false;
      }
      task.first_block = first;
      const unsigned blocks = std::min(batch.blocks - first, kLaunchBlocks);
      kernels_.rows<<<blocks, task.shape.warps() * kWarp, 0, stream>>>(task);
      check(cudaGetLastError(), "starting to add samples");
      launched_[first / kLaunchBlocks % 2].record(stream);
    }
    return true;
  }

  const Kernels kernels_;
  ScanlineGrid grid_{};
  RowTask rows_{};
  ScanlineScan scan_;
  Batches batches_;
  Buffer<double> x_[KESTREL_GPU_SCANLINE_AXES], shift_[KESTREL_GPU_SCANLINE_AXES],
      point_[KESTREL_GPU_SCANLINE_AXES], weight_;
  Buffer<RowGrid> row_grid_;
  Buffer<ScanlineTile> tiles_;
  Buffer<ScanlineWork> work_;
  Buffer<Whole> cells_, largest_;
  Buffer<double> values_[kestrel::kScanlineHeldParts];
  std::size_t finished_ = 0, warps_ahead_ = 0;  // batches that are done, and warps of the others
  Event done_[kAhead], launched_[2], summed_[kestrel::kScanlineHeldParts][kLanes];
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
  const Kernels kernels = choose_kernels(runs);
  if (kernels.events == nullptr && kernels.rows == nullptr) {
    refuse("%d limbs of kernel %d", runs.limbs, runs.leaf);
  }
  return std::unique_ptr<Scanline>(
      new DeviceScanline(runs, static_cast<const DeviceScanline*>(from), from_device));
}

}  // namespace kestrel_cuda
