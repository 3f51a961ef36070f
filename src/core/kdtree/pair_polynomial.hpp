// Sums of kernels about samples that all reach a point, as polynomials of the point.
#ifndef KESTREL_CORE_KDTREE_PAIR_POLYNOMIAL_HPP
#define KESTREL_CORE_KDTREE_PAIR_POLYNOMIAL_HPP

#include <cstddef>
#include <vector>

namespace kestrel {

/// Polynomials of a given degree, in total, in the coordinates of a point. One is an array of
/// count() coefficients. The monomial 1 is the first.
class PairPolynomial {
 public:
  PairPolynomial(std::size_t d, int degree);

  std::size_t count() const { return monomials_; }
  /// Multiplies by constant + sum_k linear_k t_k + square |t|^2. The product must be of the degree
  /// at most; `scratch`: count() numbers.
  void multiply(double constant, const double* linear, double square, double* scratch,
                double* coefficients) const;
  /// The polynomial in t of p(t + by).
  void shift(const double* by, double* coefficients) const;
  /// The values of all monomials at t.
  void powers(const double* t, double* to) const;

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t up(std::size_t monomial, std::size_t axis) const { return up_[monomial * d_ + axis]; }

  struct Step {
    std::size_t to, from, axis;
  };

  const std::size_t d_;
  std::size_t monomials_ = 0;
  std::vector<std::size_t> up_;             // the monomial times a coordinate, or kNone
  std::vector<std::size_t> parent_, axis_;  // each but the first as an earlier one times one
  std::vector<Step> shift_;
};

}  // namespace kestrel

#endif
