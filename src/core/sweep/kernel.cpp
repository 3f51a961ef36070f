#include "core/sweep/kernel.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "simd/sweep/sweep.hpp"

namespace kestrel {

namespace {

constexpr int highest_degree() {
  int degree = 0;
  for (const KernelRow& row : kKernelRows) {
    if (row.inner * row.outer > degree) degree = row.inner * row.outer;
  }
  return degree;
}
static_assert(highest_degree() + 2 <= simd::kSweepHighestWithY &&
                  2 * highest_degree() + 2 <= simd::kSweepHighestDegree,
              "K u^2 and K^2 u^2 of a kernel of high degree need leaves of their degrees");

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

Polynomial scaled(Polynomial p, double factor) {
  for (double& coefficient : p) coefficient *= factor;
  return p;
}

/// K with K(0) = 1 in t = 1 - u (edge) or in u.
Polynomial profile(Kernel kernel, bool in_edge_coordinate) {
  if (!is_polynomial(kernel)) {
    throw error(ErrorKind::input,
                "the sweep engine takes the kernels " + names_of_kernels(is_polynomial));
  }
  const KernelRow& row = row_of(kernel);
  const Polynomial u = in_edge_coordinate ? Polynomial{1, -1} : Polynomial{0, 1};
  Polynomial left = scaled(power(u, row.inner), -1);  // 1 - u^a
  left[0] += 1;
  return power(left, row.outer);
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
  window.closed = is_indicator(kernel);
  window.in_edge = {in_edge};
  window.left_sign = {1.0};
  pad(window.in_edge);
  return window;
}

/// int_0^T a(v) b(T - v) dv in powers of T, by the beta integral of each pair of powers.
Polynomial convolution(const Polynomial& a, const Polynomial& b) {
  Polynomial result(a.size() + b.size(), 0.0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      const double p = static_cast<double>(i), q = static_cast<double>(j);
      const double beta = std::tgamma(p + 1) * std::tgamma(q + 1) / std::tgamma(p + q + 2);
      result[i + j + 1] += a[i] * b[j] * beta;
    }
  }
  return result;
}

/// In powers of v / by.
Polynomial stretched(Polynomial p, double by) {
  double factor = 1.0;
  for (double& coefficient : p) {
    coefficient *= factor;
    factor *= by;
  }
  return p;
}

/// c / h with c K(u) of integral one.
double constant_at(Kernel kernel, double h) {
  return kernel_scale({kernel, KernelType::radial}, 1, {&h, 1}).times(1.0);
}

}  // namespace

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
  window.closed = is_indicator(kernel);
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

// With e the profile in the edge coordinate, K is e(1 - u) for u >= 0. Were it that polynomial for
// u < 0, too, (K*K)(u) would be int_0^T e(v) e(T - v) dv with T = 2 - u. K has e(1 + u) there,
// which is more by the odd part of the profile: where u < 1 this adds, for either member of the
// pair, int_0^S d(v) e(S - v) dv with S = 1 - u and d(v) = e(1 - v) - e(1 + v).
std::vector<SweepKernel> window_convolution(Kernel kernel, double h) {
  const double constant = constant_at(kernel, 1.0) * constant_at(kernel, h);
  const Polynomial edge = profile(kernel, true);
  const Polynomial whole = stretched(convolution(edge, edge), 2);  // in t = T / 2
  std::vector<SweepKernel> windows{one_window(kernel, 2 * h, scaled(whole, constant))};
  windows[0].closed = false;  // it is zero at the edge, for the uniform kernel too
  if (!is_even_polynomial(kernel)) {
    Polynomial odd = profile(kernel, false);
    for (std::size_t k = 0; k < odd.size(); ++k) odd[k] *= k % 2 == 0 ? 0 : 2;
    windows.push_back(one_window(kernel, h, scaled(convolution(odd, edge), 2 * constant)));
  }
  return windows;
}

}  // namespace kestrel
