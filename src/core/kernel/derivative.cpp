#include "core/kernel/derivative.hpp"

#include <numeric>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/kernel/root.hpp"

namespace kestrel {

void check_derivative(int order) {
  if (order >= 0 && order <= kHighestDerivative) return;
  throw error(ErrorKind::input, "the order of a derivative must be 0 to " +
                                    std::to_string(kHighestDerivative) + ", not " +
                                    std::to_string(order));
}

std::size_t derivative_count(std::size_t d, int order) {
  check_derivative(order);
  std::size_t count = 1;
  for (std::size_t k = 1; k <= static_cast<std::size_t>(order); ++k) {
    count = count * (d + k - 1) / k;
  }
  if (count <= kMostDerivatives) return count;
  throw error(ErrorKind::input, "there are " + std::to_string(count) +
                                    " derivatives of this order, more than " +
                                    std::to_string(kMostDerivatives));
}

Monomials::Monomials(std::size_t d, int degree)
    : exponent_(1, std::vector<int>(d, 0)), parent_(1, 0), axis_(1, 0), first_(1, 0) {
  for (int reached = 1; reached <= degree; ++reached) {
    const std::size_t first = first_.back(), last = exponent_.size();
    first_.push_back(last);
    for (std::size_t t = first; t < last; ++t) {
      // Each monomial is made once: only the last axis in use, or a later one, is raised.
      for (std::size_t k = static_cast<std::size_t>(axis_[t]); k < d; ++k) {
        std::vector<int> raised = exponent_[t];
        ++raised[k];
        exponent_.push_back(raised);
        parent_.push_back(static_cast<int>(t));
        axis_.push_back(static_cast<int>(k));
      }
    }
  }
  for (std::size_t t = 0; t < exponent_.size(); ++t) number_.emplace(exponent_[t], t);
}

int Monomials::degree(std::size_t t) const {
  return std::accumulate(exponent_[t].begin(), exponent_[t].end(), 0);
}

std::size_t Monomials::number(const std::vector<int>& exponent) const {
  return number_.at(exponent);
}

namespace {

/// Coefficients of He_n: [m] of x^m.
std::vector<double> hermite(int n) {
  std::vector<double> before, now{1.0};
  for (int k = 0; k < n; ++k) {
    std::vector<double> next(now.size() + 1, 0.0);
    for (std::size_t m = 0; m < now.size(); ++m) next[m + 1] = now[m];
    for (std::size_t m = 0; m < before.size(); ++m) next[m] -= k * before[m];
    before.swap(now);
    now.swap(next);
  }
  return now;
}

}  // namespace

DerivativeMap::DerivativeMap(std::size_t d, int order, Span<const double> root)
    : size_(derivative_count(d, order)), monomials_(d, order), hermite_(size_), chain_(size_) {
  const std::size_t first = monomials_.first(order);
  const double sign = order % 2 == 0 ? 1.0 : -1.0;
  for (std::size_t t = 0; t < size(); ++t) {
    // The product of the polynomials, axis by axis.
    std::vector<std::pair<std::vector<int>, double>> product{{std::vector<int>(d, 0), sign}};
    for (std::size_t k = 0; k < d; ++k) {
      const std::vector<double> of_axis = hermite(monomials_.exponent(first + t)[k]);
      std::vector<std::pair<std::vector<int>, double>> next;
      for (const auto& [exponent, factor] : product) {
        for (std::size_t m = 0; m < of_axis.size(); ++m) {
          if (of_axis[m] == 0) continue;
          std::vector<int> raised = exponent;
          raised[k] = static_cast<int>(m);
          next.emplace_back(raised, factor * of_axis[m]);
        }
      }
      product.swap(next);
    }
    for (const auto& [exponent, factor] : product) {
      hermite_[t].push_back({monomials_.number(exponent), factor});
    }
  }
  // D_a = sum_k (L^-1)_ka D_k for each coordinate a: polynomials in D, one more factor at a time.
  const std::vector<double> inverse = inverse_of_root(root, d);
  for (std::size_t t = 0; t < size(); ++t) {
    std::vector<double> polynomial(monomials_.size(), 0.0);
    polynomial[0] = 1;
    int degree = 0;
    for (std::size_t s = first + t; s != 0; s = static_cast<std::size_t>(monomials_.parent()[s])) {
      const auto a = static_cast<std::size_t>(monomials_.axis()[s]);
      std::vector<double> next(monomials_.size(), 0.0);
      for (std::size_t r = monomials_.first(degree);
           r < monomials_.size() && monomials_.degree(r) == degree; ++r) {
        if (polynomial[r] == 0) continue;
        for (std::size_t k = a; k < d; ++k) {
          std::vector<int> raised = monomials_.exponent(r);
          ++raised[k];
          next[monomials_.number(raised)] += polynomial[r] * inverse[a * d + k];
        }
      }
      polynomial.swap(next);
      ++degree;
    }
    for (std::size_t r = 0; r < size(); ++r) {
      if (polynomial[first + r] != 0) chain_[t].push_back({r, polynomial[first + r]});
    }
  }
}

void DerivativeMap::apply(const double* sums, double* out) const {
  std::vector<double> by_u(size());
  for (std::size_t t = 0; t < size(); ++t) {
    double total = 0;
    for (const Term& term : hermite_[t]) total += term.factor * sums[term.from];
    by_u[t] = total;
  }
  for (std::size_t t = 0; t < size(); ++t) {
    double total = 0;
    for (const Term& term : chain_[t]) total += term.factor * by_u[term.from];
    out[t] = total;
  }
}

}  // namespace kestrel
