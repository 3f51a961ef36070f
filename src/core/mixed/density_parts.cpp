#include "core/mixed/density_parts.hpp"

#include <algorithm>

namespace kestrel {

double log_density_scale(const MixedKernel& kernel, const MixedGiven& given) {
  double sum = 0;
  for (std::size_t c = 0; c < kernel.h.size(); ++c) {
    if (given[c]) continue;
    const ContinuousKernel of(kernel, kernel.form_of(c));
    sum += std::log(of.constant) - of.powers * std::log(kernel.h[c]);
  }
  return sum;
}

DensityKernels::DensityKernels(const MixedSample& sample, const MixedKernel& kernel,
                               const MixedGiven& given)
    : conditional(std::find(given.begin(), given.end(), true) != given.end()) {
  check_mixed_kernel(kernel, sample.columns(), sample.factors() + sample.ordered());
  whole = part_of(kernel, MixedGiven(given.size(), true), true, MixedForm::density);
  below = part_of(kernel, given, true, MixedForm::density);
  if (kernel.form != MixedForm::distribution) return;
  for (const bool one : given) {
    whole.forms.push_back(one ? MixedForm::density : MixedForm::distribution);
  }
}

LikelihoodTerms::LikelihoodTerms(const MixedSample& sample, const DensityKernels& kernels,
                                 const MixedGiven& given)
    : conditional_(kernels.conditional),
      scale_(log_density_scale(kernels.whole, given)),
      count_(std::log(static_cast<double>(sample.size()) - 1)),
      given_(given),
      columns_(sample.columns()) {}

SquaredErrorKernels::SquaredErrorKernels(const MixedSample& sample, const MixedKernel& kernel)
    : once(kernel), twice(kernel) {
  check_mixed_kernel(kernel, sample.columns(), sample.factors() + sample.ordered());
  const MixedGiven none(kernel.h.size() + kernel.lambda.size(), false);
  once.form = MixedForm::density;
  once.local_linear = twice.local_linear = false;
  twice.form = MixedForm::convolution;
  const double n = static_cast<double>(sample.size());
  with = std::exp(log_density_scale(twice, none)) / (n * n);
  without = -2 * std::exp(log_density_scale(once, none)) / (n * (n - 1));
}

}  // namespace kestrel
