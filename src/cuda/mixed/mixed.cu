// Kernel regression on columns and factors: the sums of all leave-one-out fits and of their
// derivatives, by direct sums over all pairs.
#include <algorithm>
#include <cmath>

#include "cuda/base/device.cuh"
#include "cuda/mixed/mixed.cuh"
#include "cuda/mixed/sums.cuh"
#include "shared/local_fit.hpp"

namespace kestrel_cuda {

namespace {

/// The number of blocks that a launch should have: two for each place of an H200.
constexpr std::size_t kBlocks = 2112;
/// The maximum number of slices of the samples, and the minimum length of one.
constexpr std::size_t kSlices = 64, kLeastSlice = 128;
constexpr std::size_t kMaxCells = std::size_t{1} << 16;
constexpr unsigned kThreads = 256;

/// The loops for a number of columns.
struct MixedLaunch {
  void (*moments)(MixedTask);
  void (*changes)(MixedTask);
  int moment_sums;
};

template <int kColumns, bool kLinear>
MixedLaunch launch_of() {
  return {mixed_moments<kColumns, kLinear>, mixed_changes<kColumns, kLinear>,
          MixedMoments<kColumns, kLinear>::kSums};
}

template <bool kLinear>
MixedLaunch launch_for(int columns) {
  static_assert(KESTREL_GPU_MIXED_COLUMNS == 6, "one case for each number of columns");
  switch (columns) {
    case 1: return launch_of<1, kLinear>();
    case 2: return launch_of<2, kLinear>();
    case 3: return launch_of<3, kLinear>();
    case 4: return launch_of<4, kLinear>();
    case 5: return launch_of<5, kLinear>();
    case 6: return launch_of<6, kLinear>();
    default: break;
  }
  refuse("%d columns", columns);
}

class DirectMixed : public Mixed {
 public:
  DirectMixed(const kestrel_gpu_mixed& data, const DirectMixed* from, int from_device)
      : n_(data.n),
        columns_(data.columns),
        factors_(data.factors),
        plane_(data.linear != 0 ? data.columns + 1 : 1),
        launch_(data.linear != 0 ? launch_for<true>(data.columns)
                                 : launch_for<false>(data.columns)) {
    if (data.factors > KESTREL_GPU_MIXED_FACTORS) refuse("%d factors", data.factors);
    if (n_ >= kestrel::kRegressionLimit) refuse("%zu samples", n_);
    if (data.cells > kMaxCells) refuse("%zu combinations of levels", data.cells);
    const std::size_t columns = static_cast<std::size_t>(columns_);
    if (from != nullptr) {
      copy_from(from_device, from->x_, n_ * columns, &x_);
      copy_from(from_device, from->y_, n_, &y_);
    } else {
      upload(data.x, n_ * columns, x_.reserve(n_ * columns));
      upload(data.y, n_, y_.reserve(n_));
    }
    check(cudaMemcpy(first_.reserve(data.cells + 1), data.first,
                     (data.cells + 1) * sizeof(unsigned), cudaMemcpyHostToDevice),
          "copying cells");
    task_.x = x_.data();
    task_.y = y_.data();
    task_.first = first_.data();
    task_.n = static_cast<unsigned>(n_);
    task_.cells = static_cast<unsigned>(data.cells);
    task_.factors = static_cast<unsigned>(factors_);
    for (int c = 0; c < columns_; ++c) task_.inverse_unit[c] = 1 / data.unit[c];
    finish_sending();
  }

  void kernel(const kestrel_gpu_mixed_kernel& kernel) override {
    for (int c = 0; c < columns_; ++c) {
      task_.scale[c] = std::isfinite(kernel.h[c]) ? 1 / kernel.h[c] : 0.0;
    }
    const std::size_t cells = task_.cells, table = cells * cells * (task_.factors + 1);
    upload(kernel.weight, table, weight_.reserve(table));
    task_.weight = weight_.data();
  }

  bool moments(std::size_t first, std::size_t count, double* sum, const Poll& poll) override {
    return sums(launch_.moments, launch_.moment_sums, first, count, sum, poll);
  }

  bool changes(std::size_t first, std::size_t count, const double* fit, double* change,
               const Poll& poll) override {
    const std::size_t rows = 2 * static_cast<std::size_t>(plane_);
    double* const to = fit_.reserve(rows * n_);
    for (std::size_t row = 0; row < rows; ++row) {
      upload(fit + row * n_ + first, count, to + row * n_ + first);
    }
    task_.fit = to;
    return sums(launch_.changes, 2 * (columns_ + factors_), first, count, change, poll);
  }

 private:
  /// `count` sums at the points first_point, ..., first_point + points - 1.
  bool sums(void (*loop)(MixedTask), int count, std::size_t first_point, std::size_t points,
            double* to, const Poll& poll) {
    const std::size_t numbers = points * static_cast<std::size_t>(count);
    task_.first_point = static_cast<unsigned>(first_point);
    task_.end_point = static_cast<unsigned>(first_point + points);
    const std::size_t blocks = pieces(points, kMixedThreads);
    task_.slices = static_cast<unsigned>(std::max<std::size_t>(
        1, std::min({kSlices, n_ / kLeastSlice, (kBlocks + blocks - 1) / blocks})));
    task_.partial = partial_.reserve(task_.slices * numbers);
    const double operations = static_cast<double>(n_) * kMixedThreads * (30.0 + 2 * count);
    const std::size_t at_a_time = std::max<std::size_t>(
        kBlocks / task_.slices + 1, static_cast<std::size_t>(kLaunchOperations / operations));
    const std::size_t room = kMixedThreads * static_cast<std::size_t>(count) * sizeof(double);
    Pace pace;
    for (std::size_t first = 0; first < blocks; first += at_a_time) {
      task_.first_block = static_cast<unsigned>(first);
      const dim3 grid(static_cast<unsigned>(std::min(at_a_time, blocks - first)), task_.slices);
      loop<<<grid, kMixedThreads, room>>>(task_);
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
    for (std::size_t s = 0; s < static_cast<std::size_t>(count); ++s) {
      check(cudaMemcpy(to + s * n_ + first_point, total + s * points, points * sizeof(double),
                       cudaMemcpyDeviceToHost),
            "copying sums back");
    }
    return true;
  }

  const std::size_t n_;
  const int columns_, factors_, plane_;
  const MixedLaunch launch_;
  Buffer<double> x_, y_, weight_, fit_, partial_, total_;
  Buffer<unsigned> first_;
  MixedTask task_{};
};

}  // namespace

std::unique_ptr<Mixed> make_mixed(const kestrel_gpu_mixed& data, const Mixed* from,
                                  int from_device) {
  return std::make_unique<DirectMixed>(data, static_cast<const DirectMixed*>(from), from_device);
}

}  // namespace kestrel_cuda
