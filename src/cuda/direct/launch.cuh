// Which of the loops of sums.cuh and tensor.cuh a kernel takes, and the tiles that were fastest on
// an H200.
#ifndef KESTREL_CUDA_DIRECT_LAUNCH_CUH
#define KESTREL_CUDA_DIRECT_LAUNCH_CUH

#include <algorithm>
#include <cmath>

#include "cuda/base/device.cuh"
#include "cuda/direct/leaves.cuh"
#include "cuda/direct/sums.cuh"
#include "cuda/direct/tensor.cuh"
#include "gpu/gpu_abi.h"

namespace kestrel_cuda {

/// How a sum is launched: the kernel, and the threads and points of a block.
template <class Real>
struct Launch {
  void (*kernel)(SumTask<Real>);
  int threads, points;
};

template <class Value, class Real, int kPoints, int kSamples>
Launch<Real> tile_launch() {
  return {tile_sum<Value, Real, kPoints, kSamples>, kSide * kSide, kSide * kPoints};
}

template <class Real, template <class, class> class Form, class Value>
Launch<Real> form_launch() {
  return tile_launch < Form<Real, Value>, Real, 4, sizeof(Real) == 8 ? 4 : 8 > ();
}

/// Points a thread has, blocks of a multiprocessor, unrolled steps, order: see register_sum().
template <class Value, class Real, int D, int kPoints, int kBlocks, int kUnroll, Order kOrder>
Launch<Real> register_launch() {
  constexpr int kThreads = 256;
  return {register_sum<Value, Real, D, kPoints, kThreads, kBlocks, kUnroll, kOrder>, kThreads,
          kPoints * kThreads};
}

template <class Exp, int D>
Launch<double> doubles() {
  return register_launch<Gaussian<double, Exp>, double, D, 4, 1, 2, Order::pairs>();
}

template <class Exp, int D, int kBlocks = 1, int kUnroll = 2, Order kOrder = Order::pairs>
Launch<float> singles() {
  return register_launch<Gaussian<float, Exp>, float, D, 4, kBlocks, kUnroll, kOrder>();
}

/// The Gaussian kernel by differences: points are in registers as long as these suffice.
inline Launch<double> gaussian_launch(int d, double) {
  switch (d) {
    case 1: return doubles<Exp2Double, 1>();
    case 2: return doubles<Exp2Double, 2>();
    case 3: return doubles<Exp2Double, 3>();
    case 4: return doubles<Exp2Double, 4>();
    case 5: return doubles<Exp2Double, 5>();
    case 6: return doubles<Exp2Double, 6>();
    default: return tile_launch<Gaussian<double, Exp2Double>, double, 8, 4>();
  }
}

inline Launch<float> gaussian_launch(int d, float) {
  switch (d) {
    case 1: return singles<Exp2Single<8>, 1>();
    case 2: return singles<Exp2Single<0>, 2, 1, 1>();
    case 3: return singles<Exp2Single<0>, 3>();
    case 4: return singles<Exp2Single<0>, 4>();
    case 5: return singles<Exp2Single<0>, 5>();
    case 6: return singles<Exp2Single<0>, 6, 4, 8, Order::variables>();
    case 7: return singles<Exp2Single<0>, 7>();
    case 8: return singles<Exp2Single<0>, 8>();
    default: return tile_launch<Gaussian<float, Exp2Single<0>>, float, 8, 8>();
  }
}

/// The launch for one kernel; null if there is none in this precision.
template <kestrel::KernelForm kForm, int kInner, int kOuter, class Real>
Launch<Real> kernel_launch(bool product, int d) {
  constexpr bool kIndicator = kForm == kestrel::KernelForm::power && kOuter == 0;
  if constexpr (kForm == kestrel::KernelForm::gaussian) {
    return gaussian_launch(d, Real());
  } else if constexpr (!kIndicator) {
    using Value = Profile<kForm, kInner, kOuter>;
    return product ? form_launch<Real, Product, Value>() : form_launch<Real, Radial, Value>();
  } else if constexpr (sizeof(Real) == sizeof(double)) {
    return product ? tile_launch<ProductUniform, double, 4, 4>()
                   : tile_launch<Uniform, double, 4, 4>();
  } else {
    return {nullptr, 0, 0};
  }
}

template <class Real>
Launch<Real> launch_of(int leaf, int d, Real) {
  switch (leaf) {
#define KESTREL_KERNEL(name, form, inner, outer)                                   \
  case KESTREL_GPU_##name:                                                         \
    return kernel_launch<kestrel::KernelForm::form, inner, outer, Real>(false, d); \
  case KESTREL_GPU_product_##name:                                                 \
    return kernel_launch<kestrel::KernelForm::form, inner, outer, Real>(true, d);
#include "shared/kernels.def"
    default: return {nullptr, 0, 0};
  }
}

template <int D>
Launch<double> double_products() {
  return register_launch<GaussianProducts<double, Exp2Double>, double, D, 4, 1, 2, Order::pairs>();
}

template <class Exp, int D>
Launch<float> single_products() {
  return register_launch<GaussianProducts<float, Exp>, float, D, 4, 1, 2, Order::pairs>();
}

/// The Gaussian kernel by inner products, for points that are not too far away.
inline Launch<double> gaussian_products_launch(int d, double) {
  switch (d) {
    case 1: return double_products<1>();
    case 2: return double_products<2>();
    case 3: return double_products<3>();
    case 4: return double_products<4>();
    case 5: return double_products<5>();
    case 6: return double_products<6>();
    default: return tile_launch<GaussianProducts<double, Exp2Double>, double, 8, 4>();
  }
}

inline Launch<float> gaussian_products_launch(int d, float) {
  switch (d) {
    case 1: return single_products<Exp2Single<8>, 1>();
    case 2: return single_products<Exp2Single<8>, 2>();
    case 3: return single_products<Exp2Single<8>, 3>();
    case 4: return single_products<Exp2Single<0>, 4>();
    case 5: return single_products<Exp2Single<0>, 5>();
    case 6: return single_products<Exp2Single<0>, 6>();
    case 7: return single_products<Exp2Single<0>, 7>();
    case 8: return single_products<Exp2Single<0>, 8>();
    default: return tile_launch<GaussianProducts<float, Exp2Single<0>>, float, 8, 8>();
  }
}

/// Null for the other kernels.
template <class Real>
Launch<Real> products_launch(int leaf, int d) {
  if (leaf != KESTREL_GPU_gaussian) return {nullptr, 0, 0};
  return gaussian_products_launch(d, Real());
}

template <int kSlabs, int kTiles, int kThreads, int kBlocks, int kUnroll>
Launch<double> double_tensor() {
  return {tensor_sum_double<kSlabs, kTiles, kThreads, kBlocks, kUnroll>, kThreads,
          kThreads / 32 * kTiles * kTensorPoints};
}

template <int kSlabs, bool kAll>
Launch<float> single_tensor() {
  constexpr int kTiles = kSlabs == 1 && !kAll ? 4 : 2;
  return {tensor_sum_single<kSlabs, kTiles, 2, 4 / kTiles, kAll>, kTensorThreads,
          kTensorWarps * kTiles * kTensorPoints};
}

template <bool kAll>
Launch<double> gaussian_tensor_launch(int d, double) {
  static_assert(kAll, "double precision has no remainders");
  switch ((d + 7) / 8) {
    case 1: return double_tensor<1, 2, 128, 5, 2>();
    case 2: return double_tensor<2, 2, 128, 4, 2>();
    case 3: return double_tensor<3, 2, 128, 4, 2>();
    case 4: return double_tensor<4, 2, 256, 2, 1>();
    case 5: return double_tensor<5, 1, 256, 2, 1>();
    case 6: return double_tensor<6, 1, 256, 2, 1>();
    case 7: return double_tensor<7, 1, 256, 2, 1>();
    default: return double_tensor<8, 1, 256, 2, 1>();
  }
}

template <bool kAll>
Launch<float> gaussian_tensor_launch(int d, float) {
  switch ((d + 15) / 16) {
    case 1: return single_tensor<1, kAll>();
    case 2: return single_tensor<2, kAll>();
    case 3: return single_tensor<3, kAll>();
    default: return single_tensor<4, kAll>();
  }
}

/// Inner products on the tensor cores; null for other kernels or numbers of variables, or if the
/// code for the current device was compiled for one without them. Not kAll: without products of
/// remainders.
template <class Real, bool kAll = true>
Launch<Real> tensor_launch(int leaf, int d) {
  if (leaf != KESTREL_GPU_gaussian || d < kTensorFewest || d > kTensorMost) return {nullptr, 0, 0};
  const Launch<Real> launch = gaussian_tensor_launch<kAll>(d, Real());
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, launch.kernel), "asking for the tensor cores");
  return attributes.ptxVersion >= 80 ? launch : Launch<Real>{nullptr, 0, 0};
}

/// Whether an error of a kernel value is within the requested precision, and sums times 2^square
/// can be represented.
template <class Real>
bool holds(double error, double square) {
  constexpr bool kDouble = sizeof(Real) == sizeof(double);
  return error <= (kDouble ? 1e-12 : 9e-6) && square <= (kDouble ? 900.0 : 90.0);
}

/// The maximum that inner products add to the relative error of a kernel value, if the squared
/// lengths of samples and points are below `square` and exact except for one rounding. The sum
/// after variable k consists of (x - e)^2 in the variables up to k, for which differences make d
/// roundings, too, and otherwise of at most |e|^2 or |x|^2. The exponential multiplies an error by
/// log(2).
template <class Real>
double products_error(int d, double square) {
  constexpr double kRounding = sizeof(Real) == sizeof(double) ? 0x1p-53 : 0x1p-24;
  return (d + 2) * kRounding * kestrel::kLn2 * square;
}

template <class Real>
bool products_hold(int d, double square) {
  return holds<Real>(products_error<Real>(d, square), square);
}

/// The tensor cores add products up in an order of their own. A part of the sum without the
/// sample's weight is at most |x|^2 + |e|^2 instead of the larger one of these. The exponential is
/// that of the long table.
inline bool tensor_products_hold(int d, double square) {
  return holds<double>(2 * products_error<double>(d, square) + 1.8e-14, square);
}

/// The unit of the grid of tensor_sum_single(), if squared lengths are at most `square`.
inline float grid_unit(double square) {
  const float least = static_cast<float>(std::sqrt(square) / kGridRadius);
  return least <= kFinestUnit ? kFinestUnit : std::exp2(std::ceil(std::log2(least)));
}

/// The same for tensor_sum_single(), if remainders have lengths of at most `remainder`, and lose
/// vectors of length `lost`: 2 |x| |e - e'| and 2 |x' - x| |e|; 3 d truncated additions of products
/// of a coordinate and a remainder, twice two of them; two roundings of numbers up to `square`, of
/// the weight and of the sum of both parts; and, without `all`, twice the product of two
/// remainders.
inline bool grid_holds(int d, double square, double remainder, double lost, bool all) {
  const double length = std::sqrt(square);
  const double error = 4 * length * lost + 3 * d * 0x1p-23 * 4 * length * remainder +
                       2 * 0x1p-24 * square + (all ? 0.0 : 2 * remainder * remainder);
  return holds<float>(kestrel::kLn2 * error, square);
}

}  // namespace kestrel_cuda

#endif
