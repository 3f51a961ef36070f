#include "core/mixed/mixed_kernel.hpp"

#include <cmath>
#include <string>

#include "core/base/error.hpp"

namespace kestrel {

namespace {

constexpr FactorValue kIgnored{1.0, 0.0};

/// lambda^apart.
FactorValue power(double lambda, double apart) {
  if (apart == 0) return {1.0, 0.0};
  return {std::pow(lambda, apart), apart * std::pow(lambda, apart - 1)};
}

FactorValue product(const FactorValue& a, const FactorValue& b) {
  return {a.value * b.value, a.slope * b.value + a.value * b.slope};
}

FactorValue convolved_factor(FactorKernel kernel, bool same, double lambda, double others) {
  if (kernel == FactorKernel::aitchison_aitken) {
    if (same) {
      return {(1 - lambda) * (1 - lambda) + lambda * lambda / others,
              2 * lambda / others - 2 * (1 - lambda)};
    }
    const double rest = (others - 1) / (others * others);
    return {2 * lambda * (1 - lambda) / others + rest * lambda * lambda,
            (2 - 4 * lambda) / others + 2 * rest * lambda};
  }
  const double all = 1 + others * lambda;
  const FactorValue scale{1 / (all * all), -2 * others / (all * all * all)};
  if (same) return product({1 + others * lambda * lambda, 2 * others * lambda}, scale);
  return product({lambda * (2 + (others - 1) * lambda), 2 + 2 * (others - 1) * lambda}, scale);
}

}  // namespace

FactorValue factor_value(const MixedKernel& kernel, MixedForm form, bool same, double lambda,
                         int levels) {
  if (std::isinf(lambda)) return kIgnored;
  const double others = levels - 1;
  if (form == MixedForm::convolution) {
    return convolved_factor(kernel.factor, same, lambda, others);
  }
  if (kernel.factor == FactorKernel::li_racine) {
    const FactorValue plain = same ? FactorValue{1.0, 0.0} : FactorValue{lambda, 1.0};
    if (form == MixedForm::weights) return plain;
    const double all = 1 + others * lambda;
    return product(plain, {1 / all, -others / (all * all)});
  }
  if (same) return {1 - lambda, -1.0};
  return {lambda / others, 1 / others};
}

namespace {

/// Divided by the sum over the levels 1, 2, ..., seen from the observation.
FactorValue racine_li_yan(double observation, double point, double lambda, int levels) {
  const FactorValue one = power(lambda, std::fabs(observation - point));
  FactorValue all{0.0, 0.0};
  for (int level = 1; level <= levels; ++level) {
    const FactorValue other = power(lambda, std::fabs(observation - level));
    all.value += other.value;
    all.slope += other.slope;
  }
  return {one.value / all.value, (one.slope - one.value * all.slope / all.value) / all.value};
}

/// Sums over all whole numbers, as sums of geometric series.
FactorValue convolved_ordered(OrderedKernel kernel, double observation, double point, double lambda,
                              int levels) {
  const double apart = std::fabs(observation - point), less = 1 - lambda, more = 1 + lambda;
  if (kernel == OrderedKernel::racine_li_yan) {
    FactorValue sum{0.0, 0.0};
    for (int level = 1; level <= levels; ++level) {
      const FactorValue one = product(racine_li_yan(observation, level, lambda, levels),
                                      racine_li_yan(point, level, lambda, levels));
      sum.value += one.value;
      sum.slope += one.slope;
    }
    return sum;
  }
  if (kernel == OrderedKernel::li_racine) {
    const double squares = 1 + lambda * lambda, ratio = less / more;
    const FactorValue factor{
        less * squares / (more * more * more) + apart * ratio * ratio,
        ((2 * lambda * less - squares) * more - 3 * less * squares) / (more * more * more * more) -
            4 * apart * ratio / (more * more)};
    return product(power(lambda, apart), factor);
  }
  if (apart == 0) return {0.5 * (less * less + less / more), -less - 1 / (more * more)};
  return product(power(lambda, apart), {0.25 * ((1 + apart) * less * less + 2 * less / more),
                                        -0.5 * (1 + apart) * less - 1 / (more * more)});
}

}  // namespace

namespace {

/// Sums over all whole numbers up to the point.
FactorValue ordered_below(OrderedKernel kernel, double observation, double point, double lambda,
                          int levels) {
  if (kernel == OrderedKernel::racine_li_yan) {
    FactorValue sum{0.0, 0.0};
    for (int level = 1; level <= levels && level <= point; ++level) {
      const FactorValue one = racine_li_yan(observation, level, lambda, levels);
      sum.value += one.value;
      sum.slope += one.slope;
    }
    return sum;
  }
  const double apart = std::fabs(observation - point);
  const bool reached = point >= observation;
  FactorValue rest = power(lambda, reached ? apart + 1 : apart);
  if (kernel == OrderedKernel::wang_van_ryzin) {
    rest = {0.5 * rest.value, 0.5 * rest.slope};
  } else {
    const double more = 1 + lambda;
    rest = product(rest, {1 / more, -1 / (more * more)});
  }
  return reached ? FactorValue{1 - rest.value, -rest.slope} : rest;
}

}  // namespace

FactorValue ordered_value(const MixedKernel& kernel, MixedForm form, double observation,
                          double point, double lambda, int levels) {
  if (std::isinf(lambda)) return kIgnored;
  if (form == MixedForm::distribution) {
    return ordered_below(kernel.ordered, observation, point, lambda, levels);
  }
  if (form == MixedForm::convolution) {
    return convolved_ordered(kernel.ordered, observation, point, lambda, levels);
  }
  if (kernel.ordered == OrderedKernel::racine_li_yan) {
    return racine_li_yan(observation, point, lambda, levels);
  }
  const double apart = std::fabs(observation - point);
  const FactorValue one = power(lambda, apart);
  if (kernel.ordered == OrderedKernel::li_racine) {
    if (form == MixedForm::weights) return one;
    const double more = 1 + lambda;
    return product(one, {(1 - lambda) / more, -2 / (more * more)});
  }
  if (apart == 0) return {1 - lambda, -1.0};
  return product(one, {0.5 * (1 - lambda), -0.5});
}

void check_mixed_kernel(const MixedKernel& kernel, std::size_t continuous, std::size_t factors) {
  switch (kernel.continuous) {
    case Kernel::gaussian:
    case Kernel::epanechnikov:
      if (is_gaussian_order(kernel.order)) break;
      throw error(ErrorKind::input, "the order must be 2, 4, 6 or 8");
    default:
      if (kernel.order == 2) break;
      throw error(ErrorKind::input, "the order of this kernel must be 2");
  }
  if (kernel.h.size() != continuous || kernel.lambda.size() != factors ||
      continuous > static_cast<std::size_t>(simd::kMixedColumns)) {
    throw error(ErrorKind::input, "mixed data need a bandwidth for each of at most " +
                                      std::to_string(simd::kMixedColumns) + " columns");
  }
  for (const double h : kernel.h) {
    if (!(h > 0)) throw error(ErrorKind::input, "a bandwidth must be positive");
    if (kernel.type != BandwidthType::fixed && !(h >= 1 && h == std::floor(h) && h < 1e9)) {
      throw error(ErrorKind::input, "numbers of neighbours must be whole");
    }
  }
  for (const double lambda : kernel.lambda) {
    if (!(lambda >= 0 && (lambda <= 1 || std::isinf(lambda)))) {
      throw error(ErrorKind::input, "lambda must be in [0, 1], or infinite");
    }
  }
}

}  // namespace kestrel
