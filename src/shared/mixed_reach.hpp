// How far the windows of mixed data reach, for the CPU and for CUDA.
#ifndef KESTREL_SHARED_MIXED_REACH_HPP
#define KESTREL_SHARED_MIXED_REACH_HPP

namespace kestrel {

/// How far the Epanechnikov kernel reaches, in bandwidths.
constexpr double kSqrt5 = 2.23606797749978969641;

/// No sample counts that is farther away, in bandwidths of a Gaussian kernel.
constexpr double kFarthestMixed = 38;

/// The distances beyond which windows are zero, in the units of the leaves (simd::MixedWindow), and
/// a little more. Beyond that of the Gaussian kernel it is below exp(-160) of its value at
/// kFarthestMixed. The last one is that of the windows that end at 1.
constexpr double kMixedGaussianReach = kFarthestMixed + 4;
constexpr double kMixedEpanechnikovReach = (1 + 1e-9) * kSqrt5;
constexpr double kMixedUnitReach = 1 + 1e-9;

}  // namespace kestrel

#endif
