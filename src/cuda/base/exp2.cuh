// 2^v for v <= 0 (or not far above), for sums of the Gaussian kernel: add() adds 2^v to a total. v
// includes the logarithm of the sample's weight.
#ifndef KESTREL_CUDA_BASE_EXP2_CUH
#define KESTREL_CUDA_BASE_EXP2_CUH

#include "shared/exp2.hpp"

namespace kestrel_cuda {

template <bool kLong>
constexpr auto kExp2Series = kestrel::kExp2Table;
template <>
constexpr auto kExp2Series<true> = kestrel::kExp2LongTable;

/// 2^v in double by a table of shared/exp2.hpp, the first or the long one, in shared memory. Needs
/// |v| < kExp2Range, or a quarter of that. All threads of a block construct the object together,
/// and must pass a barrier before add().
template <bool kLong>
class Exp2Table {
 public:
  /// Entry j is 2^(j / kEntries), with j << kShiftToExponent subtracted from its high word, as
  /// factors() will add it there.
  __device__ Exp2Table() {
    __shared__ double entries[kEntries];
    for (int j = threadIdx.x; j < kEntries; j += blockDim.x) {
      const double entry = exp2(j * (1.0 / kEntries));
      entries[j] =
          __hiloint2double(__double2hiint(entry) - (j << kShiftToExponent), __double2loint(entry));
    }
    table_ = entries;
  }

  __device__ __forceinline__ void add(double v, int, double& total) const {
    double power, p;
    factors(v, power, p);
    total = fma(power, p, total);
  }

  /// 2^v itself, 0 below 2^kExp2Smallest.
  __device__ __forceinline__ double of(double v) const {
    double power, p;
    factors(v, power, p);
    return __double2hiint(power) == 0 ? 0.0 : power * p;
  }

 private:
  static constexpr int kEntryBits = kLong ? kestrel::kExp2LongEntryBits : kestrel::kExp2EntryBits;
  static constexpr int kEntries = 1 << kEntryBits;
  /// The exponent of a double begins at bit 20 of its high word.
  static constexpr int kShiftToExponent = 20 - kEntryBits;
  const double* table_;

  /// 2^v = power * p
  __device__ __forceinline__ void factors(double v, double& power, double& p) const {
    constexpr double kShift = kestrel::kRoundingShift / kEntries;
    constexpr auto series = kExp2Series<kLong>;
    const double shifted = v + kShift;
    const double r = v + (kShift - shifted);
    const int bits = __double2loint(shifted);
    p = series.c[series.kTerms - 1];
#pragma unroll
    for (int k = series.kTerms - 2; k >= 0; --k) p = fma(p, r, series.c[k]);
    const double entry = table_[bits & (kEntries - 1)];
    // Below this `power` is only a denormal of at most 2^-1042; see add_chunks().
    constexpr int kSmallest = static_cast<int>(kestrel::kExp2Smallest) * kEntries;
    const int high = bits < kSmallest ? 0 : __double2hiint(entry) + (bits << kShiftToExponent);
    power = __hiloint2double(high, __double2loint(entry));
  }
};

using Exp2Double = Exp2Table<false>;

/// 2^v in single precision by the processor's own instruction: relative error 2^-22.5, zero below
/// 2^-126. One in `kOneIn` values (0: none) is computed instead by a polynomial of degree 5 (error
/// 2e-7) on the multiply-add units, which are idle if there are few variables.
template <int kOneIn>
class Exp2Single {
 public:
  /// `index`: the number of the value in one step of an unrolled loop, a constant.
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
    constexpr float kShift = kestrel::kRoundingShiftSingle;
    constexpr auto series = kestrel::kExp2Single;
    v = fmaxf(v, static_cast<float>(kestrel::kExp2SmallestSingle));
    const float shifted = v + kShift;
    const float r = v + (kShift - shifted);
    float p = static_cast<float>(series.c[series.kTerms - 1]);
#pragma unroll
    for (int k = series.kTerms - 2; k >= 0; --k) p = fmaf(p, r, static_cast<float>(series.c[k]));
    return __int_as_float(__float_as_int(p) + (__float_as_int(shifted) << 23));
  }
};

}  // namespace kestrel_cuda

#endif
