// The product kernel of mixed data: continuous columns, factors and ordered factors.
#ifndef KESTREL_CORE_MIXED_MIXED_KERNEL_HPP
#define KESTREL_CORE_MIXED_MIXED_KERNEL_HPP

#include <vector>

#include "core/kernel/gaussian_order.hpp"
#include "core/kernel/kernel.hpp"
#include "simd/mixed/mixed.hpp"

namespace kestrel {

/// Kernels of a factor with c levels (Aitchison & Aitken 1976; Li & Racine 2003). Equal levels,
/// others: 1 - lambda, lambda / (c - 1), lambda <= (c - 1) / c; 1, lambda, lambda <= 1.
enum class FactorKernel { aitchison_aitken, li_racine };

/// Kernels of an ordered factor whose levels are `apart`: 1 - lambda, and (1 - lambda) lambda^apart
/// / 2 for different levels (Wang & van Ryzin 1981); lambda^apart (Li & Racine 2007); and this
/// divided by its sum over all levels, seen from the observation (Racine, Li & Yan 2020). Each for
/// lambda <= 1.
enum class OrderedKernel { wang_van_ryzin, li_racine, racine_li_yan };

/// A value of a kernel and its derivative by lambda.
struct FactorValue {
  double value, slope;
};
FactorValue factor_value(FactorKernel kernel, bool same, double lambda, int levels);
/// From an observation with one level to a point with another, both 1 .. levels.
FactorValue ordered_value(OrderedKernel kernel, double observation, double point, double lambda,
                          int levels);

/// The kernel of continuous columns is not divided by its integral: at 0 it is 1.
struct MixedKernel {
  /// gaussian (h: the standard deviation), epanechnikov (support sqrt(5) h) or uniform (support h),
  /// all of which have variance h^2 but for the last; orders 2, 4, 6 and 8, of the uniform 2 only.
  Kernel continuous = Kernel::gaussian;
  int order = 2;
  FactorKernel factor = FactorKernel::aitchison_aitken;
  OrderedKernel ordered = OrderedKernel::li_racine;
  /// A bandwidth for each continuous column, infinity if all weigh the same by it; and lambda for
  /// each factor and then each ordered factor.
  std::vector<double> h, lambda;
  bool local_linear = false;
};

/// Q and P of simd::MixedProduct.
struct ContinuousKernel {
  explicit ContinuousKernel(const MixedKernel& kernel);

  simd::MixedWindow window;
  bool plain;  // Q and P are 1
  SquarePolynomial q, p;
};

/// Throws error(input) unless the kernel, its order and the numbers of bandwidths fit, bandwidths
/// are positive and lambdas are in [0, 1].
void check_mixed_kernel(const MixedKernel& kernel, std::size_t continuous, std::size_t factors);

}  // namespace kestrel

#endif
