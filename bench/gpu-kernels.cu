// Rates of the sums on the device alone, with data and results staying there: 131,072 samples (or
// as many as the argument says) at as many points, by the kernels that the CUDA object would
// launch. Prints one line each: "kernel" precision, variables, way, pairs per second, points of a
// block; medians of five launches after a first one. Inner products only if they are accurate
// enough for these data. Built and run by bench/gpu.R.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "cuda/base/device.cuh"
#include "cuda/direct/launch.cuh"

using namespace kestrel_cuda;

namespace {

constexpr std::size_t kChunk = 1024;

template <class T>
void upload(Buffer<T>& to, const std::vector<T>& from) {
  check(cudaMemcpy(to.reserve(from.size()), from.data(), from.size() * sizeof(T),
                   cudaMemcpyHostToDevice),
        "copying data");
}

struct Event {
  cudaEvent_t event;
  Event() { check(cudaEventCreate(&event), "making an event"); }
  ~Event() { cudaEventDestroy(event); }
  void record() { check(cudaEventRecord(event), "marking a time"); }
};

template <class Real>
void time_launch(const Launch<Real>& launch, const SumTask<Real>& task, const char* way) {
  const std::size_t n = task.sample_stride;
  std::vector<double> seconds;
  for (int repetition = 0; repetition < 6; ++repetition) {
    Event begin, end;
    begin.record();
    launch
        .kernel<<<dim3(static_cast<unsigned>(n / launch.points), static_cast<unsigned>(n / kChunk)),
                  launch.threads>>>(task);
    check(cudaGetLastError(), "starting a sum");
    end.record();
    check(cudaEventSynchronize(end.event), "summing");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin.event, end.event), "asking for the time");
    if (repetition > 0) seconds.push_back(1e-3 * milliseconds);
  }
  std::sort(seconds.begin(), seconds.end());
  std::printf("kernel %s %d %s %.4g %d\n", sizeof(Real) == 8 ? "double" : "single", task.d, way,
              static_cast<double>(n) * static_cast<double>(n) / seconds[2], launch.points);
  std::fflush(stdout);
}

/// `task`: for inner products; `farthest`: the largest squared length.
template <class Real>
void time_tensor(SumTask<Real> task, double farthest) {
  const Launch<Real> tensor = tensor_launch<Real>(KESTREL_GPU_gaussian, task.d);
  if (tensor.kernel == nullptr) return;
  if constexpr (sizeof(Real) == sizeof(double)) {
    if (tensor_products_hold(task.d, farthest)) time_launch(tensor, task, "tensor");
  } else {
    const std::size_t n = task.sample_stride;
    const int d = task.d;
    Buffer<GridNumbers> grid[2];
    Buffer<float> weights;
    Buffer<unsigned long long> most;
    const float unit = grid_unit(farthest);
    unsigned long long* const largest = most.reserve(2);
    check(cudaMemset(largest, 0, 2 * sizeof *largest), "clearing memory");
    const auto put = [&](const float* row, float factor, Buffer<GridNumbers>* to) {
      GridNumbers* const numbers = to->reserve(grid_numbers(n, d));
      put_on_grid<<<pieces(n, 8 * kTensorWarps), kTensorThreads>>>(row, n, d, unit, factor, numbers,
                                                                   largest);
      return numbers;
    };
    task.grid_sample = put(task.sample, 1, &grid[0]);
    task.grid_point = put(task.point, kPointFactor, &grid[1]);
    weights_on_grid<<<pieces(n, kTensorThreads), kTensorThreads>>>(task.weight, n, unit,
                                                                   weights.reserve(2 * n));
    check(cudaGetLastError(), "starting to round");
    task.weight = weights.data();
    double square[2];
    check(cudaMemcpy(square, largest, sizeof square, cudaMemcpyDeviceToHost), "copying it back");
    const auto hold = [&](bool all) {
      return grid_holds(d, farthest, std::sqrt(square[0]), std::sqrt(square[1]), all);
    };
    if (hold(false)) {
      time_launch(tensor_launch<float, false>(KESTREL_GPU_gaussian, d), task, "tensor");
    } else if (hold(true)) {
      time_launch(tensor, task, "tensor");
    }
  }
}

/// Normal samples and points at the bandwidth sqrt(d) / 2, all weights 1.
template <class Real>
void time_sums(std::size_t n, int d) {
  std::mt19937_64 generator(d);
  std::normal_distribution<double> normal(0.0, 2.0 * std::sqrt(0.5 / std::log(2.0) / d));
  std::vector<Real> sample((d + 2) * n), point(d * n);
  double farthest = 0.0;  // squared
  for (std::size_t j = 0; j < n; ++j) {
    double square = 0.0, of_point = 0.0;
    for (int k = 0; k < d; ++k) {
      const Real x = static_cast<Real>(normal(generator)), e = static_cast<Real>(normal(generator));
      sample[k * n + j] = x;
      point[k * n + j] = e;
      square += static_cast<double>(x) * x;
      of_point += static_cast<double>(e) * e;
    }
    sample[d * n + j] = 0;  // the logarithm of its weight
    sample[(d + 1) * n + j] = static_cast<Real>(-square);
    farthest = std::max({farthest, square, of_point});
  }
  Buffer<Real> samples, points;
  Buffer<double> partial;
  upload(samples, sample);
  upload(points, point);
  SumTask<Real> task{};
  task.sample = samples.data();
  task.weight = samples.data() + d * n;
  task.point = points.data();
  task.sample_stride = task.point_stride = n;
  task.chunk = kChunk;
  task.partial = partial.reserve(n / kChunk * n);
  task.d = d;
  time_launch(launch_of(KESTREL_GPU_gaussian, d, Real()), task, "differences");
  task.weight += n;
  if (products_hold<Real>(d, farthest)) {
    time_launch(products_launch<Real>(KESTREL_GPU_gaussian, d), task, "products");
  }
  time_tensor(task, farthest);
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t given = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 131072;
  const std::size_t n = std::max<std::size_t>(1, given / kPointUnit) * kPointUnit;
  try {
    for (int d : {1, 2, 3, 4, 6, 8, 14, 16, 30, 62}) {
      time_sums<double>(n, d);
      time_sums<float>(n, d);
    }
  } catch (const Failure& failure) {
    std::printf("failed: %s\n", failure.text);
    return 1;
  }
}
