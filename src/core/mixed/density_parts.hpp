// What densities of mixed data and their criteria are made of, whoever sums up the kernels.
#ifndef KESTREL_CORE_MIXED_DENSITY_PARTS_HPP
#define KESTREL_CORE_MIXED_DENSITY_PARTS_HPP

#include <cmath>
#include <cstddef>

#include "core/mixed/mixed_parts.hpp"

namespace kestrel {

/// The logarithm of what the products of kernels are multiplied by to be densities.
double log_density_scale(const MixedKernel& kernel, const MixedGiven& given);

/// The kernels of a density or distribution function: of all columns and, if it is conditional, of
/// those that are given, whose kernels are those of a density.
struct DensityKernels {
  /// Throws as check_mixed_kernel().
  DensityKernels(const MixedSample& sample, const MixedKernel& kernel, const MixedGiven& given);
  const MixedKernel* second() const { return conditional ? &below : nullptr; }

  MixedKernel whole, below;
  bool conditional;
};

/// The terms of mixed_log_likelihood().
class LikelihoodTerms {
 public:
  LikelihoodTerms(const MixedSample& sample, const DensityKernels& kernels,
                  const MixedGiven& given);

  /// Adds an observation whose leave-one-out sums of kernels have the logarithms `whole` and, if
  /// the density is conditional, `below`, -HUGE_VAL where they are not positive. by(k) and
  /// by_below(k): their derivatives by parameter k.
  template <class By, class Below>
  void add(double whole, double below, const By& by, const Below& by_below, MixedSums& to) const {
    const bool positive = whole > -HUGE_VAL && (!conditional_ || below > -HUGE_VAL);
    const double value = positive ? whole + scale_ : -HUGE_VAL;
    if (!(value >= kLogLeastDensity) && !(conditional_ && positive)) {
      to.value += kLogLeastDensity;
      ++to.unsupported;
      return;
    }
    to.value += value - (conditional_ ? below : count_);
    for (std::size_t k = 0; k < to.by.size(); ++k) {
      to.by[k] += by(k) - (k < columns_ && !given_[k] ? 1.0 : 0.0);
      if (conditional_ && given_[k]) to.by[k] -= by_below(k);
    }
  }

 private:
  const bool conditional_;
  const double scale_, count_;
  const MixedGiven& given_;
  const std::size_t columns_;
};

/// mixed_squared_error() is the sum over all observations of `with` times the sum of the kernels
/// `twice` of all observations, and `without` times that of the kernels `once` of all others.
struct SquaredErrorKernels {
  /// Throws as check_mixed_kernel().
  SquaredErrorKernels(const MixedSample& sample, const MixedKernel& kernel);

  MixedKernel once, twice;
  double with, without;

  /// Adds an observation's sum of kernels, times `factor`, and its derivatives by(k).
  template <class By>
  void add(double factor, double sum, const By& by, MixedSums& to) const {
    to.value += factor * sum;
    for (std::size_t k = 0; k < to.by.size(); ++k) {
      to.by[k] += factor * (by(k) - (k < once.h.size() ? sum : 0.0));
    }
  }
};

}  // namespace kestrel

#endif
