// The sequential programs of Andrzejewski, Gramacki & Gramacki (2013), "Density Estimations for
// Approximate Query Processing on SIMD Architectures": PLUGIN, LSCV_h and the objective function of
// LSCV_H (their section 7.1: a "pure C" straightforward implementation of the formulas of section
// 4.4, for LSCV_h also 4.5). O(n^2), O(n^2 (d^2 + number of h)) and O(n^2 d^2).
//
// What is theirs: single precision (Real = float), polynomials by Horner's method (7.1), S(v)
// computed once for all n (n - 1) / 2 pairs and kept (4.5), a double loop of d^2 operations for one
// S(v) (eq. 58), two exponentials for one T (eq. 40-42; 34-35), a pass over all S(v) for every h,
// samples stored so that memory is read in order, the sums added by halves in portions (5.2, 5.3).
//
// What differs: the precision may be double too, and the covariance matrix, its inverse and its
// determinant, which take no time, come from the caller.
//
// What is corrected: eq. 16 and 18 print the diagonal's n K(0) outside of the factor
// n^-2 g^-(r+1), where it belongs inside (Wand & Jones 1995, section 3.5).
#ifndef KESTREL_BENCH_PAPERS_ANDRZEJEWSKI_HPP
#define KESTREL_BENCH_PAPERS_ANDRZEJEWSKI_HPP

#include <cmath>
#include <cstddef>
#include <vector>

namespace andrzejewski {

constexpr double pi = 3.14159265358979323846;

// ---- 5.2, 5.3: reductions

// Section 5.2, figure 2: neighbours are added until one value is left.
template <class Real>
Real reduce(Real* value, std::size_t count) {
  while (count > 1) {
    const std::size_t half = count / 2;
    for (std::size_t i = 0; i < half; ++i) value[i] = value[2 * i] + value[2 * i + 1];
    if (count % 2 == 1) value[half] = value[count - 1];
    count = half + count % 2;
  }
  return count == 1 ? value[0] : Real(0);
}

// Section 5.3: function values are added up in portions as they come, and then the sums of the
// portions.
template <class Real>
class Reduction {
 public:
  void add(Real value) {
    portion_[used_++] = value;
    if (used_ == size) flush();
  }
  Real result() {
    flush();
    return reduce(sums_.data(), sums_.size());
  }

 private:
  static constexpr std::size_t size = 1024;
  void flush() {
    if (used_ > 0) sums_.push_back(reduce(portion_, used_));
    used_ = 0;
  }
  Real portion_[size];
  std::size_t used_ = 0;
  std::vector<Real> sums_;
};

// ---- PLUGIN

// The polynomials of eq. 16 and 18, of u^2.
template <class Real>
Real hermite6(Real square) {
  return ((square - 15) * square + 45) * square - 15;
}
template <class Real>
Real hermite4(Real square) {
  return (square - 6) * square + 3;
}

// Eq. 12, from the sums of X_i and of their squares.
template <class Real>
Real variance(Real sum, Real sum_of_squares, std::size_t n) {
  const Real count = static_cast<Real>(n);
  return sum_of_squares / (count - 1) - sum / count * (sum / (count - 1));
}

template <class Real>
struct Plugin {
  Real psi6, psi4, h;
};

// Steps 2 to 8. sixth(g) and fourth(g): the sums over i < j of the polynomials times
// exp(-u^2 / 2), u = (X_i - X_j) / g, in eq. 16 and 18.
template <class Real, class Sixth, class Fourth>
Plugin<Real> plugin_steps(Real v, std::size_t n, Sixth sixth, Fourth fourth) {
  const Real count = static_cast<Real>(n), phi0 = static_cast<Real>(1 / std::sqrt(2 * pi));
  const Real psi8 = Real(105) / (32 * std::sqrt(static_cast<Real>(pi))) * std::pow(v, Real(-4.5));
  const Real g1 = std::pow(30 * phi0 / (psi8 * count), Real(1) / 9);
  const Real psi6 = phi0 * (2 * (sixth(g1) / count) - 15) / count * std::pow(g1, Real(-7));
  const Real g2 = std::pow(-6 * phi0 / (psi6 * count), Real(1) / 7);
  const Real psi4 = phi0 * (2 * (fourth(g2) / count) + 3) / count * std::pow(g2, Real(-5));
  const Real roughness = static_cast<Real>(1 / (2 * std::sqrt(pi)));
  return {psi6, psi4, std::pow(roughness / (psi4 * count), Real(1) / 5)};
}

// The double sum of eq. 16 or 18, written out.
template <class Real, class Polynomial>
Real pair_sum(const std::vector<Real>& x, Real g, Polynomial polynomial) {
  Reduction<Real> sum;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i + 1; j < x.size(); ++j) {
      const Real u = (x[i] - x[j]) / g, square = u * u;
      sum.add(polynomial(square) * std::exp(Real(-0.5) * square));
    }
  }
  return sum.result();
}

template <class Real>
Plugin<Real> plugin(const std::vector<Real>& x) {
  Reduction<Real> sum, squares;
  for (const Real value : x) {
    sum.add(value);
    squares.add(value * value);
  }
  return plugin_steps(
      variance(sum.result(), squares.result(), x.size()), x.size(),
      [&](Real g) { return pair_sum(x, g, hermite6<Real>); },
      [&](Real g) { return pair_sum(x, g, hermite4<Real>); });
}

// ---- LSCV_h and LSCV_H

// Eq. 40-42; eq. 33-35 with scale = 1. The determinant is that of H or of the covariance matrix.
template <class Real>
struct Kernel {
  Kernel(std::size_t d, double determinant)
      : kernel(std::pow(2 * pi, -0.5 * d) / std::sqrt(determinant)),
        convolution(std::pow(4 * pi, -0.5 * d) / std::sqrt(determinant)) {}
  Real operator()(Real s, Real scale) const {
    return convolution * std::exp(Real(-0.25) * scale * s) -
           2 * (kernel * std::exp(Real(-0.5) * scale * s));
  }
  Real kernel, convolution;
};

// Eq. 43 from its double sum; eq. 32 with h = 1. `at_zero`: R(K), (K*K)(0).
inline double objective(double sum, std::size_t n, std::size_t d, double h, double at_zero) {
  const double count = static_cast<double>(n);
  return std::pow(h, -static_cast<double>(d)) * (2 / count / count * sum + at_zero / count);
}
inline double roughness(std::size_t d, double determinant) {
  return std::pow(4 * pi, -0.5 * d) / std::sqrt(determinant);
}

// The samples, one after the other: d * n. `inverse`: d * d, of the covariance matrix or of H.
template <class Real>
struct Sample {
  std::vector<Real> x;
  std::size_t d;
  std::vector<Real> inverse;
  double determinant;
  std::size_t size() const { return x.size() / d; }
};

// Eq. 58 for v = X_i - X_j.
template <class Real>
Real quadratic_form(const Sample<Real>& sample, std::size_t i, std::size_t j) {
  const std::size_t d = sample.d;
  const Real *a = &sample.x[i * d], *b = &sample.x[j * d], *matrix = sample.inverse.data();
  Real sum = 0;
  for (std::size_t k = 0; k < d; ++k) {
    Real part = 0;
    for (std::size_t c = 0; c < d; ++c) part += matrix[k * d + c] * (a[c] - b[c]);
    sum += part * (a[k] - b[k]);
  }
  return sum;
}

// Steps 6 and 7 of section 6.2: g(h) (eq. 43) for every h.
template <class Real>
std::vector<double> lscv_h(const Sample<Real>& sample, const std::vector<double>& h) {
  const std::size_t n = sample.size();
  std::vector<Real> s;
  s.reserve(n * (n - 1) / 2);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) s.push_back(quadratic_form(sample, i, j));
  }
  const Kernel<Real> t(sample.d, sample.determinant);
  std::vector<double> g;
  for (const double bandwidth : h) {
    const Real scale = static_cast<Real>(1 / (bandwidth * bandwidth));
    Reduction<Real> sum;
    for (const Real value : s) sum.add(t(value, scale));
    g.push_back(
        objective(sum.result(), n, sample.d, bandwidth, roughness(sample.d, sample.determinant)));
  }
  return g;
}

// The sum of T_H(X_i - X_j) (eq. 33) over the pairs i < j with i among `observations`, numbered
// from 0; with all of them it is the double sum of eq. 32.
template <class Real>
double lscv_H(const Sample<Real>& sample, const std::vector<std::size_t>& observations) {
  const Kernel<Real> t(sample.d, sample.determinant);
  Reduction<Real> sum;
  for (const std::size_t i : observations) {
    for (std::size_t j = i + 1; j < sample.size(); ++j) sum.add(t(quadratic_form(sample, i, j), 1));
  }
  return sum.result();
}

}  // namespace andrzejewski

#endif
