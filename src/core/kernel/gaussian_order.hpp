// Gaussian kernels of higher order.
#ifndef KESTREL_CORE_KERNEL_GAUSSIAN_ORDER_HPP
#define KESTREL_CORE_KERNEL_GAUSSIAN_ORDER_HPP

namespace kestrel {

/// A polynomial in v = u^2.
struct SquarePolynomial {
  static constexpr int kTerms = 7;
  double term[kTerms] = {1.0};

  double operator()(double v) const {
    double sum = term[kTerms - 1];
    for (int k = kTerms - 2; k >= 0; --k) sum = sum * v + term[k];
    return sum;
  }
  bool is_one() const {
    bool one = term[0] == 1.0;
    for (int k = 1; k < kTerms; ++k) one = one && term[k] == 0.0;
    return one;
  }
  /// A bound on its magnitude at 0 .. v.
  double bound(double v) const {
    double sum = 0.0;
    for (int k = kTerms - 1; k >= 0; --k) sum = sum * v + (term[k] < 0 ? -term[k] : term[k]);
    return sum;
  }
};

/// The product, of at most kTerms terms.
inline SquarePolynomial operator*(const SquarePolynomial& a, const SquarePolynomial& b) {
  SquarePolynomial product;
  for (int k = 0; k < SquarePolynomial::kTerms; ++k) {
    product.term[k] = 0.0;
    for (int i = 0; i <= k; ++i) product.term[k] += a.term[i] * b.term[k - i];
  }
  return product;
}

/// Whether a Gaussian kernel has this order: 2, 4, 6 or 8.
inline bool is_gaussian_order(int order) {
  return order == 2 || order == 4 || order == 6 || order == 8;
}

/// Q for the kernel K(u) = Q(u^2) exp(-u^2 / 2) of this order, which has K(0) = 1 (Wand & Schucany
/// 1990, Canad. J. Statist. 18, 197-204; 2.4, divided by K(0)).
inline SquarePolynomial gaussian_factor(int order) {
  if (order == 4) return {{1.0, -1.0 / 3}};
  if (order == 6) return {{1.0, -2.0 / 3, 1.0 / 15}};
  if (order == 8) return {{1.0, -1.0, 1.0 / 5, -1.0 / 105}};
  return {};
}

/// P for its derivative K'(u) = -u P(u^2) exp(-u^2 / 2): P = Q - 2 Q'.
inline SquarePolynomial gaussian_slope_factor(int order) {
  SquarePolynomial p = gaussian_factor(order);
  for (int k = 0; k + 1 < SquarePolynomial::kTerms; ++k) p.term[k] -= 2 * (k + 1) * p.term[k + 1];
  return p;
}

}  // namespace kestrel

#endif
