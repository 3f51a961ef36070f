// What criteria of mixed data share: kernels of some columns, and sums of work items.
#ifndef KESTREL_CORE_MIXED_MIXED_PARTS_HPP
#define KESTREL_CORE_MIXED_MIXED_PARTS_HPP

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/mixed/mixed_density.hpp"

namespace kestrel {

/// The logarithm that counts for a density below the least normal number.
inline const double kLogLeastDensity = std::log(std::numeric_limits<double>::min());

/// The kernel of some columns and factors: those that are given, or not.
inline MixedKernel part_of(const MixedKernel& kernel, const MixedGiven& given, bool wanted,
                           MixedForm form) {
  MixedKernel part = kernel;
  part.form = form;
  part.forms.clear();
  part.local_linear = false;
  for (std::size_t k = 0; k < given.size(); ++k) {
    if (given[k] == wanted) continue;
    (k < part.h.size() ? part.h[k] : part.lambda[k - part.h.size()]) = HUGE_VAL;
  }
  return part;
}

/// The sums of a work item for a criterion, and their derivatives by the parameters.
struct MixedSums {
  double value = 0;
  std::vector<double> by;
  std::size_t unsupported = 0, ridged = 0;
};

/// The sum of all parts divided by `count`.
inline MixedCriterion mean_of(const std::vector<MixedSums>& parts, std::size_t parameters,
                              double count) {
  MixedCriterion found;
  found.gradient.assign(parameters, 0.0);
  for (const MixedSums& part : parts) {
    found.value += part.value;
    found.unsupported += part.unsupported;
    found.ridged += part.ridged;
    for (std::size_t k = 0; k < part.by.size(); ++k) found.gradient[k] += part.by[k];
  }
  found.value /= count;
  for (double& by : found.gradient) by /= count;
  return found;
}

}  // namespace kestrel

#endif
