// 2^v for v <= 0 (or not far above), as sums of the Gaussian kernel need it: each object adds 2^v
// to a total. The weight of a sample is in v, as its logarithm.
#ifndef KESTREL_CUDA_BASE_EXP2_CUH
#define KESTREL_CUDA_BASE_EXP2_CUH

namespace kestrel_cuda {

/// 2^v in double. v = k + j/64 + r, |r| <= 1/128: 2^(j/64) stands in a table in shared memory, 2^r
/// is a polynomial of degree 4 that interpolates at Chebyshev nodes (relative error below 2.5e-15,
/// the next term: (log(2) / 128)^5 / (2^4 5!)). Needs |v| < 2^25. A block makes the object with all
/// of its threads, and they meet at a barrier before add().
class Exp2Double {
 public:
  /// Entry j is 2^(j/64) less the bits that adding j << 14 to its high word will put there.
  __device__ Exp2Double() {
    __shared__ double entries[kEntries];
    for (int j = threadIdx.x; j < kEntries; j += blockDim.x) {
      const double entry = exp2(j * 0x1p-6);
      entries[j] = __hiloint2double(__double2hiint(entry) - (j << 14), __double2loint(entry));
    }
    table_ = entries;
  }

  __device__ __forceinline__ void add(double v, int, double& total) const {
    double power, p;
    factors(v, power, p);
    total = fma(power, p, total);
  }

  /// 2^v itself, 0 below 2^-1021.
  __device__ __forceinline__ double of(double v) const {
    double power, p;
    factors(v, power, p);
    return __double2hiint(power) == 0 ? 0.0 : power * p;
  }

 private:
  static constexpr int kEntries = 64;
  const double* table_;

  /// 2^v = power * p
  __device__ __forceinline__ void factors(double v, double& power, double& p) const {
    // Adding 1.5 * 2^46 rounds to 1/64; then 64 (k + j/64) stands in the low word.
    constexpr double kShift = 0x1.8p+46;
    const double shifted = v + kShift;
    const double r = v + (kShift - shifted);
    const int bits = __double2loint(shifted);
    p = 0x1.3b2ad0385b409p-7;
    p = fma(p, r, 0x1.c6b0c40d8c4e9p-5);
    p = fma(p, r, 0x1.ebfbdff82ac52p-3);
    p = fma(p, r, 0x1.62e42fefa0352p-1);
    p = fma(p, r, 1.0);
    const double entry = table_[bits & (kEntries - 1)];
    // Below 2^-1021 nothing is left but a denormal of at most 2^-1042; see add_chunks().
    const int high = bits < -1021 * kEntries ? 0 : __double2hiint(entry) + (bits << 14);
    power = __hiloint2double(high, __double2loint(entry));
  }
};

/// 2^v in single by the processor's own instruction, relative error 2^-22.5; zero below 2^-126. One
/// in `kOneIn` of them (0: none) is computed by a polynomial of degree 5 (2e-7) on the multiply-add
/// units instead, which are idle where there are few variables.
template <int kOneIn>
class Exp2Single {
 public:
  /// `index`: a constant that counts the values of one step of an unrolled loop.
  __device__ __forceinline__ void add(float v, int index, float& total) const {
    float value;
    if (kOneIn > 0 && index % (kOneIn > 0 ? kOneIn : 1) == 0) {
      value = polynomial(v);
    } else {
      asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(v));
    }
    total += value;
  }

  /// 2^v itself.
  static __device__ __forceinline__ float of(float v) {
    float value;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(v));
    return value;
  }

 private:
  static __device__ __forceinline__ float polynomial(float v) {
    constexpr float kShift = 0x1.8p+23f;
    v = fmaxf(v, -126.0f);
    const float shifted = v + kShift;
    const float r = v + (kShift - shifted);
    float p = 0x1.5ec866p-10f;
    p = fmaf(p, r, 0x1.3cbf6p-7f);
    p = fmaf(p, r, 0x1.c6afeep-5f);
    p = fmaf(p, r, 0x1.ebfa4cp-3f);
    p = fmaf(p, r, 0x1.62e43p-1f);
    p = fmaf(p, r, 1.0f);
    return __int_as_float(__float_as_int(p) + (__float_as_int(shifted) << 23));
  }
};

}  // namespace kestrel_cuda

#endif
