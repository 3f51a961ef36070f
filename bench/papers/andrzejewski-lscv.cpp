// The sequential programs of Andrzejewski, Gramacki & Gramacki (2013), "Density Estimations for
// Approximate Query Processing on SIMD Architectures", for LSCV_h and for the objective function of
// LSCV_H (their section 7.1: a "pure C" straightforward implementation of the formulas of sections
// 4.4 and 4.5). O(n^2 (d^2 + number of h)) and O(n^2 d^2).
//
// What is theirs: S(v) computed once for all n (n - 1) / 2 pairs and kept (4.5), a double loop of
// d^2 operations for one S(v) (eq. 58), two exponentials for one T (eq. 40-42; 34-35), a pass over
// all S(v) for every h, samples stored so that memory is read in order, the sums added by halves in
// portions (5.2, 5.3), single precision. What differs: the precision may be double too, and the
// covariance matrix, its inverse and its determinant, which take no time, come from R.
// [[Rcpp::plugins(cpp17)]]
#include <Rcpp.h>

#include <cmath>
#include <vector>

namespace {

constexpr double pi = 3.14159265358979323846;

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

// Section 5.3: function values are added as they come, portion after portion, and so are the sums
// of the portions.
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

// The columns of x are the samples: d * n, one after the other.
template <class Real>
std::vector<Real> copy_of(const Rcpp::NumericMatrix& x) {
  return std::vector<Real>(x.begin(), x.end());
}

// Eq. 58 for v = X_i - X_j.
template <class Real>
Real quadratic_form(const Real* a, const Real* b, const Real* matrix, int d) {
  Real sum = 0;
  for (int k = 0; k < d; ++k) {
    Real part = 0;
    for (int c = 0; c < d; ++c) part += matrix[k * d + c] * (a[c] - b[c]);
    sum += part * (a[k] - b[k]);
  }
  return sum;
}

// Eq. 40-42; eq. 33-35 with scale = 1.
template <class Real>
struct Kernel {
  Kernel(int d, double determinant)
      : kernel(std::pow(2 * pi, -0.5 * d) / std::sqrt(determinant)),
        convolution(std::pow(4 * pi, -0.5 * d) / std::sqrt(determinant)) {}
  Real operator()(Real s, Real scale) const {
    return convolution * std::exp(Real(-0.25) * scale * s) -
           2 * (kernel * std::exp(Real(-0.5) * scale * s));
  }
  Real kernel, convolution;
};

// Steps 6 and 7 of section 6.2: g(h) (eq. 43) for every h.
template <class Real>
Rcpp::NumericVector lscv_h(const Rcpp::NumericMatrix& x, const Rcpp::NumericMatrix& inverse,
                           double determinant, const Rcpp::NumericVector& h) {
  const int d = x.nrow(), n = x.ncol();
  const std::vector<Real> sample = copy_of<Real>(x), matrix = copy_of<Real>(inverse);
  std::vector<Real> s;
  s.reserve(static_cast<std::size_t>(n) * (n - 1) / 2);
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      s.push_back(quadratic_form(&sample[static_cast<std::size_t>(i) * d],
                                 &sample[static_cast<std::size_t>(j) * d], matrix.data(), d));
    }
  }
  const Kernel<Real> t(d, determinant);
  const double r = std::pow(4 * pi, -0.5 * d) / std::sqrt(determinant);
  Rcpp::NumericVector g(h.size());
  for (R_xlen_t b = 0; b < h.size(); ++b) {
    const Real scale = static_cast<Real>(1 / (h[b] * h[b]));
    Reduction<Real> sum;
    for (const Real value : s) sum.add(t(value, scale));
    g[b] = std::pow(h[b], -d) * (2.0 / n / n * sum.result() + r / n);
  }
  return g;
}

template <class Real>
double lscv_H(const Rcpp::NumericMatrix& x, const Rcpp::NumericMatrix& inverse, double determinant,
              const Rcpp::IntegerVector& observations) {
  const int d = x.nrow(), n = x.ncol();
  const std::vector<Real> sample = copy_of<Real>(x), matrix = copy_of<Real>(inverse);
  const Kernel<Real> t(d, determinant);
  Reduction<Real> sum;
  for (const int observation : observations) {
    const int i = observation - 1;
    for (int j = i + 1; j < n; ++j) {
      sum.add(t(quadratic_form(&sample[static_cast<std::size_t>(i) * d],
                               &sample[static_cast<std::size_t>(j) * d], matrix.data(), d),
                1));
    }
  }
  return sum.result();
}

}  // namespace

// g(h) for every h; x: d * n; inverse and determinant of the covariance matrix.
// [[Rcpp::export]]
Rcpp::NumericVector andrzejewski_lscv_h(Rcpp::NumericMatrix x, Rcpp::NumericMatrix inverse,
                                        double determinant, Rcpp::NumericVector h, bool single) {
  return single ? lscv_h<float>(x, inverse, determinant, h)
                : lscv_h<double>(x, inverse, determinant, h);
}

// The sum of T_H(X_i - X_j) (eq. 33) over the pairs i < j with i among `observations`, numbered
// from 1 (all of them give that of eq. 32); inverse and determinant of H.
// [[Rcpp::export]]
double andrzejewski_lscv_H(Rcpp::NumericMatrix x, Rcpp::NumericMatrix inverse, double determinant,
                           Rcpp::IntegerVector observations, bool single) {
  return single ? lscv_H<float>(x, inverse, determinant, observations)
                : lscv_H<double>(x, inverse, determinant, observations);
}
