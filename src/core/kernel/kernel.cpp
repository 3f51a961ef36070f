#include "core/kernel/kernel.hpp"

#include <cmath>

#include "core/base/error.hpp"

namespace kestrel {

namespace {

/// Integral of r^(d-1) cos(pi r / 2) over [0, 1], term by term of the cosine's Taylor series.
double cosine_integral(double d) {
  double term = 1.0, sum = 1.0 / d;
  for (int k = 1; k <= 14; ++k) {
    term *= -(kPi / 2) * (kPi / 2) / ((2.0 * k - 1) * (2.0 * k));
    sum += term / (d + 2 * k);
  }
  return sum;
}

/// Integral of r^(d-1) (1 - r^a)^b over [0, 1], B(d / a, b + 1) / a: b! / (s (s + 1) ... (s + b))
/// is the beta function of s and a whole number b + 1.
double power_integral(double d, int a, int b) {
  const double s = d / a;
  double integral = 1 / (a * s);
  for (int k = 1; k <= b; ++k) integral *= k / (s + k);
  return integral;
}

/// c with c * integral of the leaf's radial value over R^d = 1.
double radial_constant(Kernel kernel, double d) {
  if (!is_compact(kernel)) return std::pow(2 * kPi, -d / 2);
  return 1 / (d * ball_volume(d) * radial_integral(kernel, d, 0));
}

}  // namespace

double ball_volume(double d) { return std::pow(kPi, d / 2) / std::tgamma(d / 2 + 1); }

double radial_integral(Kernel kernel, double d, int power) {
  const KernelRow& row = row_of(kernel);
  if (row.form == KernelForm::power) return power_integral(d + power, row.inner, row.outer);
  if (row.form == KernelForm::cosine) return cosine_integral(d + power);
  throw error(ErrorKind::internal, "a kernel without a bounded support");
}

double line_roughness(Kernel kernel) {
  if (!is_compact(kernel)) return 1 / std::sqrt(4 * kPi);
  const KernelRow& row = row_of(kernel);
  if (row.form != KernelForm::power) throw error(ErrorKind::internal, "a kernel of another form");
  const double mass = power_integral(1, row.inner, row.outer);
  return power_integral(1, row.inner, 2 * row.outer) / (2 * mass * mass);
}

bool is_diagonal(std::size_t d, Span<const double> root) {
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l < k; ++l) {
      if (root[l * d + k] != 0) return false;
    }
  }
  return true;
}

void check_product_root(KernelType type, std::size_t d, Span<const double> root) {
  if (type == KernelType::product && !is_diagonal(d, root)) {
    throw error(ErrorKind::input, "a product kernel takes a diagonal bandwidth matrix only");
  }
}

Kernel kernel_of_name(const std::string& name) {
  std::string known;
  for (std::size_t k = 0; k < kKernels; ++k) {
    if (name == kKernelRows[k].name) return static_cast<Kernel>(k);
    known += (k > 0 ? ", " : "") + std::string(kKernelRows[k].name);
  }
  throw error(ErrorKind::input, "kernel must be one of " + known + ", not " + name);
}

std::string names_of_kernels(bool (*holds)(Kernel), const char* mark) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < kKernels; ++k) {
    if (holds(static_cast<Kernel>(k))) names.push_back(kKernelRows[k].name);
  }
  std::string text;
  for (std::size_t k = 0; k < names.size(); ++k) {
    text += (k == 0 ? "" : k + 1 < names.size() ? ", " : " and ") + (mark + names[k] + mark);
  }
  return text;
}

void ScaledNumber::multiply(double factor) {
  int of_factor = 0, of_product = 0;
  const double fraction = std::frexp(factor, &of_factor);
  mantissa = std::frexp(mantissa * fraction, &of_product);
  exponent += of_factor + of_product;
}

void ScaledNumber::divide(double divisor) {
  int of_divisor = 0, of_quotient = 0;
  const double fraction = std::frexp(divisor, &of_divisor);
  mantissa = std::frexp(mantissa / fraction, &of_quotient);
  exponent += of_quotient - of_divisor;
}

double ScaledNumber::times(double sum) const {
  int of_sum = 0;
  const double fraction = std::frexp(sum, &of_sum);
  return std::ldexp(mantissa * fraction, exponent + of_sum);
}

ScaledNumber kernel_scale(const KernelChoice& choice, std::size_t d, Span<const double> root) {
  if (d < 1 || d > kMaxDimension) {
    throw error(ErrorKind::input, "the number of variables must be between 1 and " +
                                      std::to_string(kMaxDimension) + ", not " + std::to_string(d));
  }
  ScaledNumber scale;
  const double one_dimension = radial_constant(choice.kernel, 1.0);
  if (choice.type == KernelType::radial) {
    scale.multiply(radial_constant(choice.kernel, static_cast<double>(d)));
  }
  for (std::size_t k = 0; k < d; ++k) {
    const double length = root[k * d + k];
    if (!(length > 0) || !std::isfinite(length) || !std::isfinite(1 / length)) {
      throw error(ErrorKind::input, "the bandwidth of variable " + std::to_string(k + 1) +
                                        " is outside the range of numbers that can be divided by");
    }
    if (choice.type == KernelType::product) scale.multiply(one_dimension);
    scale.divide(length);
  }
  return scale;
}

}  // namespace kestrel
