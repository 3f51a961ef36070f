// Partial derivatives of the Gaussian kernel: their multi-indices, and what they are made of.
#ifndef KESTREL_CORE_KERNEL_DERIVATIVE_HPP
#define KESTREL_CORE_KERNEL_DERIVATIVE_HPP

#include <cstddef>
#include <map>
#include <vector>

#include "core/base/span.hpp"

namespace kestrel {

/// The highest order of a derivative of a density.
constexpr int kHighestDerivative = 8;

/// The most different derivatives of one order: by a matrix H with correlations each is made of up
/// to as many others.
constexpr std::size_t kMostDerivatives = 1500;

/// Throws error(input) for an order that is not 0 to kHighestDerivative.
void check_derivative(int order);

/// The number of different partial derivatives of one order in d variables, C(d + order - 1,
/// order). Throws error(input) for an order that is not there, and if they are more than
/// kMostDerivatives.
std::size_t derivative_count(std::size_t d, int order);

/// All monomials u^a of R^d up to some degree, degree after degree. Monomial t is parent(t) times
/// coordinate axis(t), no axis before that of its parent. So those of degree r, read as tuples of
/// their axes, are in lexicographic order: for d = 2 and r = 2 they are u1 u1, u1 u2, u2 u2.
class Monomials {
 public:
  Monomials(std::size_t d, int degree);

  std::size_t size() const { return exponent_.size(); }
  /// Monomials of a lower degree than this one.
  std::size_t first(int degree) const { return first_[static_cast<std::size_t>(degree)]; }
  const std::vector<int>& exponent(std::size_t t) const { return exponent_[t]; }
  int degree(std::size_t t) const;
  /// The number of a monomial of at most the degree given.
  std::size_t number(const std::vector<int>& exponent) const;
  const std::vector<int>& parent() const { return parent_; }
  const std::vector<int>& axis() const { return axis_; }

 private:
  std::vector<std::vector<int>> exponent_;
  std::map<std::vector<int>, std::size_t> number_;
  std::vector<int> parent_, axis_;
  std::vector<std::size_t> first_;
};

/// Turns sums of monomials into sums of derivatives. With u = L^-1 (e - x) and phi(u) =
/// exp(-|u|^2 / 2),
///
///     D^a phi(u) = (-1)^|a| He_a1(u1) ... He_ad(ud) phi(u),
///
/// D by u, He the probabilists' Hermite polynomials (Abramowitz & Stegun 1964, 22.2.15), and by the
/// chain rule D by e is made of all D of the same order.
class DerivativeMap {
 public:
  /// root: L, d*d column-major, lower triangular with a positive diagonal. Throws as
  /// derivative_count().
  DerivativeMap(std::size_t d, int order, Span<const double> root);

  const Monomials& monomials() const { return monomials_; }
  std::size_t size() const { return size_; }
  /// sums: for each monomial sum_j w_j u_j^a phi(u_j). out: for each multi-index of the order, in
  /// the order of the monomials, sum_j w_j D^a phi(u_j), D by e.
  void apply(const double* sums, double* out) const;

 private:
  struct Term {
    std::size_t from;
    double factor;
  };

  std::size_t size_;
  Monomials monomials_;
  /// Of each derivative by u, in monomials; of each by e, in those by u.
  std::vector<std::vector<Term>> hermite_, chain_;
};

}  // namespace kestrel

#endif
