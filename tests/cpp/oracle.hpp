// Kernel sums as in textbooks, pair by pair in long double. Shares nothing with the engines but the
// names of the kernels.
#ifndef KESTREL_TOOLS_ORACLE_HPP
#define KESTREL_TOOLS_ORACLE_HPP

#include <cmath>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/base/span.hpp"
#include "core/kernel/kernel.hpp"

namespace oracle {

using real = long double;

constexpr real pi = 3.141592653589793238462643383279502884L;

/// A sum and the sum of the absolute values of its terms.
struct Sum {
  real value = 0, absolute = 0;
  void add(real term) {
    value += term;
    absolute += std::fabs(term);
  }
};

inline real integer_power(real base, int n) {
  real product = 1;
  for (int k = 0; k < n; ++k) product *= base;
  return product;
}

/// Of the kernels (1 - r^inner)^outer.
struct Exponents {
  int inner, outer;
};
inline Exponents exponents(kestrel::Kernel kernel) {
  using kestrel::Kernel;
  switch (kernel) {
    case Kernel::uniform: return {2, 0};
    case Kernel::triangular: return {1, 1};
    case Kernel::epanechnikov: return {2, 1};
    case Kernel::biweight: return {2, 2};
    case Kernel::triweight: return {2, 3};
    case Kernel::tricube: return {3, 3};
    default: throw std::logic_error("no power of 1 - r^inner");
  }
}

/// The one-dimensional kernels and the profiles of the radial ones, without constant, at r >= 0.
inline real profile(kestrel::Kernel kernel, real r) {
  using kestrel::Kernel;
  if (kernel == Kernel::gaussian) return std::exp(-r * r / 2);
  if (kernel == Kernel::uniform) return r <= 1 ? 1 : 0;
  if (r >= 1) return 0;
  if (kernel == Kernel::cosine) return std::cos(pi * r / 2);
  const Exponents of = exponents(kernel);
  return integer_power(1 - integer_power(r, of.inner), of.outer);
}

/// The integral of cos(pi r / 2) r^(d-1) over [0, 1], by Simpson's rule.
inline real cosine_integral(std::size_t dimension) {
  const int steps = 60000;
  const real power = static_cast<real>(dimension) - 1;
  real sum = 0;
  for (int i = 0; i <= steps; ++i) {
    const real r = static_cast<real>(i) / steps;
    const real weight = i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * std::pow(r, power) * std::cos(pi * r / 2);
  }
  return sum / (3 * steps);
}

/// int K = 1 (Wand & Jones 1995, 2.7 and 4.5): the surface of the unit sphere times the integral of
/// profile(r) r^(d-1).
inline real computed_constant(kestrel::Kernel kernel, std::size_t dimension) {
  using kestrel::Kernel;
  const real d = static_cast<real>(dimension);
  if (kernel == Kernel::gaussian) return std::pow(2 * pi, -d / 2);
  const real ball = std::pow(pi, d / 2) / std::tgamma(d / 2 + 1);
  if (kernel == Kernel::cosine) return 1 / (d * ball * cosine_integral(dimension));
  // (d + a) (d + 2 a) ... (d + b a) / (a 2a ... b a) / ball: for a = 2, b = 1 (d + 2) / (2 ball).
  const Exponents of = exponents(kernel);
  real value = 1 / ball;
  for (int k = 1; k <= of.outer; ++k) value *= (d + k * of.inner) / (k * of.inner);
  return value;
}

/// The same, computed once for each kernel and dimension.
inline real constant(kestrel::Kernel kernel, std::size_t dimension) {
  static std::map<std::pair<kestrel::Kernel, std::size_t>, real> known;
  const auto found = known.find({kernel, dimension});
  if (found != known.end()) return found->second;
  return known[{kernel, dimension}] = computed_constant(kernel, dimension);
}

/// K_H(u) for differences u of the data, H = L L' with the lower triangle `root`, column-major.
class ScaledKernel {
 public:
  ScaledKernel(kestrel::KernelChoice choice, std::size_t d, const std::vector<double>& root)
      : choice_(choice), d_(d), root_(root), solved_(d) {
    const bool product = choice.type == kestrel::KernelType::product;
    const real c = constant(choice.kernel, product ? 1 : d);
    scale_ = product ? std::pow(c, static_cast<real>(d)) : c;
    for (std::size_t k = 0; k < d; ++k) scale_ /= root[k * d + k];
  }

  /// `difference` in double, as for the engines: rounded differences decide the edge of a uniform
  /// kernel. Elsewhere the finer difference of long double does not matter.
  real operator()(const double* e, std::size_t e_stride, const double* x, std::size_t x_stride) {
    real product = 1, squares = 0;
    const bool rounded = choice_.kernel == kestrel::Kernel::uniform;
    for (std::size_t k = 0; k < d_; ++k) {
      const double a = e[k * e_stride], b = x[k * x_stride];
      real u = rounded ? static_cast<real>(a - b) : static_cast<real>(a) - b;
      for (std::size_t l = 0; l < k; ++l) u -= static_cast<real>(root_[l * d_ + k]) * solved_[l];
      solved_[k] = u / root_[k * d_ + k];
      squares += solved_[k] * solved_[k];
      if (choice_.type == kestrel::KernelType::product) {
        product *= profile(choice_.kernel, std::fabs(solved_[k]));
      }
    }
    const bool radial = choice_.type == kestrel::KernelType::radial;
    return scale_ * (radial ? profile(choice_.kernel, std::sqrt(squares)) : product);
  }

 private:
  kestrel::KernelChoice choice_;
  std::size_t d_;
  std::vector<double> root_;
  std::vector<real> solved_;
  real scale_;
};

/// sum_j w_j K_H(e_i - x_j) for the points in `which`.
inline std::vector<real> density(kestrel::MatrixView x, const std::vector<double>& w,
                                 kestrel::MatrixView points, const std::vector<std::size_t>& which,
                                 ScaledKernel kernel) {
  std::vector<real> out;
  for (const std::size_t i : which) {
    Sum sum;
    for (std::size_t j = 0; j < x.rows; ++j) {
      sum.add(w[j] * kernel(points.data + i, points.rows, x.data + j, x.rows));
    }
    out.push_back(sum.value);
  }
  return out;
}

/// sum_{i<j} w_i w_j f(x_i, x_j) for f of two rows.
template <class F>
Sum over_pairs(kestrel::MatrixView x, const std::vector<double>& w, F f) {
  Sum sum;
  for (std::size_t i = 0; i < x.rows; ++i) {
    for (std::size_t j = i + 1; j < x.rows; ++j) {
      sum.add(static_cast<real>(w[i]) * w[j] * f(x.data + i, x.data + j));
    }
  }
  return sum;
}

inline real squared_distance(const double* a, const double* b, std::size_t stride, std::size_t d) {
  real q = 0;
  for (std::size_t k = 0; k < d; ++k) {
    const real u = static_cast<real>(a[k * stride]) - b[k * stride];
    q += u * u;
  }
  return q;
}

/// The generalised Laguerre polynomial L_n^(a)(x), by its three-term recurrence.
inline real laguerre(int n, real a, real x) {
  real before = 0, now = 1;
  for (int k = 0; k < n; ++k) {
    const real next = ((2 * k + 1 + a - x) * now - (k + a) * before) / (k + 1);
    before = now;
    now = next;
  }
  return now;
}

/// The N(0, g^2 I_d) density at squared distance `squared`.
inline real normal_density(std::size_t d, real g, real squared) {
  return std::pow(std::sqrt(2 * pi) * g, -static_cast<real>(d)) * std::exp(-squared / (2 * g * g));
}

/// The factor by which (nabla^2)^r multiplies that density: with q = squared / g^2, (-2)^r r!
/// L_r^(d/2-1)(q/2) / g^(2r); Hermite polynomials of even order if d = 1.
inline real laplacian_factor(int r, std::size_t d, real g, real squared) {
  real factor = laguerre(r, static_cast<real>(d) / 2 - 1, squared / (2 * g * g));
  for (int k = 1; k <= r; ++k) factor *= -2 * k / (g * g);
  return factor;
}

}  // namespace oracle

#endif
