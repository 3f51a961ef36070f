// Leave-one-out cross-validation of kernel regression over a grid of bandwidths (Rohlfs & Zahran
// 2017), without a matrix of all pairs.
#include <algorithm>
#include <cmath>

#include "cuda/base/device.cuh"
#include "cuda/base/sort.cuh"
#include "cuda/regression/kernels.cuh"
#include "cuda/regression/regression.cuh"

namespace kestrel_cuda {

namespace {

/// Blocks whose partial sums are kept at a time: 32 MiB.
constexpr std::size_t kPartialBlocks = std::size_t{1} << 20;
/// The maximum number of bandwidths at a time: that of blocks in a grid's second dimension.
constexpr std::size_t kMaxBandwidths = 65535;
/// The minimum number of blocks of a launch: every multiprocessor has eight.
constexpr std::size_t kFewestBlocks = 1056;
constexpr unsigned kThreads = 256;

/// The loops for one kernel.
struct FitLaunch {
  void (*fits)(FitTask);
  void (*leaves)(RegressionSample, unsigned);  // null: the kernel needs no blocks
  void (*blocks)(RegressionSample, unsigned, unsigned);
  std::size_t powers;
};

template <class K, bool kLinear>
FitLaunch kernel_launch() {
  if constexpr (K::kGaussian) {
    return {gaussian_fits<kLinear>, nullptr, nullptr, 0};
  } else {
    constexpr int kPowers = K::kDegree + (kLinear ? 2 : 0);
    return {polynomial_fits<K, kLinear>, make_leaves<kPowers>, make_blocks<kPowers>, kPowers};
  }
}

template <kestrel::KernelForm kForm, int kInner, int kOuter, bool kLinear>
FitLaunch launch_for() {
  if constexpr (kForm == kestrel::KernelForm::cosine) {
    refuse("the %s kernel", "cosine");
  } else {
    return kernel_launch<FitKernel<kForm, kInner, kOuter>, kLinear>();
  }
}

template <bool kLinear>
FitLaunch launch_for(int kernel) {
  switch (kernel) {
#define KESTREL_KERNEL(name, form, inner, outer) \
  case KESTREL_GPU_##name:                       \
    return launch_for<kestrel::KernelForm::form, inner, outer, kLinear>();
#include "shared/kernels.def"
    default: break;
  }
  refuse("a kernel of number %d", kernel);
}

class SortedRegression : public Regression {
 public:
  SortedRegression(const kestrel_gpu_regression& given, const SortedRegression* from,
                   int from_device)
      : given_(given),
        n_(static_cast<unsigned>(given.n)),
        launch_(given.linear != 0 ? launch_for<true>(given.kernel)
                                  : launch_for<false>(given.kernel)) {
    if (from != nullptr) {
      take(*from, from_device);
    } else {
      sort();
    }
    task_.sample.n = n_;
    task_.sample.unit = given.unit;
    if (given.linear != 0) task_.sample.slope = from != nullptr ? from->slope() : trend();
    if (launch_.leaves != nullptr) make_all_blocks();
    upload(given.bandwidth, given.count, bandwidth_.reserve(std::max<std::size_t>(1, given.count)));
    task_.blocks = pieces(n_, kFitThreads);
    task_.reach = given.reach;
    task_.cut = given.cut;
    finish_sending();
  }

  double slope() const { return task_.sample.slope; }

  /// kFitSums sums for each of `all` bandwidths from number `from` on.
  bool sums(std::size_t from, std::size_t all, double* sum, const Poll& poll) override {
    double* total = total_.reserve(std::max<std::size_t>(1, kFitSums * all));
    const std::size_t at_a_time =
        std::min(kMaxBandwidths, std::max<std::size_t>(1, kPartialBlocks / task_.blocks));
    task_.partial = partial_.reserve(std::min(at_a_time, all) * task_.blocks * kFitSums);
    Pace pace;
    for (std::size_t first = 0; first < all; first += at_a_time) {
      const std::size_t count = std::min(at_a_time, all - first);
      task_.bandwidth = bandwidth_.data() + from + first;
      const Poll part = [&](double fraction) {
        return poll((static_cast<double>(first) + fraction * static_cast<double>(count)) /
                    static_cast<double>(all));
      };
      if (!fits(count * task_.blocks, pace, part)) {
        check(cudaDeviceSynchronize(), "stopping");
        return false;
      }
      const dim3 grid(kFitSums, static_cast<unsigned>(count));
      add_fits<<<grid, kThreads>>>(task_.partial, task_.blocks, total + first * kFitSums);
      check(cudaGetLastError(), "starting to add the blocks");
    }
    check(cudaMemcpy(sum, total, kFitSums * all * sizeof(double), cudaMemcpyDeviceToHost),
          "copying sums back");
    return true;
  }

 private:
  /// The sorted observations of another device.
  void take(const SortedRegression& from, int from_device) {
    task_.sample.x = copy_from(from_device, from.x_, n_, &x_);
    task_.sample.y = copy_from(from_device, from.y_, n_, &y_);
    task_.sample.w = given_.w != nullptr ? copy_from(from_device, from.w_, n_, &w_) : nullptr;
  }

  void sort() {
    Buffer<double> given;
    Buffer<unsigned> order;
    order.reserve(n_);
    upload(given_.x, n_, given.reserve(n_));
    sort_ascending(given.data(), n_, x_.reserve(n_), order.data());
    const auto arranged = [&](const double* from, Buffer<double>* to) {
      upload(from, n_, given.data());
      gather<<<pieces(n_, kThreads), kThreads>>>(order.data(), given.data(), n_, to->reserve(n_));
      check(cudaGetLastError(), "starting to arrange data");
      return to->data();
    };
    task_.sample.x = x_.data();
    task_.sample.y = arranged(given_.y, &y_);
    task_.sample.w = given_.w != nullptr ? arranged(given_.w, &w_) : nullptr;
  }

  double trend() {
    double* found = total_.reserve(1);
    find_trend<<<1, kestrel::kTrendPairs>>>(task_.sample, given_.trend, found);
    check(cudaGetLastError(), "starting to find the trend");
    double slope = 0.0;
    check(cudaMemcpy(&slope, found, sizeof slope, cudaMemcpyDeviceToHost), "copying the trend");
    return slope;
  }

  void make_all_blocks() {
    std::size_t all = 0;
    for (unsigned level = 0; level < kLevels; ++level) {
      task_.sample.first[level] = static_cast<unsigned>(all);
      all += n_ >> kLeafBits >> level;
    }
    task_.sample.block = blocks_.reserve(std::max<std::size_t>(1, all * 2 * (launch_.powers + 2)));
    for (unsigned level = 0; level < kLevels; ++level) {
      const unsigned count = n_ >> kLeafBits >> level;
      if (count == 0) break;
      if (level == 0) {
        launch_.leaves<<<pieces(count, kThreads), kThreads>>>(task_.sample, count);
      } else {
        launch_.blocks<<<pieces(count, kThreads), kThreads>>>(task_.sample, level, count);
      }
      check(cudaGetLastError(), "starting to add powers");
    }
  }

  /// The maximum number of operations of one observation at one bandwidth.
  double operations() const {
    if (launch_.leaves == nullptr) return 20.0 * n_;
    const double powers = static_cast<double>(launch_.powers) + 2;
    return 8 * std::log2(static_cast<double>(n_) + 2) * powers * powers;
  }

  bool fits(std::size_t blocks, Pace& pace, const Poll& poll) {
    const std::size_t at_a_time = std::max(
        kFewestBlocks, static_cast<std::size_t>(kLaunchOperations / (kFitThreads * operations())));
    for (std::size_t first = 0; first < blocks; first += at_a_time) {
      task_.first = static_cast<unsigned>(first);
      launch_.fits<<<static_cast<unsigned>(std::min(at_a_time, blocks - first)), kFitThreads>>>(
          task_);
      check(cudaGetLastError(), "starting to fit");
      pace.launched();
      if (!poll(static_cast<double>(first) / static_cast<double>(blocks))) return false;
    }
    return true;
  }

  const kestrel_gpu_regression& given_;
  const unsigned n_;
  const FitLaunch launch_;
  Buffer<double> x_, y_, w_;  // sorted
  Buffer<double2> blocks_;
  Buffer<double> bandwidth_, partial_, total_;
  FitTask task_{};
};

}  // namespace

std::unique_ptr<Regression> make_regression(const kestrel_gpu_regression& request,
                                            const Regression* from, int from_device) {
  if (request.n < 1 || request.n >= kestrel::kRegressionLimit) {
    refuse("%zu observations", request.n);
  }
  return std::make_unique<SortedRegression>(request, static_cast<const SortedRegression*>(from),
                                            from_device);
}

}  // namespace kestrel_cuda
