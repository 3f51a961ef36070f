#include "core/sweep/kernel.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "simd/sweep/sweep.hpp"

namespace kestrel {

namespace {

Polynomial product(const Polynomial& a, const Polynomial& b) {
  Polynomial c(a.size() + b.size() - 1, 0.0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) c[i + j] += a[i] * b[j];
  }
  return c;
}

Polynomial power(const Polynomial& a, int exponent) {
  Polynomial result{1.0};
  for (int k = 0; k < exponent; ++k) result = product(result, a);
  return result;
}

/// K with K(0) = 1 in t = 1 - u (edge) or in u.
Polynomial profile(Kernel kernel, bool in_edge_coordinate) {
  const Polynomial parabola = in_edge_coordinate ? Polynomial{0, 2, -1} : Polynomial{1, 0, -1};
  switch (kernel) {
    case Kernel::uniform: return {1.0};
    case Kernel::triangular: return in_edge_coordinate ? Polynomial{0, 1} : Polynomial{1, -1};
    case Kernel::epanechnikov: return parabola;
    case Kernel::biweight: return power(parabola, 2);
    case Kernel::triweight: return power(parabola, 3);
    default: break;
  }
  throw error(ErrorKind::input,
              "the sweep engine takes the kernels uniform, triangular, epanechnikov, biweight and "
              "triweight");
}

/// Padded with zeros to a degree that the leaves are made for.
void pad(std::vector<Polynomial>& polynomials) {
  std::size_t longest = 0;
  for (const Polynomial& p : polynomials) longest = std::max(longest, p.size());
  for (const int degree : simd::kSweepDegrees) {
    if (static_cast<std::size_t>(degree) + 1 >= longest) {
      for (Polynomial& p : polynomials) p.resize(static_cast<std::size_t>(degree) + 1, 0.0);
      return;
    }
  }
  throw error(ErrorKind::internal, "a polynomial of too high a degree for the sweep engine");
}

SweepKernel one_window(Kernel kernel, double h, const Polynomial& in_edge) {
  SweepKernel window;
  window.h = h;
  window.closed = kernel == Kernel::uniform;
  window.in_edge = {in_edge};
  window.left_sign = {1.0};
  pad(window.in_edge);
  return window;
}

Polynomial scaled(Polynomial p, double factor) {
  for (double& coefficient : p) coefficient *= factor;
  return p;
}

/// int_0^T e(v) e(T - v) dv for the polynomial e of the edge coordinate, in t = T / 2: by the beta
/// integral of each pair of powers. It is (K*K)(u) at T = 2 - u for a K that is one polynomial on
/// its support.
Polynomial self_convolution(const Polynomial& e) {
  Polynomial result(2 * e.size(), 0.0);
  for (std::size_t a = 0; a < e.size(); ++a) {
    for (std::size_t b = 0; b < e.size(); ++b) {
      const double aa = static_cast<double>(a), bb = static_cast<double>(b);
      const double beta = std::tgamma(aa + 1) * std::tgamma(bb + 1) / std::tgamma(aa + bb + 2);
      result[a + b + 1] += e[a] * e[b] * beta * std::ldexp(1.0, static_cast<int>(a + b + 1));
    }
  }
  return result;
}

/// c / h with c K(u) of integral one.
double constant_at(Kernel kernel, double h) {
  return kernel_scale({kernel, KernelType::radial}, 1, {&h, 1}).times(1.0);
}

}  // namespace

bool is_polynomial(Kernel kernel) { return kernel != Kernel::gaussian && kernel != Kernel::cosine; }

SweepKernel window_sum(Kernel kernel, double h, int exponent, Anchors anchors) {
  SweepKernel window = one_window(kernel, h, power(profile(kernel, true), exponent));
  window.anchors = anchors;
  window.in_distance = {power(profile(kernel, false), exponent)};
  pad(window.in_distance);
  return window;
}

SweepKernel window_moments(Kernel kernel, double h, int exponent) {
  SweepKernel window;
  window.h = h;
  window.closed = kernel == Kernel::uniform;
  window.anchors = Anchors::nearest;
  const Polynomial k = power(profile(kernel, false), exponent);
  window.in_distance = {k, product(k, {0, 1}), product(k, {0, 0, 1})};
  window.left_sign = {1.0, -1.0, 1.0};
  pad(window.in_distance);
  return window;
}

SweepKernel window_density(Kernel kernel, double h) {
  return one_window(kernel, h, scaled(profile(kernel, true), constant_at(kernel, h)));
}

std::vector<SweepKernel> window_convolution(Kernel kernel, double h) {
  if (kernel == Kernel::triangular) {
    // (K*K)(u) = [(2 - u)^3_+ - 4 (1 - u)^3_+] / 6
    return {one_window(kernel, 2 * h, {0, 0, 0, 8 / (6 * h)}),
            one_window(kernel, h, {0, 0, 0, -4 / (6 * h)})};
  }
  const Polynomial convolution = self_convolution(profile(kernel, true));
  SweepKernel window = one_window(
      kernel, 2 * h, scaled(convolution, constant_at(kernel, 1.0) * constant_at(kernel, h)));
  window.closed = false;  // it is zero at the edge, for the uniform kernel too
  return {window};
}

}  // namespace kestrel
