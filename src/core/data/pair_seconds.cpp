#include "core/data/pair_seconds.hpp"

namespace kestrel {

namespace {

/// Vector operations of a pair, beyond two for each variable. Timed with n = m = 3000 normal
/// samples (1000 for narrower vectors), 1 to 16 variables and every kernel, on the machine of
/// core/engine/density.hpp: right within a quarter with AVX-512 and within a factor of three with
/// narrower vectors, except for the uniform kernel (a factor of two in one dimension, more in
/// several).
double kernel_operations(Kernel kernel) { return is_polynomial(kernel) ? 4.0 : 13.0; }

/// Seconds of a pair that do not decrease with the width of vectors: for a square root, or for the
/// comparison of the uniform kernel, which works on the data as given.
double kernel_seconds(Kernel kernel) {
  if (is_indicator(kernel)) return 0.7e-9;
  return is_polynomial(kernel) && !is_even_polynomial(kernel) ? 1.0e-9 : 0.0;
}

/// Vector operations a second.
double rate(std::size_t lanes) {
  switch (lanes) {
    case 8: return 8 * 4.1e9;
    case 4: return 4 * 3.2e9;
    case 2: return 2 * 1.5e9;
    default: return 1.5e9;
  }
}

}  // namespace

double pair_seconds(const KernelChoice& kernel, std::size_t d, std::size_t lanes) {
  const bool radial = kernel.type == KernelType::radial || !is_compact(kernel.kernel);
  const double kernels = radial ? 1.0 : static_cast<double>(d);
  const double operations = 2 * static_cast<double>(d) + kernels * kernel_operations(kernel.kernel);
  return operations / rate(lanes) + kernels * kernel_seconds(kernel.kernel);
}

}  // namespace kestrel
