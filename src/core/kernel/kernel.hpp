// The kernels (shared/kernels.def): choice by name, and normalising constants.
#ifndef KESTREL_CORE_KERNEL_KERNEL_HPP
#define KESTREL_CORE_KERNEL_KERNEL_HPP

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/span.hpp"
#include "shared/exp2.hpp"
#include "shared/kernel.hpp"

namespace kestrel {

constexpr double kPi = 3.14159265358979323846;

/// radial: K(u) depends on |u|; product: K(u) = prod_k K_1(u_k) (Michailidis & Margaritis 2013,
/// eq. 2). For the Gaussian kernel the two are the same function.
enum class KernelType { radial, product };

struct KernelChoice {
  Kernel kernel = Kernel::gaussian;
  KernelType type = KernelType::radial;
};

/// The kernel of that name. For any other name throws error(input), which lists the names.
Kernel kernel_of_name(const std::string& name);

/// "a, b and c": the names of the kernels for which `holds` is true, in the order of the table,
/// each between two marks.
std::string names_of_kernels(bool (*holds)(Kernel), const char* mark = "");

/// A number mantissa * 2^exponent: constants of narrow kernels in many dimensions leave the range
/// of a double although their products with small sums do not.
struct ScaledNumber {
  double mantissa = 1.0;
  int exponent = 0;

  void multiply(double factor);
  void divide(double divisor);
  /// sum * this number. Zero stays zero, whatever the exponent.
  double times(double sum) const;
};

/// The maximum dimension: not far above, the volume of the unit ball leaves the range of a double.
constexpr std::size_t kMaxDimension = 256;

/// Volume of the unit ball of R^d.
double ball_volume(double d);

/// Integral of r^(d-1+power) f(r) over [0, 1] for the profile f of a compact kernel. A polynomial
/// kernel's is a beta function; the cosine's comes from its Taylor series, to rounding for
/// power = 0, 1, 2. O(1).
double radial_integral(Kernel kernel, double d, int power);

/// R(K), the integral of K^2 over the line: (K*K)(0) for the kernel with h = 1 (Wand & Jones 1995,
/// table 2.1). For the Gaussian kernel and the polynomial ones. O(1).
double line_roughness(Kernel kernel);

/// Whether a lower triangular d*d root, column-major, has only zeros below its diagonal.
bool is_diagonal(std::size_t d, Span<const double> root);
/// Throws error(input) for a product kernel whose root is not diagonal.
void check_product_root(KernelType type, std::size_t d, Span<const double> root);

/// c |H|^-1/2 with the constant c that makes c times the leaf's value integrate to one over R^d.
/// `root` is the lower Cholesky factor of H, d*d column-major. O(d).
/// Constants: Wand & Jones (1995), 2.7 and 4.5; cosine: by series. Throws error(input) when a
/// diagonal entry of the root is not a positive number whose reciprocal is finite, or d is too
/// large.
ScaledNumber kernel_scale(const KernelChoice& choice, std::size_t d, Span<const double> root);

}  // namespace kestrel

#endif
