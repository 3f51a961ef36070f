// Profiles of the compact kernels as functions of a squared distance, for loops that are compiled
// for each kernel.
#ifndef KESTREL_CORE_KERNEL_COMPACT_PROFILE_HPP
#define KESTREL_CORE_KERNEL_COMPACT_PROFILE_HPP

#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

/// (1 - |u|^Inner)^Outer at q = |u|^2 in [0, 1].
template <int Inner, int Outer>
struct PowerProfile {
  /// Whether the value jumps at the edge, so that q = 1 belongs to the support.
  static constexpr bool closed = Outer == 0;

  double operator()(double q) const {
    const double power = Inner == 1 ? std::sqrt(q) : Inner == 3 ? q * std::sqrt(q) : q;
    double value = 1;
    for (int k = 0; k < Outer; ++k) value *= 1 - power;
    return value;
  }
};

struct CosineProfile {
  static constexpr bool closed = false;

  double operator()(double q) const { return std::cos(kPi / 2 * std::sqrt(q)); }
};

/// Calls body(profile) for the profile of a compact kernel.
template <class Body>
void with_compact_profile(Kernel kernel, const Body& body) {
  const KernelRow& row = row_of(kernel);
  if (row.form == KernelForm::cosine) return body(CosineProfile());
  switch (10 * row.inner + row.outer) {
    case 11: return body(PowerProfile<1, 1>());
    case 20: return body(PowerProfile<2, 0>());
    case 21: return body(PowerProfile<2, 1>());
    case 22: return body(PowerProfile<2, 2>());
    case 23: return body(PowerProfile<2, 3>());
    case 33: return body(PowerProfile<3, 3>());
    default: break;
  }
  throw error(ErrorKind::internal, std::string("no compact profile of kernel ") + row.name);
}

/// The constant of a radial kernel with H the identity.
inline double unit_scale(Kernel kernel, std::size_t d) {
  std::vector<double> root(d * d, 0.0);
  for (std::size_t k = 0; k < d; ++k) root[k * d + k] = 1;
  return kernel_scale({kernel, KernelType::radial}, d, {root.data(), root.size()}).times(1.0);
}

}  // namespace kestrel

#endif
