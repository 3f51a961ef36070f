// Cross-validation of regression for the fake CUDA object: the fits of src/cuda, compiled for the
// host, one observation after the other; Gaussian sums by a plain loop.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "cuda/regression/fit.cuh"
#include "fake-cuda.hpp"

using namespace kestrel_cuda;

namespace {

struct Fitter {
  int device = 0;
  const kestrel_gpu_regression* request = nullptr;
  RegressionSample sample{};
  LocalFit (*fit)(const Fitter&, unsigned i, double h) = nullptr;
  double reach = 0.0, cut = 0.0;
  std::vector<double> x, y, w;
  std::vector<double2> block;
};

template <int kPowers>
void make_all_blocks(Fitter& fitter) {
  RegressionSample& sample = fitter.sample;
  unsigned all = 0;
  for (unsigned level = 0; level < kLevels; ++level) {
    sample.first[level] = all;
    all += sample.n >> kLeafBits >> level;
  }
  fitter.block.resize(std::size_t{all} * 2 * (kPowers + 2));
  sample.block = fitter.block.data();
  for (unsigned level = 0; level < kLevels; ++level) {
    for (unsigned b = 0; b < sample.n >> kLeafBits >> level; ++b) {
      if (level == 0) {
        make_leaf<kPowers>(sample, b);
      } else {
        make_block<kPowers>(sample, level, b);
      }
    }
  }
}

double itself(double value) { return value; }

template <class K, bool kLinear>
LocalFit fit_polynomial(const Fitter& fitter, unsigned i, double h) {
  const Window window = window_of(fitter.sample, i, h, K::kClosed);
  const LocalFit fit = polynomial_fit<K, kLinear>(fitter.sample, window, i, h);
  return fit.unstable ? direct_fit<K>(fitter.sample, window, i, h, 0, 1, itself) : fit;
}

template <bool kLinear>
LocalFit fit_gaussian(const Fitter& fitter, unsigned i, double h) {
  const RegressionSample& sample = fitter.sample;
  const Window window = window_of(sample, i, fitter.reach * h, false);
  const double nearest = nearest_neighbour(sample.x, window.first, window.end, i) / h;
  LocalSums sums;
  for (unsigned j = window.first; j < window.end; ++j) {
    const double u = (sample.x[j] - sample.x[i]) / h;
    const double d = sample.above(sample.x[j], sample.y[j], sample.x[i], sample.y[i]);
    if (j == i || u * u > nearest * nearest + fitter.cut) continue;
    const double weight =
        sample.weight(j) * std::exp(kestrel::gaussian_log_ratio(std::fabs(u), nearest, 1.0));
    sums.s0 += weight;
    sums.r0 += weight * d;
    sums.s1 += weight * u;
    sums.size += weight * std::fabs(u);
    sums.r1 += weight * u * d;
    sums.s2 += weight * u * u;
  }
  bool alone = true;
  const int seen = places(sample, window, i, &alone);
  LocalFit fit = fit_from(sums, kLinear, seen, std::exp(-0.5 * nearest * nearest), sample.slope);
  fit.exact = kLinear && kestrel::is_exact(alone, seen);
  return fit.unstable ? direct_fit<GaussianFit>(sample, window, i, h, 0, 1, itself) : fit;
}

template <kestrel::KernelForm kForm, int kInner, int kOuter, bool kLinear>
void make_kernel(Fitter& fitter) {
  using K = FitKernel<kForm, kInner, kOuter>;
  if constexpr (K::kGaussian) {
    fitter.fit = fit_gaussian<kLinear>;
  } else if constexpr (kForm == kestrel::KernelForm::power) {
    make_all_blocks<K::kDegree + (kLinear ? 2 : 0)>(fitter);
    fitter.fit = fit_polynomial<K, kLinear>;
  }
}

template <bool kLinear>
void make_ready(Fitter& fitter, int kernel) {
  switch (kernel) {
#define KESTREL_KERNEL(name, form, inner, outer) \
  case KESTREL_GPU_##name:                       \
    return make_kernel<kestrel::KernelForm::form, inner, outer, kLinear>(fitter);
#include "shared/kernels.def"
  }
}

void sort_into(const kestrel_gpu_regression& regression, Fitter& fitter) {
  std::vector<std::size_t> order(regression.n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return regression.x[a] < regression.x[b]; });
  for (const std::size_t i : order) {
    fitter.x.push_back(regression.x[i]);
    fitter.y.push_back(regression.y[i]);
    if (regression.w != nullptr) fitter.w.push_back(regression.w[i]);
  }
  fitter.sample.x = fitter.x.data();
  fitter.sample.y = fitter.y.data();
  fitter.sample.w = regression.w != nullptr ? fitter.w.data() : nullptr;
  fitter.sample.n = static_cast<unsigned>(regression.n);
  fitter.sample.unit = regression.unit;
  if (regression.linear != 0) {
    fitter.sample.slope = kestrel::local_trend(fitter.sample.x, fitter.sample.y, fitter.sample.w,
                                               fitter.sample.n, regression.trend);
  }
  fitter.reach = regression.reach;
  fitter.cut = regression.cut;
}

}  // namespace

int fake_regression_open(int device, const kestrel_gpu_regression* request, const void*,
                         void** regression, char* problem, std::size_t room) {
  const int code = fake_failing("FAKE_CUDA_OPEN", device, problem, room);
  if (code != KESTREL_GPU_OK) return code;
  auto* const fitter = new Fitter;
  fitter->device = device;
  fitter->request = request;
  sort_into(*request, *fitter);
  if (request->linear != 0) {
    make_ready<true>(*fitter, request->kernel);
  } else {
    make_ready<false>(*fitter, request->kernel);
  }
  *regression = fitter;
  fake_holds(1);
  return KESTREL_GPU_OK;
}

int fake_regression_sums(void* regression, std::size_t first, std::size_t count, double* sum,
                         kestrel_gpu_poll poll, void* context, char* problem, std::size_t room) {
  const Fitter& fitter = *static_cast<const Fitter*>(regression);
  const int code = fake_failing("FAKE_CUDA_REGRESSION", fitter.device, problem, room);
  if (code != KESTREL_GPU_OK) return code;
  for (std::size_t k = 0; k < count; ++k, sum += kestrel::kFitTotals) {
    const double fraction = static_cast<double>(k) / static_cast<double>(count);
    if (fake_asked(poll, context, fraction) != 0) return KESTREL_GPU_STOPPED;
    FitTotals totals;
    for (unsigned i = 0; i < fitter.sample.n; ++i) {
      totals.add(fitter.fit(fitter, i, fitter.request->bandwidth[first + k]),
                 fitter.sample.weight(i));
    }
    sum[0] = totals.squares;
    sum[1] = totals.in_sample;
    sum[2] = totals.trace;
    sum[3] = totals.unsupported;
  }
  return KESTREL_GPU_OK;
}

void fake_regression_close(void* regression) {
  fake_holds(-1);
  delete static_cast<Fitter*>(regression);
}
