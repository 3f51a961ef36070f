// The kernels on one axis, as queries integrate them.
#ifndef KESTREL_CORE_QUERY_LINE_KERNEL_HPP
#define KESTREL_CORE_QUERY_LINE_KERNEL_HPP

#include <cmath>

#include "core/kernel/kernel.hpp"

namespace kestrel {

/// Beyond this many bandwidths the normal kernel has less than 2e-18 of its mass.
constexpr double kWholeNormal = 8.7;

/// For a kernel on the line: the number of nodes of a rule that is enough for mass and variance,
/// the constant of the profile, and the second moment. A polynomial of degree p, times u^2, is
/// exact with (p + 3) / 2 nodes, rounded up; the cosine is good to 1e-17 with 13.
struct LineKernel {
  int nodes;
  double constant, second_moment;
};
inline LineKernel line_kernel(Kernel kernel) {
  if (!is_compact(kernel)) return {16, 1 / std::sqrt(2 * kPi), 1.0};
  const double half = radial_integral(kernel, 1.0, 0);
  const int nodes = is_polynomial(kernel) ? (kernel_degree(kernel) + 4) / 2 : 13;
  return {nodes, 0.5 / half, radial_integral(kernel, 1.0, 2) / half};
}

}  // namespace kestrel

#endif
