// The product kernel of mixed data: continuous columns, factors and ordered factors.
#ifndef KESTREL_CORE_MIXED_MIXED_KERNEL_HPP
#define KESTREL_CORE_MIXED_MIXED_KERNEL_HPP

#include <vector>

#include "core/data/neighbours.hpp"
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

/// `weights`: the kernels as above. `density`: divided by their sums over all levels, those of
/// ordered factors over all whole numbers (but for racine_li_yan), so that they are probabilities
/// of levels. `convolution`: the sum of the products of two of these, those seen from the
/// observation and from the point; of continuous columns the integral. `distribution`: the sum of
/// `density` over all levels up to the point; of continuous columns the integral of the kernel that
/// integrates to 1. `derivative`: of the kernels of continuous columns by the point, times h;
/// factors as `density`.
enum class MixedForm { weights, density, convolution, distribution, derivative };

/// The kernel of continuous columns is not divided by its integral: at 0 it is 1.
struct MixedKernel {
  /// gaussian (h: the standard deviation) or epanechnikov (support sqrt(5) h), both with variance
  /// h^2 and orders 2, 4, 6 and 8, or another one (support h) with order 2.
  Kernel continuous = Kernel::gaussian;
  int order = 2;
  FactorKernel factor = FactorKernel::aitchison_aitken;
  OrderedKernel ordered = OrderedKernel::li_racine;
  /// A bandwidth for each continuous column, and lambda for each factor and then each ordered
  /// factor. All weigh the same by those that are infinite. Unless `type` is fixed, h are numbers
  /// of neighbours, see MixedNeighbours.
  std::vector<double> h, lambda;
  BandwidthType type = BandwidthType::fixed;
  bool local_linear = false;
  MixedForm form = MixedForm::weights;
  /// The forms of each column and factor, in the order of h and lambda. None: all have `form`.
  std::vector<MixedForm> forms;

  MixedForm form_of(std::size_t k) const { return forms.empty() ? form : forms[k]; }
};

/// A value of a kernel and its derivative by lambda.
struct FactorValue {
  double value, slope;
};
FactorValue factor_value(const MixedKernel& kernel, MixedForm form, bool same, double lambda,
                         int levels);
/// From an observation with one level to a point with another.
FactorValue ordered_value(const MixedKernel& kernel, MixedForm form, double observation,
                          double point, double lambda, int levels);

/// Q and P of simd::MixedProduct, which are of u / h times `scale`, with their `terms` and then the
/// `inner` ones. Where they are empty they are 1 or, Q of a distribution function, 0.
struct ContinuousKernel {
  ContinuousKernel(const MixedKernel& kernel, MixedForm form);

  simd::MixedWindow window;
  int terms, inner = 0;
  std::vector<double> q, p;
  double scale = 1.0;
  bool odd = false;
  /// What values are multiplied by, as are those of a kernel that integrates to 1, apart from the
  /// bandwidth's power -`powers`.
  double constant;
  int powers = 1;

 private:
  void take_below(const MixedKernel& kernel);
  void take_convolution(const MixedKernel& kernel);
  void take_support(Kernel kernel);
};

/// Throws error(input) unless the kernel, its order and the numbers of bandwidths fit, bandwidths
/// are positive and lambdas are in [0, 1].
void check_mixed_kernel(const MixedKernel& kernel, std::size_t continuous, std::size_t factors);

}  // namespace kestrel

#endif
