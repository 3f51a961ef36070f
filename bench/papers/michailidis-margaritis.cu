// The GPU programs of Michailidis & Margaritis (2013), "Accelerating Kernel Density Estimation on
// the GPU Using the CUDA Framework", as the reference for kestrel's: algorithms 3 and 4 (naive), 5
// and 6 (tiles in shared memory), 7 (the loops over variables unrolled), in single precision as in
// the paper, with one Gaussian of one variable for each pair and variable. Blocks of 128 threads
// and the tiles that section 5 of the paper found best: 512, 256 x 2, 128 x 6, 64 x 14, 32 x 30, 32
// x 62. Other blocks and tiles are tried too, and the best one counts. Two changes are in their
// favour: divisions by the bandwidth are multiplications here, and constant factors are taken out
// of the sums.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o michailidis-margaritis michailidis-margaritis.cu
//   ./michailidis-margaritis [n]         prints: variables algorithm threads tile pairs/s
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "check.cuh"

namespace {

__device__ __forceinline__ float kernel(float u) { return expf(-0.5f * u * u); }

/// Algorithms 3 and 4: x and y are n rows of `variables`, in device memory.
__global__ void naive(const float* x, const float* y, int n, int variables, float per_h,
                      float* pdf) {
  const int id = blockDim.x * blockIdx.x + threadIdx.x;
  float sum = 0.0f;
  for (int j = 0; j < n; ++j) {
    float product = 1.0f;
    for (int k = 0; k < variables; ++k) {
      product *= kernel((x[id * variables + k] - y[j * variables + k]) * per_h);
    }
    sum += product;
  }
  pdf[id] = sum / n;
}

/// Algorithms 5 and 6 (kUnroll = 1: loops over variables as written) and 7 (unrolled).
template <int kVariables, int kThreads, int kTile, bool kUnrolled>
__global__ void tiled(const float* x, const float* y, int n, float per_h, float* pdf) {
  __shared__ float yd[kTile][kVariables];
  const int id = blockDim.x * blockIdx.x + threadIdx.x;
  float xr[kVariables];
#pragma unroll
  for (int k = 0; k < kVariables; ++k) xr[k] = x[id * kVariables + k];
  float sum = 0.0f;
  for (int j = 0; j < n; j += kTile) {
    __syncthreads();
    for (int i = threadIdx.x; i < kTile; i += kThreads) {
#pragma unroll(kUnrolled ? kVariables : 1)
      for (int k = 0; k < kVariables; ++k) yd[i][k] = y[(j + i) * kVariables + k];
    }
    __syncthreads();
    for (int jj = 0; jj < kTile; ++jj) {
      float product = 1.0f;
#pragma unroll(kUnrolled ? kVariables : 1)
      for (int k = 0; k < kVariables; ++k) product *= kernel((xr[k] - yd[jj][k]) * per_h);
      sum += product;
    }
  }
  pdf[id] = sum / n;
}

struct Data {
  int n;
  float *x, *pdf;
};

/// Median of five launches after a first one, in seconds.
template <class Launch>
double seconds(const Launch& launch) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (int repetition = 0; repetition < 4; ++repetition) {
    CHECK(cudaEventRecord(begin));
    launch();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    if (repetition > 0) times.push_back(milliseconds);
  }
  std::sort(times.begin(), times.end());
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  return 1e-3 * times[times.size() / 2];
}

void report(int variables, int algorithm, int threads, int tile, int n, double time) {
  std::printf("paper %d %d %d %d %.4g\n", variables, algorithm, threads, tile,
              static_cast<double>(n) * n / time);
  std::fflush(stdout);
}

constexpr float kPerBandwidth = 2.0f;

void run_naive(const Data& data, int variables) {
  report(variables, variables == 1 ? 3 : 4, 128, 0, data.n, seconds([&] {
           naive<<<data.n / 128, 128>>>(data.x, data.x, data.n, variables, kPerBandwidth, data.pdf);
         }));
}

template <int kVariables, int kThreads, int kTile, bool kUnrolled>
void run_tiled(const Data& data) {
  report(kVariables,
         kVariables == 1 ? 5
         : kUnrolled     ? 7
                         : 6,
         kThreads, kTile, data.n, seconds([&] {
           tiled<kVariables, kThreads, kTile, kUnrolled>
               <<<data.n / kThreads, kThreads>>>(data.x, data.x, data.n, kPerBandwidth, data.pdf);
         }));
}

/// The paper's best tile for 128 threads, and its neighbours with more threads and rows.
template <int kVariables, int kTile>
void run_variables(const Data& data) {
  run_naive(data, kVariables);
  run_tiled<kVariables, 128, kTile, false>(data);
  run_tiled<kVariables, 128, kTile, true>(data);
  run_tiled<kVariables, 128, 2 * kTile, true>(data);
  run_tiled<kVariables, 256, 2 * kTile, true>(data);
}

}  // namespace

int main(int count, char** arguments) {
  const int n = count > 1 ? std::atoi(arguments[1]) : 131072;
  Data data{n, nullptr, nullptr};
  std::vector<float> x(static_cast<std::size_t>(n) * 62);
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  for (float& value : x) value = normal(generator);
  CHECK(cudaMalloc(&data.x, x.size() * sizeof(float)));
  CHECK(cudaMalloc(&data.pdf, static_cast<std::size_t>(n) * sizeof(float)));
  CHECK(cudaMemcpy(data.x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
  std::printf("# variables algorithm threads tile pairs/s (n = %d)\n", n);
  run_naive(data, 1);
  run_tiled<1, 128, 512, true>(data);
  run_variables<2, 256>(data);
  run_variables<3, 256>(data);
  run_variables<6, 128>(data);
  run_variables<14, 64>(data);
  run_variables<16, 64>(data);
  run_variables<30, 32>(data);
  run_variables<62, 32>(data);
  CHECK(cudaFree(data.x));
  CHECK(cudaFree(data.pdf));
  return 0;
}
