// The accelerator pipeline of Lopez-Novoa (2015), chapter 7, on a GPU: the work-items of
// skde-pipeline.hpp as CUDA kernels, work-groups of 128 (section 5.2.1), a launch for each step of
// a chunk, densities copied to the host and added to the grid there, serially. The thesis has
// OpenCL and the prefix sum of the benchmark suite SHOC; here it is that of CUB.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o skde-pipeline skde-pipeline.cu
//   ./skde-pipeline [samples]
//
// The settings of table 4: a million normal samples in three variables, three grids, objects of 256
// MB. `samples` of them run (65,536 by default), and seconds are scaled to a million. Prints: paper
// points overlapped computation transfer consolidation total. First compares the GPU with the host
// on a small grid.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cub/device/device_scan.cuh>
#include <random>
#include <utility>
#include <vector>

#include "check.cuh"
#include "skde-pipeline.hpp"

namespace {

using namespace lopez_novoa;

constexpr unsigned kGroup = 128;

/// Step 2: a thread for each sample of the chunk.
template <int d>
__global__ void fit_and_chop_all(Accelerator<d> a, std::size_t first, std::size_t count) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) fit_and_chop(a, first, i);
}

/// Step 3: a thread for each slice.
template <int d>
__global__ void crop_all(Accelerator<d> a, std::size_t first, std::size_t slices) {
  const std::size_t j = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (j < slices) crop(a, first, j);
}

/// Step 5: a work-group for each slice, a thread for a point at a time.
template <int d>
__global__ void densities(Accelerator<d> a, std::size_t first) {
  const std::size_t j = blockIdx.x, s = first + j / a.slices;
  const Slice<d> slice = a.slice[j];
  double* const out = a.density + a.offset[j];
  for (int p = threadIdx.x; p < slice.count[0] * slice.count[1]; p += blockDim.x) {
    int at[d];
    for (int k = 0; k < d; ++k) at[k] = slice.at[k];
    at[0] += p % slice.count[0];
    at[1] += p / slice.count[0];
    out[p] = density_at(a, s, at, std::make_index_sequence<d>());
  }
}

template <class T>
T* room(std::size_t count) {
  T* memory = nullptr;
  CHECK(cudaMalloc(&memory, count * sizeof(T)));
  return memory;
}

template <int d>
class CudaDevice {
 public:
  CudaDevice(const Problem& p, double object_bytes)
      : accelerator_(p), chunk_(chunk_size(accelerator_, object_bytes)) {
    const std::size_t slices = chunk_ * accelerator_.slices;
    double* const sample = room<double>(p.samples * d);
    CHECK(cudaMemcpy(sample, p.sample, p.samples * d * sizeof(double), cudaMemcpyHostToDevice));
    accelerator_.sample = sample_ = sample;
    accelerator_.slice = room<Slice<d>>(slices);
    accelerator_.offset = room<std::size_t>(slices + 1);
    accelerator_.density = room<double>(chunk_ * accelerator_.box_points);
    CHECK(cub::DeviceScan::ExclusiveSum(nullptr, scan_bytes_, accelerator_.offset,
                                        accelerator_.offset, static_cast<int>(slices + 1)));
    scan_ = room<char>(scan_bytes_);
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;
  ~CudaDevice() {
    cudaFree(sample_);
    cudaFree(accelerator_.slice);
    cudaFree(accelerator_.offset);
    cudaFree(accelerator_.density);
    cudaFree(scan_);
  }

  const Accelerator<d>& accelerator() const { return accelerator_; }
  std::size_t chunk() const { return chunk_; }
  void compute(std::size_t first, std::size_t count) {
    used_ = count * accelerator_.slices;
    fit_and_chop_all<<<groups(count), kGroup>>>(accelerator_, first, count);
    CHECK(cudaGetLastError());
    crop_all<<<groups(used_), kGroup>>>(accelerator_, first, used_);
    CHECK(cudaGetLastError());
    CHECK(cub::DeviceScan::ExclusiveSum(scan_, scan_bytes_, accelerator_.offset,
                                        accelerator_.offset, static_cast<int>(used_ + 1)));
    densities<<<static_cast<unsigned>(used_), kGroup>>>(accelerator_, first);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
  }
  void transfer(Partial<d>& to) const {
    to.slices = used_;
    CHECK(cudaMemcpy(&to.densities, accelerator_.offset + used_, sizeof to.densities,
                     cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(to.slice.data(), accelerator_.slice, used_ * sizeof(Slice<d>),
                     cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(to.density.data(), accelerator_.density, to.densities * sizeof(double),
                     cudaMemcpyDeviceToHost));
  }

 private:
  static unsigned groups(std::size_t items) {
    return static_cast<unsigned>((items + kGroup - 1) / kGroup);
  }
  Accelerator<d> accelerator_;
  std::size_t chunk_, used_ = 0, scan_bytes_ = 0;
  double* sample_ = nullptr;
  char* scan_ = nullptr;
};

// ---- the thesis's data: normal, correlations 0.5, 0.3 and 0.5

/// A problem and the memory that it points to.
struct Task {
  std::vector<double> sample, origin, step, reach, inverse, grid;
  std::vector<int> points;
  double constant;
  Problem problem() {
    return {sample.data(), sample.size() / 3, origin.data(), step.data(), points.data(),
            reach.data(),  inverse.data(),    constant,      grid.data()};
  }
};

/// `used` of n samples, bandwidth by eq. 9 and 10 of chapter 6 for all n, a grid that covers all
/// samples.
Task make_task(std::size_t n, std::size_t used, const std::vector<int>& points) {
  // Sigma = L L' and its inverse, as L^-T L^-1.
  const double root[3][3] = {
      {1, 0, 0}, {0.5, std::sqrt(0.75), 0}, {0.3, 0.35 / std::sqrt(0.75), 0}};
  const double last = std::sqrt(1 - root[2][0] * root[2][0] - root[2][1] * root[2][1]);
  const double l11 = root[1][1], l21 = root[2][1];
  const double solved[3][3] = {{1, 0, 0},
                               {-0.5 / l11, 1 / l11, 0},
                               {(-0.3 + l21 * 0.5 / l11) / last, -l21 / l11 / last, 1 / last}};
  const double pi = 3.14159265358979323846, ball = 4 * pi / 3;
  const double h = std::pow(8 / ball * 7 * std::pow(2 * std::sqrt(pi), 3), 1.0 / 7) *
                   std::pow(static_cast<double>(n), -1.0 / 7);
  Task task;
  task.points = points;
  task.constant = 5 / (2 * ball) / (l11 * last) / (h * h * h) / static_cast<double>(n);
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  std::vector<double> x(3 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const double z[3] = {normal(generator), normal(generator), normal(generator)};
    x[i] = z[0];
    x[n + i] = root[1][0] * z[0] + l11 * z[1];
    x[2 * n + i] = root[2][0] * z[0] + l21 * z[1] + last * z[2];
  }
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      double sum = 0;
      for (int k = 0; k < 3; ++k) sum += solved[k][a] * solved[k][b];
      task.inverse.push_back(sum / (h * h));
    }
    const auto range = std::minmax_element(x.begin() + a * n, x.begin() + (a + 1) * n);
    task.reach.push_back(h);  // the diagonal of Sigma is one
    task.origin.push_back(*range.first - h);
    task.step.push_back((*range.second - *range.first + 2 * h) / (points[a] - 1));
    task.sample.insert(task.sample.end(), x.begin() + a * n, x.begin() + a * n + used);
  }
  task.grid.assign(static_cast<std::size_t>(points[0]) * points[1] * points[2], 0.0);
  return task;
}

/// The largest difference between the GPU and the host, relative to the largest density.
double difference(bool overlapped) {
  Task on_gpu = make_task(3000, 3000, {21, 32, 27}), on_host = on_gpu;
  const Problem gpu = on_gpu.problem(), host = on_host.problem();
  CudaDevice<3> device(gpu, 1e6);
  run_pipeline<3>(device, gpu, device.chunk(), overlapped);
  HostDevice<3> reference(host, 1e6);
  run_pipeline<3>(reference, host, reference.chunk(), false);
  double error = 0, largest = 0;
  for (std::size_t i = 0; i < on_gpu.grid.size(); ++i) {
    error = std::max(error, std::fabs(on_gpu.grid[i] - on_host.grid[i]));
    largest = std::max(largest, on_host.grid[i]);
  }
  return error / largest;
}

}  // namespace

int main(int count, char** arguments) {
  for (const bool overlapped : {false, true}) {
    const double error = difference(overlapped);
    if (!(error < 1e-12)) {
      std::fprintf(stderr, "GPU and host differ by %g\n", error);
      return 1;
    }
  }
  constexpr std::size_t n = 1000000;
  const std::size_t used = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 65536;
  if (used < 1 || used > n) {
    std::fprintf(stderr, "from one to a million samples\n");
    return 1;
  }
  const double scale = static_cast<double>(n) / static_cast<double>(used);
  std::printf("# points overlapped computation transfer consolidation total, seconds\n");
  // The thesis names the axes with the fastest in memory last.
  for (const auto& points : {std::vector<int>{322, 220, 110}, {322, 440, 220}, {805, 1100, 220}}) {
    Task task = make_task(n, used, points);
    for (const bool overlapped : {false, true}) {
      const Problem problem = task.problem();
      CudaDevice<3> device(problem, 256e6);
      const Stages s = run_pipeline<3>(device, problem, device.chunk(), overlapped);
      std::printf("paper %zu %d %.4g %.4g %.4g %.4g\n", task.grid.size(), overlapped,
                  s.computation * scale, s.transfer * scale, s.consolidation * scale,
                  s.total * scale);
      std::fflush(stdout);
    }
  }
  return 0;
}
