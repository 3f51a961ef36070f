// Values of the kernels: v is minus the squared distance or, for product kernels, the weight times
// the values so far. A value object is constructed from the sum's task and has
//   start(weight)                  v before the first variable
//   kPointScale                    points' coordinates are multiplied by this
//   extend(x, e, k, v)             updates v by variable k of sample x and (scaled) point e
//   add(v, weight, pair, total)    adds weight * value to the total
#ifndef KESTREL_CUDA_DIRECT_LEAVES_CUH
#define KESTREL_CUDA_DIRECT_LEAVES_CUH

#include "cuda/base/exp2.cuh"
#include "cuda/direct/sums.cuh"
#include "shared/coordinates.hpp"
#include "shared/profile.hpp"

namespace kestrel_cuda {

/// The profile of a continuous compact kernel.
template <kestrel::KernelForm kForm, int kInner, int kOuter>
struct Profile {
  template <class Real>
  static __device__ __forceinline__ Real of(Real v) {
    return kestrel::number::profile<kForm, kInner, kOuter>(v);
  }
};

template <class Real, class Exp>
struct Gaussian {
  static constexpr Real kPointScale = 1;
  Exp exponential;
  __device__ explicit Gaussian(const SumTask<Real>&) {}
  __device__ __forceinline__ Real start(Real weight) const { return weight; }
  __device__ __forceinline__ void extend(Real x, Real e, int, Real& v) const {
    const Real u = x - e;
    v = fma(-u, u, v);
  }
  __device__ __forceinline__ void add(Real v, Real, const PairIndex& pair, Real& total) const {
    exponential.add(v, pair.index, total);
  }
};

/// The Gaussian kernel by inner products: |x - e|^2 = |x|^2 - 2 x.e + |e|^2 costs one operation a
/// variable where differences cost two. The weight of a sample is log2(w) - |x|^2, points are
/// doubled, and the result is the kernel sum times 2^(|e|^2). products_error() says when this is
/// accurate enough.
template <class Real, class Exp>
struct GaussianProducts {
  static constexpr Real kPointScale = 2;
  Exp exponential;
  __device__ explicit GaussianProducts(const SumTask<Real>&) {}
  __device__ __forceinline__ Real start(Real weight) const { return weight; }
  __device__ __forceinline__ void extend(Real x, Real e, int, Real& v) const { v = fma(x, e, v); }
  __device__ __forceinline__ void add(Real v, Real, const PairIndex& pair, Real& total) const {
    exponential.add(v, pair.index, total);
  }
};

template <class Real, class Value>
struct Radial {
  static constexpr Real kPointScale = 1;
  __device__ explicit Radial(const SumTask<Real>&) {}
  __device__ __forceinline__ Real start(Real) const { return 0; }
  __device__ __forceinline__ void extend(Real x, Real e, int, Real& v) const {
    const Real u = x - e;
    v = fma(-u, u, v);
  }
  __device__ __forceinline__ void add(Real v, Real weight, const PairIndex&, Real& total) const {
    total = fma(Value::of(v), weight, total);
  }
};

template <class Real, class Value>
struct Product {
  static constexpr Real kPointScale = 1;
  __device__ explicit Product(const SumTask<Real>&) {}
  __device__ __forceinline__ Real start(Real weight) const { return weight; }
  __device__ __forceinline__ void extend(Real x, Real e, int, Real& v) const {
    const Real u = x - e;
    v *= Value::of(-u * u);
  }
  __device__ __forceinline__ void add(Real v, Real, const PairIndex&, Real& total) const {
    total += v;
  }
};

/// 1 inside the ellipsoid. Whitened coordinates decide, except for pairs that they put at the rim:
/// there the data as given decide.
struct Uniform {
  static constexpr double kPointScale = 1;
  const SumTask<double>& task;
  __device__ explicit Uniform(const SumTask<double>& sum) : task(sum) {}
  __device__ __forceinline__ double start(double) const { return 0.0; }
  __device__ __forceinline__ void extend(double x, double e, int, double& v) const {
    const double u = x - e;
    v = fma(-u, u, v);
  }
  __device__ __forceinline__ void add(double v, double weight, const PairIndex& pair,
                                      double& total) const {
    bool inside = v > -1.0;
    if (fabs(1.0 + v) < kestrel::kRim && weight > 0 && pair.point < task.rim.points) {
      inside = decide(pair);
    }
    total += inside ? weight : 0.0;
  }

 private:
  KESTREL_HD __noinline__ bool decide(const PairIndex& pair) const {
    const Rim& rim = task.rim;
    double z[KESTREL_GPU_UNIFORM_VARIABLES];
    return kestrel::number::inside_ellipsoid(
        task.d,
        [&](std::size_t k) {
          return rim.x[k * rim.samples + pair.sample] - rim.e[k * rim.points + pair.point];
        },
        [&](std::size_t k) { return rim.root + k * task.d; }, z);
  }
};

/// 1 inside the box, decided by the data as given.
struct ProductUniform {
  static constexpr double kPointScale = 1;
  const SumTask<double>& task;
  __device__ explicit ProductUniform(const SumTask<double>& sum) : task(sum) {}
  __device__ __forceinline__ double start(double weight) const { return weight; }
  __device__ __forceinline__ void extend(double x, double e, int k, double& v) const {
    v = fabs(x - e) <= task.rim.root[k * task.d + k] ? v : 0.0;
  }
  __device__ __forceinline__ void add(double v, double, const PairIndex&, double& total) const {
    total += v;
  }
};

}  // namespace kestrel_cuda

#endif
