#include "core/sweep/kernel.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "core/base/two_part.hpp"
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

/// Pads polynomials with zeros to a degree that the leaves are made for.
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

using TwoPartPolynomial = std::vector<TwoPart>;

/// int_0^T a(v) b(T - v) dv in powers of T, by the beta integral of each pair of powers:
/// p! q! / (p + q + 1)!.
TwoPartPolynomial convolution(const Polynomial& a, const Polynomial& b) {
  TwoPartPolynomial result(a.size() + b.size());
  for (std::size_t p = 0; p < a.size(); ++p) {
    double reciprocal = static_cast<double>(p) + 1;  // (p + q + 1)! / (p! q!), a whole number
    for (std::size_t q = 0; q < b.size(); ++q) {
      if (q > 0) reciprocal = reciprocal * static_cast<double>(p + q + 1) / static_cast<double>(q);
      const TwoPart beta = TwoPart{1, 0} / TwoPart{reciprocal, 0};
      result[p + q + 1] = result[p + q + 1] + beta * (a[p] * b[q]);
    }
  }
  return result;
}

/// The polynomial in powers of v / by; `by` is a power of two.
TwoPartPolynomial stretched(TwoPartPolynomial p, double by) {
  double factor = 1.0;
  for (TwoPart& coefficient : p) {
    coefficient = coefficient * factor;
    factor *= by;
  }
  return p;
}

/// The polynomial in powers of 1 - v. The signs alternate: as many digits are lost as the condition
/// has.
TwoPartPolynomial from_the_other_end(const TwoPartPolynomial& p) {
  TwoPartPolynomial result(p.size());
  for (std::size_t k = p.size(); k-- > 0;) {
    for (std::size_t q = p.size() - 1; q > 0; --q) result[q] = result[q] - result[q - 1];
    result[0] = result[0] + p[k];
  }
  return result;
}

Polynomial rounded(const TwoPartPolynomial& p, double factor) {
  Polynomial result;
  for (const TwoPart& coefficient : p) result.push_back(coefficient.value() * factor);
  return result;
}

/// The sum of |terms| over their sum, at v = 1.
double condition(const TwoPartPolynomial& p) {
  double sum = 0, terms = 0;
  for (const TwoPart& coefficient : p) {
    sum += coefficient.value();
    terms += std::abs(coefficient.value());
  }
  return terms / std::abs(sum);
}

/// The maximum condition in powers of t = 1 - u, whose sums have a small error relative to
/// themselves. A kernel beyond it is taken in powers of u, whose sums have a small error relative
/// to the weight in the window.
constexpr double kMaxCondition = 1000;

/// The window of factor p(t). It is open, since p is zero at the edge.
SweepKernel window_vanishing(double h, const TwoPartPolynomial& p, double factor) {
  SweepKernel window;
  window.h = h;
  window.left_sign = {1.0};
  const bool in_edge = condition(p) < kMaxCondition;
  window.anchors = in_edge ? Anchors::edges : Anchors::nearest;
  std::vector<Polynomial>& taken = in_edge ? window.in_edge : window.in_distance;
  taken = {rounded(in_edge ? p : from_the_other_end(p), factor)};
  pad(taken);
  return window;
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

// With e the profile in the edge coordinate, K is e(1 - u) for u >= 0. If it were that polynomial
// for u < 0, too, (K*K)(u) would be int_0^T e(v) e(T - v) dv with T = 2 - u. K has e(1 + u) there,
// which is more by the odd part of the profile: where u < 1 this adds, for either member of the
// pair, int_0^S d(v) e(S - v) dv with S = 1 - u and d(v) = e(1 - v) - e(1 + v).
std::vector<SweepKernel> window_convolution(Kernel kernel, double h) {
  const double constant = constant_at(kernel, 1.0) * constant_at(kernel, h);
  const Polynomial edge = profile(kernel, true);
  const TwoPartPolynomial whole = stretched(convolution(edge, edge), 2);  // in t = T / 2
  std::vector<SweepKernel> windows{window_vanishing(2 * h, whole, constant)};
  if (!is_even_polynomial(kernel)) {
    Polynomial odd = profile(kernel, false);
    for (std::size_t k = 0; k < odd.size(); ++k) odd[k] *= k % 2 == 0 ? 0 : 2;
    windows.push_back(window_vanishing(h, convolution(odd, edge), 2 * constant));
  }
  return windows;
}

}  // namespace kestrel
