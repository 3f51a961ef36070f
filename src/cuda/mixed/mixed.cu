// Sums over columns and factors, by direct sums over all pairs.
#include <algorithm>
#include <cmath>

#include "cuda/base/device.cuh"
#include "cuda/mixed/mixed.cuh"
#include "cuda/mixed/sums.cuh"
#include "shared/local_fit.hpp"
#include "shared/mixed_reach.hpp"

namespace kestrel_cuda {

namespace {

/// The number of blocks that a launch should have: two for each place of an H200.
constexpr std::size_t kBlocks = 2112;
/// The maximum number of slices of the samples, and the minimum length of one.
constexpr std::size_t kSlices = 64, kLeastSlice = 128;
constexpr std::size_t kMaxCells = std::size_t{1} << 16;
constexpr unsigned kThreads = 256;

/// The loop of a task, and the number of its sums.
struct MixedLaunch {
  void (*loop)(MixedTask);
  int sums;
};

template <class Terms, int kColumns, bool kGaussian>
MixedLaunch launch_of(unsigned factors) {
  return {mixed_sums<Terms, kColumns, kGaussian>, Terms::sums(factors)};
}

template <int kColumns, bool kLinear, bool kGaussian>
MixedLaunch launch_for(int task, unsigned factors) {
  switch (task) {
    case KESTREL_GPU_mixed_moments:
      return launch_of<MixedMoments<kColumns, kLinear>, kColumns, kGaussian>(factors);
    case KESTREL_GPU_mixed_changes:
      return launch_of<MixedChanges<kColumns, kLinear>, kColumns, kGaussian>(factors);
    case KESTREL_GPU_mixed_shares:
      return launch_of<MixedShares<kColumns>, kColumns, kGaussian>(factors);
    // Once for each fit.
    case KESTREL_GPU_mixed_squares:
      return launch_of<MixedSquares<kColumns, kLinear>, kColumns, false>(factors);
    default: break;
  }
  refuse("task %d", task);
}

template <int kColumns>
MixedLaunch launch_with(int task, bool linear, bool gaussian, unsigned factors) {
  if (linear) {
    return gaussian ? launch_for<kColumns, true, true>(task, factors)
                    : launch_for<kColumns, true, false>(task, factors);
  }
  return gaussian ? launch_for<kColumns, false, true>(task, factors)
                  : launch_for<kColumns, false, false>(task, factors);
}

MixedLaunch launch_for_columns(int columns, int task, bool linear, bool gaussian,
                               unsigned factors) {
  static_assert(KESTREL_GPU_MIXED_COLUMNS == 6, "one case for each number of columns");
  switch (columns) {
    case 1: return launch_with<1>(task, linear, gaussian, factors);
    case 2: return launch_with<2>(task, linear, gaussian, factors);
    case 3: return launch_with<3>(task, linear, gaussian, factors);
    case 4: return launch_with<4>(task, linear, gaussian, factors);
    case 5: return launch_with<5>(task, linear, gaussian, factors);
    case 6: return launch_with<6>(task, linear, gaussian, factors);
    default: break;
  }
  refuse("%d columns", columns);
}

/// The distance beyond which a window is zero.
double reach_of(int window) {
  switch (window) {
    case KESTREL_GPU_mixed_gaussian: return kestrel::kMixedGaussianReach;
    case KESTREL_GPU_mixed_epanechnikov: return kestrel::kMixedEpanechnikovReach;
    default: return kestrel::kMixedUnitReach;
  }
}

/// Rows of samples or points on the device.
struct RowsOnDevice {
  Buffer<double> x, y, box;
  Buffer<unsigned> first;

  MixedRows send(std::size_t rows, std::size_t columns, std::size_t cells,
                 const unsigned* first_of_cells) {
    if (rows >= kestrel::kRegressionLimit) refuse("%zu rows", rows);
    if (cells > kMaxCells) refuse("%zu combinations of levels", cells);
    upload(first_of_cells, cells + 1, first.reserve(cells + 1));
    const std::size_t tiles = pieces(rows, kMixedThreads);
    double* const boxes = box.reserve(2 * columns * tiles);
    const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(columns));
    mixed_boxes<<<grid, kMixedThreads>>>(x.data(), static_cast<unsigned>(rows),
                                         static_cast<unsigned>(tiles), boxes);
    check(cudaGetLastError(), "starting to find the ranges");
    return {x.data(),
            y.data(),
            first.data(),
            static_cast<unsigned>(rows),
            static_cast<unsigned>(cells),
            boxes,
            static_cast<unsigned>(tiles)};
  }
};

class DirectMixed : public Mixed {
 public:
  DirectMixed(const kestrel_gpu_mixed& data, const DirectMixed* from, int from_device)
      : linear_(data.linear != 0), columns_(data.columns) {
    if (data.factors > KESTREL_GPU_MIXED_FACTORS) refuse("%d factors", data.factors);
    if (columns_ < 1 || columns_ > KESTREL_GPU_MIXED_COLUMNS) refuse("%d columns", columns_);
    const std::size_t columns = static_cast<std::size_t>(columns_), n = data.n;
    take(data.x, n * columns, from == nullptr ? nullptr : &from->sample_.x, from_device,
         &sample_.x);
    take(data.y, n, from == nullptr ? nullptr : &from->sample_.y, from_device, &sample_.y);
    take(data.w, n, from == nullptr ? nullptr : &from->w_, from_device, &w_);
    task_.sample = sample_.send(n, columns, data.cells, data.first);
    task_.points = task_.sample;
    are_samples_ = data.points == nullptr;
    if (!are_samples_) {
      take(data.points, data.m * columns, from == nullptr ? nullptr : &from->points_.x, from_device,
           &points_.x);
      task_.points = points_.send(data.m, columns, data.point_cells, data.point_first);
    }
    task_.w = w_.data();
    task_.factors = static_cast<unsigned>(data.factors);
    for (int c = 0; c < columns_; ++c) task_.inverse_unit[c] = 1 / data.unit[c];
    finish_sending();
  }

  void kernel(const kestrel_gpu_mixed_kernel& kernel) override {
    for (int c = 0; c < columns_; ++c) task_.scale[c] = kernel.scale[c];
    const int terms = kernel.q == nullptr ? 0 : kernel.terms + kernel.inner;
    if (terms > KESTREL_GPU_MIXED_TERMS) refuse("%d terms", terms);
    std::copy(kernel.q, kernel.q + terms, task_.q);
    std::copy(kernel.p, kernel.p + terms, task_.p);
    task_.window = kernel.window;
    task_.terms = terms > 0 ? kernel.terms : 0;
    task_.inner = terms > 0 ? kernel.inner : 0;
    task_.left_out = are_samples_ && kernel.own == 0;
    const std::size_t cells = std::size_t{task_.sample.cells} * task_.points.cells;
    const std::size_t table = cells * (task_.factors + 1);
    upload(kernel.weight, table, weight_.reserve(table));
    task_.weight = weight_.data();
    task_.e = nullptr;
    if (kernel.e == nullptr) return;
    upload(kernel.e, task_.sample.rows, e_.reserve(task_.sample.rows));
    task_.e = e_.data();
  }

  bool sums(int task, std::size_t first, std::size_t points, const double* given, double* to,
            const Poll& poll) override {
    const bool gaussian = task_.window == KESTREL_GPU_mixed_gaussian && task_.terms == 0;
    const MixedLaunch launch = launch_for_columns(columns_, task, linear_, gaussian, task_.factors);
    send_given(task, first, points, given);
    // Every sample has a square where something is subtracted.
    const bool all = task == KESTREL_GPU_mixed_squares && task_.e == nullptr;
    task_.reach = all ? HUGE_VAL : reach_of(task_.window);
    return run(launch, first, points, to, poll);
  }

 private:
  void take(const double* numbers, std::size_t count, const Buffer<double>* other, int other_device,
            Buffer<double>* to) {
    if (numbers == nullptr) return;
    if (other != nullptr) {
      copy_from(other_device, *other, count, to);
    } else {
      upload(numbers, count, to->reserve(count));
    }
  }

  void send_given(int task, std::size_t first, std::size_t points, const double* given) {
    const std::size_t plane = linear_ ? static_cast<std::size_t>(columns_) + 1 : 1;
    const std::size_t rows = task == KESTREL_GPU_mixed_changes   ? 2 * plane
                             : task == KESTREL_GPU_mixed_squares ? 1 + plane
                                                                 : 0;
    const std::size_t m = task_.points.rows;
    double* const to = given_.reserve(rows * m);
    for (std::size_t row = 0; row < rows; ++row) {
      upload(given + row * m + first, points, to + row * m + first);
    }
    task_.given = to;
  }

  /// The sums at the points first_point, ..., first_point + points - 1.
  bool run(const MixedLaunch& launch, std::size_t first_point, std::size_t points, double* to,
           const Poll& poll) {
    const std::size_t count = static_cast<std::size_t>(launch.sums), numbers = points * count;
    const std::size_t n = task_.sample.rows, m = task_.points.rows;
    task_.first_point = static_cast<unsigned>(first_point);
    task_.end_point = static_cast<unsigned>(first_point + points);
    const std::size_t blocks = pieces(points, kMixedThreads);
    task_.slices = static_cast<unsigned>(std::max<std::size_t>(
        1, std::min({kSlices, n / kLeastSlice, (kBlocks + blocks - 1) / blocks})));
    task_.partial = partial_.reserve(task_.slices * numbers);
    const double operations = static_cast<double>(n) * kMixedThreads * (30.0 + 2 * launch.sums);
    const std::size_t at_a_time = std::max<std::size_t>(
        kBlocks / task_.slices + 1, static_cast<std::size_t>(kLaunchOperations / operations));
    const std::size_t room = kMixedThreads * count * sizeof(double);
    Pace pace;
    for (std::size_t first = 0; first < blocks; first += at_a_time) {
      task_.first_block = static_cast<unsigned>(first);
      const dim3 grid(static_cast<unsigned>(std::min(at_a_time, blocks - first)), task_.slices);
      launch.loop<<<grid, kMixedThreads, room>>>(task_);
      check(cudaGetLastError(), "starting to sum");
      pace.launched();
      if (!poll(static_cast<double>(first) / static_cast<double>(blocks))) {
        check(cudaDeviceSynchronize(), "stopping");
        return false;
      }
    }
    double* total = total_.reserve(numbers);
    add_mixed_slices<<<pieces(numbers, kThreads), kThreads>>>(task_.partial, task_.slices, numbers,
                                                              total);
    check(cudaGetLastError(), "starting to add the slices");
    for (std::size_t s = 0; s < count; ++s) {
      download(total + s * points, points, to + s * m + first_point);
    }
    return true;
  }

  const bool linear_;
  const int columns_;
  bool are_samples_ = true;
  RowsOnDevice sample_, points_;
  Buffer<double> w_, e_, weight_, given_, partial_, total_;
  MixedTask task_{};
};

}  // namespace

std::unique_ptr<Mixed> make_mixed(const kestrel_gpu_mixed& data, const Mixed* from,
                                  int from_device) {
  return std::make_unique<DirectMixed>(data, static_cast<const DirectMixed*>(from), from_device);
}

}  // namespace kestrel_cuda
