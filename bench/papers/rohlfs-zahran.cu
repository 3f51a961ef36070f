// The GPU program of Rohlfs & Zahran (2017), "Optimal Bandwidth Selection for Kernel Regression
// Using a Fast Grid Search and a GPU", as the reference for kestrel's: leave-one-out
// cross-validation of the Nadaraya-Watson regression with the Epanechnikov kernel, in single
// precision as in the paper. Every thread sorts the distances of all observations from its own, in
// its row of two n x n matrices, by an iterative quicksort, and adds them up over ascending
// bandwidths into its row of two n x k matrices. One block reduces them to sums over observations
// and to the minimum of these. 512 threads a block, as section 4 of the paper found best.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o rohlfs-zahran rohlfs-zahran.cu
//   ./rohlfs-zahran [n [k]]      prints: paper n k seconds (data from and to the host)
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "check.cuh"

namespace {

constexpr int kThreads = 512;
constexpr int kMaxBandwidths = 2048;  // in constant memory
/// The stack of the quicksort, which takes the shorter part first: log2(n) would be enough.
constexpr int kDepth = 64;

__constant__ float bandwidth[kMaxBandwidths];

/// Sorts ascending by `key` and moves `value` along.
__device__ void quicksort(float* key, float* value, int n) {
  int begin[kDepth], end[kDepth], level = 0;
  begin[0] = 0;
  end[0] = n;
  while (level >= 0) {
    int left = begin[level], right = end[level] - 1;
    if (left >= right) {
      --level;
      continue;
    }
    const float pivot = key[left], beside = value[left];
    while (left < right) {
      while (key[right] >= pivot && left < right) --right;
      if (left < right) {
        key[left] = key[right];
        value[left++] = value[right];
      }
      while (key[left] <= pivot && left < right) ++left;
      if (left < right) {
        key[right] = key[left];
        value[right--] = value[left];
      }
    }
    key[left] = pivot;
    value[left] = beside;
    begin[level + 1] = left + 1;
    end[level + 1] = end[level];
    end[level] = left;
    if (end[level + 1] - begin[level + 1] > end[level] - begin[level]) {
      const int b = begin[level], e = end[level];
      begin[level] = begin[level + 1];
      end[level] = end[level + 1];
      begin[level + 1] = b;
      end[level + 1] = e;
    }
    ++level;
  }
}

/// The squared residuals of observation j at every bandwidth: squares[b * n + j].
__global__ void residuals(const float* x, const float* y, int n, int k, float* distances,
                          float* values, float* denominators, float* numerators, float* squares) {
  const int j = blockDim.x * blockIdx.x + threadIdx.x;
  if (j >= n) return;
  float* distance = distances + static_cast<std::size_t>(j) * n;
  float* value = values + static_cast<std::size_t>(j) * n;
  float* denominator = denominators + static_cast<std::size_t>(j) * k;
  float* numerator = numerators + static_cast<std::size_t>(j) * k;
  for (int i = 0; i < n; ++i) {
    distance[i] = fabsf(x[i] - x[j]);
    value[i] = y[i];
  }
  quicksort(distance, value, n);
  // Sums of 1 and of squared distances, with and without y; the matrices hold the results.
  float ones = 0.0f, of_y = 0.0f, of_squares = 0.0f, of_both = 0.0f;
  int i = 0;
  for (int b = 0; b < k; ++b) {
    const float h = bandwidth[b];
    for (; i < n && distance[i] < h; ++i) {
      const float square = distance[i] * distance[i];
      ones += 1.0f;
      of_y += value[i];
      of_squares += square;
      of_both += square * value[i];
    }
    denominator[b] = 0.75f * (ones - of_squares / (h * h));
    numerator[b] = 0.75f * (of_y - of_both / (h * h));
  }
  for (int b = 0; b < k; ++b) {
    // Without the observation itself, at distance 0.
    const float rest = denominator[b] - 0.75f, sum = numerator[b] - 0.75f * y[j];
    const float residual = y[j] - sum / rest;
    squares[static_cast<std::size_t>(b) * n + j] = rest > 0.0f ? residual * residual : 0.0f;
  }
}

/// One block: the sum of n squares.
__global__ void add_squares(const float* squares, int n, float* score) {
  __shared__ float sum[kThreads];
  float mine = 0.0f;
  for (int j = threadIdx.x; j < n; j += kThreads) mine += squares[j];
  sum[threadIdx.x] = mine;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half) sum[threadIdx.x] += sum[threadIdx.x + half];
  }
  if (threadIdx.x == 0) *score = sum[0] / static_cast<float>(n);
}

/// One block: the bandwidth with the smallest score.
__global__ void min_score(const float* scores, int k, float* best) {
  __shared__ float score[kThreads], of[kThreads];
  score[threadIdx.x] = INFINITY;
  of[threadIdx.x] = 0.0f;
  for (int b = threadIdx.x; b < k; b += kThreads) {
    if (scores[b] < score[threadIdx.x]) {
      score[threadIdx.x] = scores[b];
      of[threadIdx.x] = bandwidth[b];
    }
  }
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    const int t = static_cast<int>(threadIdx.x);
    if (t < half && score[t + half] < score[t]) {
      score[t] = score[t + half];
      of[t] = of[t + half];
    }
  }
  if (threadIdx.x == 0) *best = of[0];
}

float* room(std::size_t count) {
  float* memory = nullptr;
  CHECK(cudaMalloc(&memory, count * sizeof(float)));
  return memory;
}

/// The scores of all bandwidths. Memory is allocated and freed in every call, as in the paper's
/// program.
std::vector<float> cross_validate(const std::vector<float>& x, const std::vector<float>& y,
                                  const std::vector<float>& h, float* best) {
  const std::size_t n = x.size(), k = h.size();
  float *on_x = room(n), *on_y = room(n), *distances = room(n * n), *values = room(n * n);
  float *denominators = room(n * k), *numerators = room(n * k), *squares = room(n * k);
  float *scores = room(k), *min = room(1);
  CHECK(cudaMemcpy(on_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(on_y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(bandwidth, h.data(), k * sizeof(float)));
  const unsigned blocks = static_cast<unsigned>((n + kThreads - 1) / kThreads);
  residuals<<<blocks, kThreads>>>(on_x, on_y, static_cast<int>(n), static_cast<int>(k), distances,
                                  values, denominators, numerators, squares);
  CHECK(cudaGetLastError());
  for (std::size_t b = 0; b < k; ++b) {
    add_squares<<<1, kThreads>>>(squares + b * n, static_cast<int>(n), scores + b);
    CHECK(cudaGetLastError());
  }
  min_score<<<1, kThreads>>>(scores, static_cast<int>(k), min);
  CHECK(cudaGetLastError());
  std::vector<float> found(k);
  CHECK(cudaMemcpy(found.data(), scores, k * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(best, min, sizeof(float), cudaMemcpyDeviceToHost));
  for (float* memory :
       {on_x, on_y, distances, values, denominators, numerators, squares, scores, min}) {
    CHECK(cudaFree(memory));
  }
  return found;
}

struct Data {
  std::vector<float> x, y, h;
};

/// Uniform x, bandwidths 1/k, 2/k, ..., 1, as in the paper.
Data make_data(int n, int k) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> uniform;
  Data data;
  for (int i = 0; i < n; ++i) {
    data.x.push_back(uniform(generator));
    data.y.push_back(0.5f * data.x[i] + 10 * data.x[i] * data.x[i] + 0.5f * uniform(generator));
  }
  for (int b = 1; b <= k; ++b) data.h.push_back(static_cast<float>(b) / static_cast<float>(k));
  return data;
}

/// The score at one bandwidth, by its definition.
double plain_score(const Data& data, double h) {
  double score = 0.0;
  for (std::size_t j = 0; j < data.x.size(); ++j) {
    double denominator = 0.0, numerator = 0.0;
    for (std::size_t i = 0; i < data.x.size(); ++i) {
      const double u = (data.x[i] - data.x[j]) / h;
      if (i == j || std::fabs(u) >= 1) continue;
      denominator += 1 - u * u;
      numerator += (1 - u * u) * data.y[i];
    }
    const double residual = data.y[j] - numerator / denominator;
    if (denominator > 0) score += residual * residual;
  }
  return score / static_cast<double>(data.x.size());
}

void check() {
  const Data data = make_data(1000, 10);
  float best = 0.0f;
  const std::vector<float> scores = cross_validate(data.x, data.y, data.h, &best);
  for (std::size_t b = 0; b < data.h.size(); ++b) {
    const double wanted = plain_score(data, data.h[b]);
    if (std::fabs(scores[b] - wanted) > 1e-3 * wanted) {
      std::fprintf(stderr, "score %g at %g, not %g\n", static_cast<double>(scores[b]),
                   static_cast<double>(data.h[b]), wanted);
      std::exit(1);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  const int n = count > 1 ? std::atoi(arguments[1]) : 20000;
  const int k = count > 2 ? std::atoi(arguments[2]) : 50;
  if (k > kMaxBandwidths) return 2;
  check();
  const Data data = make_data(n, k);
  std::vector<double> seconds;
  float best = 0.0f;
  for (int repetition = 0; repetition < 4; ++repetition) {
    const auto begin = std::chrono::steady_clock::now();
    cross_validate(data.x, data.y, data.h, &best);
    const auto end = std::chrono::steady_clock::now();
    if (repetition > 0) seconds.push_back(std::chrono::duration<double>(end - begin).count());
  }
  std::sort(seconds.begin(), seconds.end());
  std::printf("paper %d %d %g\n", n, k, seconds[1]);
  return 0;
}
