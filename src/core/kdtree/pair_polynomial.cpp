#include "core/kdtree/pair_polynomial.hpp"

#include <algorithm>
#include <map>

namespace kestrel {

/// Monomials in the order of their degrees.
PairPolynomial::PairPolynomial(std::size_t d, int degree) : d_(d) {
  std::vector<std::vector<int>> exponents{std::vector<int>(d, 0)};
  std::map<std::vector<int>, std::size_t> number{{exponents[0], 0}};
  parent_.push_back(0);
  axis_.push_back(0);
  std::size_t begin = 0;
  for (int of_all = 1; of_all <= degree; ++of_all) {
    const std::size_t end = exponents.size();
    for (std::size_t t = begin; t < end; ++t) {
      for (std::size_t k = 0; k < d; ++k) {
        std::vector<int> more = exponents[t];
        ++more[k];
        if (!number.emplace(more, exponents.size()).second) continue;
        exponents.push_back(more);
        parent_.push_back(t);
        axis_.push_back(k);
      }
    }
    begin = end;
  }
  monomials_ = exponents.size();
  for (const std::vector<int>& of : exponents) {
    for (std::size_t k = 0; k < d; ++k) {
      std::vector<int> more = of;
      ++more[k];
      const auto found = number.find(more);
      up_.push_back(found == number.end() ? kNone : found->second);
    }
  }
  // Horner's rule along each axis: after r passes the r lowest powers are final. Of higher
  // monomials the numbers are higher.
  for (std::size_t k = 0; k < d; ++k) {
    for (int pass = 0; pass < degree; ++pass) {
      for (std::size_t t = monomials_; t-- > 0;) {
        if (exponents[t][k] >= pass && up(t, k) != kNone) shift_.push_back({t, up(t, k), k});
      }
    }
  }
}

void PairPolynomial::multiply(double constant, const double* linear, double square, double* scratch,
                              double* coefficients) const {
  std::copy_n(coefficients, monomials_, scratch);
  for (std::size_t t = 0; t < monomials_; ++t) coefficients[t] = constant * scratch[t];
  for (std::size_t t = 0; t < monomials_; ++t) {
    for (std::size_t k = 0; k < d_; ++k) {
      const std::size_t one = up(t, k);
      if (one == kNone) continue;
      coefficients[one] += linear[k] * scratch[t];
      if (up(one, k) != kNone) coefficients[up(one, k)] += square * scratch[t];
    }
  }
}

void PairPolynomial::shift(const double* by, double* coefficients) const {
  for (const Step& step : shift_) coefficients[step.to] += by[step.axis] * coefficients[step.from];
}

void PairPolynomial::powers(const double* t, double* to) const {
  to[0] = 1;
  for (std::size_t i = 1; i < monomials_; ++i) to[i] = to[parent_[i]] * t[axis_[i]];
}

}  // namespace kestrel
