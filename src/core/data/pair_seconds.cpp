#include "core/data/pair_seconds.hpp"

#include "core/data/costs.hpp"

namespace kestrel {

namespace {

/// Vector operations of a pair, beyond two for each variable.
double kernel_operations(Kernel kernel) {
  return is_polynomial(kernel) ? kPolynomialOperations : kOtherOperations;
}

/// Nanoseconds of a pair that do not decrease with the width of vectors.
double kernel_nanoseconds(Kernel kernel) {
  if (is_indicator(kernel)) return kComparisonNs;
  return is_polynomial(kernel) && !is_even_polynomial(kernel) ? kSquareRootNs : 0.0;
}

double operation_nanoseconds(std::size_t lanes) {
  switch (lanes) {
    case 8: return kOperationOfEightNs;
    case 4: return kOperationOfFourNs;
    case 2: return kOperationOfTwoNs;
    default: return kOperationOfOneNs;
  }
}

}  // namespace

double pair_seconds(const KernelChoice& kernel, std::size_t d, std::size_t lanes) {
  const bool radial = kernel.type == KernelType::radial || !is_compact(kernel.kernel);
  const double kernels = radial ? 1.0 : static_cast<double>(d);
  const double operations = 2 * static_cast<double>(d) + kernels * kernel_operations(kernel.kernel);
  return 1e-9 *
         (operations * operation_nanoseconds(lanes) + kernels * kernel_nanoseconds(kernel.kernel));
}

}  // namespace kestrel
