#include "gpu/pair_cost.hpp"

#include <cmath>

#include "gpu/cost.hpp"

namespace kestrel {

namespace {

/// The number of monomials of d variables of exactly this degree.
double monomials_of(double d, int degree) {
  double count = 1;
  for (int k = 1; k <= degree; ++k) count *= (d - 1 + k) / k;
  return count;
}

}  // namespace

// The times of devices are fits to those of 2026-11 by tools/gpu-check (16,384 samples; curves:
// 300,000). A pair of a density takes 2 d + 13 operations on the CPU.

/// On the CPU these are estimated to take as long as a density: half of the pairs, and as
/// long again for the gradient. Measured on the GPU: 10.5, 22 and 33 ps in 2, 6 and 16 variables;
/// the formula is within a fifth of these.
PairWork gradient_work(std::size_t d) { return {1, 8.5 + 1.6 * static_cast<double>(d)}; }

/// A pair i < j takes d differences once, and an exponential, 13 operations, for each bandwidth.
/// Measured on the GPU: 18, 20 and 22 ps for 16 bandwidths in 1, 6 and 16 variables, and four times
/// as much for 64.
PairWork curve_work(std::size_t d, std::size_t bandwidths) {
  const double dd = static_cast<double>(d), h = static_cast<double>(bandwidths);
  return {(dd + 6.5 * h) / (2 * dd + 13), 1.1 * h + 0.25 * dd * std::ceil(h / 16)};
}

/// Half of a density's pairs, and a fifth more for its polynomial (an estimate). Measured on the
/// GPU in one variable, orders 4 and 6: 2.4 ps. The slope is that of LSCV at one matrix, 0.6 ps a
/// variable.
PairWork laplacian_work(std::size_t d) { return {0.6, 1.8 + 0.6 * static_cast<double>(d)}; }

/// On the CPU: half of a density's pairs and an operation for each monomial. On a GPU, for the even
/// ones: a fit within 13 per cent to 31 and 59 ps for orders 4 and 6 in 2 variables, 157 for 6 in
/// 3, 293 and 1353 for 4 and 6 in 6, 1185 and 4608 for 4 in 10 and 16.
PairWork monomial_work(std::size_t d, int order) {
  const double dd = static_cast<double>(d);
  double even = 0;
  for (int degree = 0; degree <= order; degree += 2) even += monomials_of(dd, degree);
  return {0.5 * (1 + monomials_of(dd + 1, order) / (2 * dd + 13)),
          1.55 * std::pow(order * even, 0.82)};
}

double pair_seconds_on(const kestrel_gpu_device& device, const PairWork& work, double n,
                       bool single) {
  return n * (n - 1) / 2 * work.device * 1e-12 * gpu_slowness(device, single);
}

}  // namespace kestrel
