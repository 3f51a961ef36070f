// Runs on the fake device: one sample, row and point after the other, by the arithmetic of
// shared/scanline.inc.
#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "fake-cuda.hpp"
#include "shared/unfused.hpp"

using namespace kestrel::unfused;
using kestrel::Kernel;
using kestrel::KernelOf;
using kestrel::ScanlineNest;

namespace {

constexpr std::size_t kAxes = KESTREL_GPU_SCANLINE_AXES;

/// A grid and its samples.
struct Runs {
  Runs(int number, const kestrel_gpu_scanline& given) : device(number), grid(given) {
    for (int i = 0; i < grid.axes; ++i) {
      kestrel_gpu_scanline_axis& axis = grid.axis[i];
      axis.x = copied(axis.x, grid.n, x[i]);
      axis.shift = copied(axis.shift, axis.count, shift[i]);
      axis.point = copied(axis.point, axis.count, point[i]);
    }
    grid.weight = copied(grid.weight, grid.n, weight);
  }

  static const double* copied(const double* from, std::size_t count, std::vector<double>& to) {
    if (from == nullptr) return nullptr;
    to.assign(from, from + count);
    return to.data();
  }

  int device;
  kestrel_gpu_scanline grid;
  std::vector<double> x[kAxes], shift[kAxes], point[kAxes], weight;
};

double shift_of(const kestrel_gpu_scanline_axis& axis, int index) {
  return axis.shift == nullptr ? 0.0 : axis.shift[index];
}

/// Adds the event of a run to the cell of its first point and subtracts it from the one after its
/// last.
template <int Limbs>
void add_run(const kestrel_gpu_scanline& grid, const kestrel_gpu_scanline_tile& tile,
             const TileMeeting& met, double squares, double centre, Whole* cells) {
  const int axis = grid.axes - 1;
  const double base = met.run_base, radius = grid.slope[axis][axis], left = grid.room - squares;
  const double begin = tile.run_begin - base, end = tile.run_end - base;
  const Run run = run_of(centre, half_length(radius, left), begin, end);
  double start = run.start, stop = run.stop;
  if (gap_of(run) < grid.run_shift) {
    kestrel::settle_ends(grid.axis[axis].shift, base, begin, end, grid.run_shift, run.low, run.high,
                         &start, &stop);
  }
  if (!(start < stop)) return;
  const double anchor = anchor_of(centre, tile.anchor_first - base, tile.anchor_last - base);
  const RunPolynomial of = run_polynomial(met.weight, radius * radius * left, centre - anchor);
  Whole* const from = cells + static_cast<std::size_t>(start - begin) * 3 * Limbs;
  Whole* const to = cells + static_cast<std::size_t>(stop - begin) * 3 * Limbs;
  put_limbs<Limbs>(of, static_cast<Whole>(anchor + base), grid.limb_scale,
                   [&](int limb, Whole A, Whole Q, Whole P) {
                     const Whole number[3] = {A, Q, P};
                     for (int i = 0; i < 3; ++i) {
                       from[3 * limb + i] += number[i];
                       if (stop < end) to[3 * limb + i] -= number[i];
                     }
                   });
}

/// The grid as meet_tile() takes it.
struct Form : kestrel_gpu_scanline {
  Form(const kestrel_gpu_scanline& grid, Kernel of, ScanlineNest how)
      : kestrel_gpu_scanline(grid), kernel(of), nest(how) {}
  Kernel kernel;
  ScanlineNest nest;
};

template <int Outer, bool Straight>
TileMeeting meeting_of(const Form& grid, const kestrel_gpu_scanline_tile& tile, std::size_t j) {
  const double weight = grid.weight == nullptr ? grid.common : grid.weight[j];
  return meet_tile<Outer, Straight>(grid, tile, weight, [&](int i) -> GridIndex {
    const kestrel_gpu_scanline_axis& axis = grid.axis[i];
    if (axis.x == nullptr) return {0, 0, 0};
    return grid_index_of({axis.origin, axis.inverse_step, axis.step_high, axis.step_low},
                         axis.x[j]);
  });
}

template <int Outer, int Limbs>
void add_events(const kestrel_gpu_scanline& grid, const kestrel_gpu_scanline_tile& tile,
                std::size_t j, Whole* cells) {
  constexpr int kRow = Outer, kRun = Outer + 1;
  const TileMeeting met =
      meeting_of<Outer, false>(Form(grid, Kernel::epanechnikov, ScanlineNest::ellipsoid), tile, j);
  if (!(met.left > 0)) return;
  const int last = static_cast<int>(met.last + met.row_base);
  for (int row = static_cast<int>(met.first + met.row_base); row <= last; ++row) {
    const double y = distance_of(row, shift_of(grid.axis[kRow], row), met.row_base, met.row_centre,
                                 grid.inverse[kRow]);
    add_run<Limbs>(grid, tile, met, met.squares + y * y,
                   met.run_centre + grid.slope[kRun][kRow] * y,
                   cells + static_cast<std::size_t>(row - tile.row_begin) * tile.row_length * 3 *
                               static_cast<std::size_t>(Limbs));
  }
}

/// Whether a point at the rim of a uniform kernel belongs to it.
bool inside_rim(const Form& grid, const kestrel_gpu_scanline_tile& tile, std::size_t j, int row,
                int point) {
  kestrel::ScanlineData data{};
  data.d = static_cast<std::size_t>(grid.d);
  for (int k = 0; k < grid.d; ++k) {
    data.axis_of[k] = grid.axis_of[k];
    data.sample[k] = grid.axis[grid.axis_of[k]].x;
    data.point[k] = grid.axis[grid.axis_of[k]].point;
    std::copy(grid.root[k], grid.root[k] + kAxes, data.root[k]);
  }
  std::size_t index[kAxes] = {};
  for (int i = 0; i < grid.axes - 2; ++i) index[i] = static_cast<std::size_t>(tile.outer[i]);
  index[grid.axes - 2] = static_cast<std::size_t>(row);
  index[grid.axes - 1] = static_cast<std::size_t>(point);
  return kestrel::inside_support(data, grid.nest == ScanlineNest::box, j, index);
}

/// Adds a sample at every point of a row.
template <Kernel K, int Limbs>
void add_row(const Form& grid, const kestrel_gpu_scanline_tile& tile, const TileMeeting& met,
             std::size_t j, int row, Whole* cells) {
  const int on = grid.axes - 2, run = on + 1;
  const double y = distance_of(row, shift_of(grid.axis[on], row), met.row_base, met.row_centre,
                               grid.inverse[on]);
  double squares = met.squares, weight = met.weight;
  if (grid.nest == ScanlineNest::ellipsoid) {
    squares += y * y;
  } else if (grid.nest == ScanlineNest::product) {
    squares = 0;
    weight *= profile<K>(y * y);
  } else {
    squares = std::max(squares, y * y);
  }
  const double centre = met.run_centre + grid.slope[run][on] * y;
  for (int t = tile.run_begin; t < tile.run_end; ++t, ++cells) {
    const double along =
        (t - met.run_base + shift_of(grid.axis[run], t) - centre) * grid.inverse[run];
    const double square = along * along;
    const double q = grid.nest == ScanlineNest::box ? std::max(squares, square) : squares + square;
    double value = 0;
    if constexpr (KernelOf<K>::kIndicator) {
      const bool rim = q >= 1 - kestrel::kRim && q < 1 + kestrel::kRim;
      if (q < 1 - kestrel::kRim || (rim && inside_rim(grid, tile, j, row, t))) value = weight;
    } else {
      value = weight * row_value<K>(rest_or_squares<K>(squares), square, q);
    }
    put_value<Limbs>(value, grid.limb_scale, [&](int limb, Whole bits) {
      cells[static_cast<std::size_t>(limb) * tile.row_length] += bits;
    });
  }
}

/// A row of cells has the first limbs of its points, then the second ones.
template <Kernel K, int Outer, int Limbs>
void add_rows(const Form& grid, const kestrel_gpu_scanline_tile& tile, std::size_t j,
              Whole* cells) {
  const TileMeeting met = grid.nest == ScanlineNest::ellipsoid
                              ? meeting_of<Outer, false>(grid, tile, j)
                              : meeting_of<Outer, true>(grid, tile, j);
  if (!(met.left > 0)) return;
  const int last = static_cast<int>(met.last + met.row_base);
  for (int row = static_cast<int>(met.first + met.row_base); row <= last; ++row) {
    add_row<K, Limbs>(
        grid, tile, met, j, row,
        cells + static_cast<std::size_t>(row - tile.row_begin) * tile.row_length * Limbs);
  }
}

template <int Outer, int Limbs>
void add_sample(const kestrel_gpu_scanline& grid, const kestrel_gpu_scanline_tile& tile,
                std::size_t j, Whole* cells) {
  if (grid.events) return add_events<Outer, Limbs>(grid, tile, j, cells);
  if constexpr (Limbs <= 2) {
    switch (grid.leaf) {
#define KESTREL_KERNEL(name, form, inner, outer)                                          \
  case KESTREL_GPU_##name:                                                                \
  case KESTREL_GPU_product_##name:                                                        \
    if constexpr (KernelOf<Kernel::name>::kCompact) {                                     \
      const bool radial = grid.leaf == KESTREL_GPU_##name;                                \
      const ScanlineNest straight =                                                       \
          KernelOf<Kernel::name>::kIndicator ? ScanlineNest::box : ScanlineNest::product; \
      const Form of(grid, Kernel::name, radial ? ScanlineNest::ellipsoid : straight);     \
      add_rows<Kernel::name, Outer, Limbs>(of, tile, j, cells);                           \
    }                                                                                     \
    break;
#include "shared/kernels.def"
    }
  }
}

template <int Limbs>
void write_row(const kestrel_gpu_scanline& grid, const kestrel_gpu_scanline_tile& tile,
               const Whole* cells, double largest[2], double* out) {
  if (!grid.events) {
    for (int t = tile.run_begin; t < tile.run_end; ++t, ++cells, out += grid.run_stride) {
      Whole limb[Limbs];
      for (std::size_t l = 0; l < Limbs; ++l) limb[l] = cells[l * tile.row_length];
      *out = value_of_rows<Limbs>(limb, grid, largest);
    }
    return;
  }
  Whole a[Limbs] = {}, q[Limbs] = {}, p[Limbs] = {};
  for (int t = tile.run_begin; t < tile.run_end; ++t, out += grid.run_stride) {
    for (int limb = 0; limb < Limbs; ++limb, cells += 3) {
      a[limb] += cells[0];
      q[limb] += cells[1];
      p[limb] += cells[2];
    }
    *out = value_of_events<Limbs>(a, q, p, static_cast<Whole>(t),
                                  shift_of(grid.axis[grid.axes - 1], t), grid, largest);
  }
}

template <int Outer, int Limbs>
void make_tile(const kestrel_gpu_scanline& grid, const kestrel_gpu_scanline_slab& slab,
               std::size_t t, double largest[2], double* values) {
  const kestrel_gpu_scanline_tile& tile = slab.tile[t];
  const std::size_t rows = static_cast<std::size_t>(tile.row_end - tile.row_begin);
  const std::size_t row = tile.row_length * Limbs * (grid.events ? 3 : 1);
  const std::size_t end = t + 1 < slab.tiles ? slab.tile[t + 1].first_range : slab.ranges;
  std::vector<Whole> cells(rows * row);
  for (std::size_t r = tile.first_range; r < end; ++r) {
    for (std::size_t j = slab.range[r].begin; j < slab.range[r].end; ++j) {
      add_sample<Outer, Limbs>(grid, tile, j, cells.data());
    }
  }
  for (std::size_t i = 0; i < rows; ++i) {
    write_row<Limbs>(grid, tile, cells.data() + i * row, largest,
                     values + tile.first_point + i * grid.row_stride);
  }
}

using MakeTile = void (*)(const kestrel_gpu_scanline&, const kestrel_gpu_scanline_slab&,
                          std::size_t, double*, double*);

template <int Limbs>
MakeTile tile_of(int outer) {
  constexpr MakeTile kOf[] = {make_tile<0, Limbs>, make_tile<1, Limbs>, make_tile<2, Limbs>,
                              make_tile<3, Limbs>, make_tile<4, Limbs>};
  return kOf[outer];
}

MakeTile tile_of(const kestrel_gpu_scanline& grid) {
  const int outer = grid.axes - 2;
  return grid.limbs == 1   ? tile_of<1>(outer)
         : grid.limbs == 2 ? tile_of<2>(outer)
                           : tile_of<4>(outer);
}

/// A slab whose parts one thread makes while another passes on those that are there.
struct SlabParts {
  const kestrel_gpu_scanline& grid;
  const kestrel_gpu_scanline_slab& slab;
  double* largest;
  kestrel_gpu_take take;
  kestrel_gpu_poll poll;
  void* context;
  std::mutex mutex{};  // guards the rest
  std::condition_variable changed{};
  std::deque<std::vector<double>> made{};
  bool ended = false, stopped = false;

  static void run(void* task, int item) {
    SlabParts& parts = *static_cast<SlabParts*>(task);
    item == 0 ? parts.make_all() : parts.take_all();
  }

 private:
  /// Whether a poll has stopped it.
  bool make(std::size_t p, std::vector<double>* values) {
    const std::size_t end = p + 1 < slab.parts ? slab.part[p + 1].first_tile : slab.tiles;
    for (std::size_t t = slab.part[p].first_tile; t < end; ++t) {
      tile_of(grid)(grid, slab, t, largest, values->data());
      const double fraction = static_cast<double>(t) / static_cast<double>(slab.tiles);
      if (fake_asked(poll, context, fraction)) return true;
    }
    return false;
  }

  void make_all() {
    for (std::size_t p = 0; p < slab.parts; ++p) {
      std::vector<double> values(slab.part[p].points);
      const bool stop = make(p, &values);
      const std::lock_guard<std::mutex> lock(mutex);
      stopped = stopped || stop;
      if (stopped) break;
      made.push_back(std::move(values));
      changed.notify_all();
    }
    const std::lock_guard<std::mutex> lock(mutex);
    ended = true;
    changed.notify_all();
  }

  void take_all() {
    std::unique_lock<std::mutex> lock(mutex);
    for (std::size_t first = 0; take != nullptr;) {
      changed.wait(lock, [&] { return ended || stopped || !made.empty(); });
      if (stopped || made.empty()) return;
      const std::vector<double> values = std::move(made.front());
      made.pop_front();
      lock.unlock();
      const bool stop = take(context, first, values.data(), values.size()) != 0;
      first += values.size();
      lock.lock();
      stopped = stopped || stop;
    }
  }
};

}  // namespace

int fake_scanline_open(int device, const kestrel_gpu_scanline* given, const void* from, void** out,
                       char* problem, std::size_t room) {
  const int code = fake_failing("FAKE_CUDA_OPEN", device, problem, room);
  if (code != KESTREL_GPU_OK) return code;
  *out = new Runs(device, from == nullptr ? *given : static_cast<const Runs*>(from)->grid);
  fake_holds(1);
  return KESTREL_GPU_OK;
}

int fake_scanline_slab(void* handle, const kestrel_gpu_scanline_slab* slab, double largest[2],
                       kestrel_gpu_take take, kestrel_gpu_pair pair, kestrel_gpu_poll poll,
                       void* context, char* problem, std::size_t room) {
  const Runs& runs = *static_cast<const Runs*>(handle);
  const int code = fake_failing("FAKE_CUDA_SLAB", runs.device, problem, room);
  if (code != KESTREL_GPU_OK) return code;
  largest[0] = largest[1] = 0;
  SlabParts parts{runs.grid, *slab, largest, take, poll, context};
  const bool paired = take != nullptr && pair != nullptr && pair(context, SlabParts::run, &parts);
  if (!paired) {
    for (const int item : {0, 1}) SlabParts::run(&parts, item);
  }
  return parts.stopped ? KESTREL_GPU_STOPPED : KESTREL_GPU_OK;
}

void fake_scanline_close(void* handle) {
  fake_holds(-1);
  delete static_cast<Runs*>(handle);
}
