#include "core/kdtree/moments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kestrel {

double KernelMoments::monomials(const KernelChoice& choice, std::size_t d) {
  if (!is_even_polynomial(choice.kernel)) return std::numeric_limits<double>::infinity();
  // Of degree at most g in all variables, or in each of them.
  const int g = kernel_degree(choice.kernel);
  if (choice.type == KernelType::product) return std::pow(g + 1, static_cast<double>(d));
  double count = 1;
  for (int k = 1; k <= g; ++k) count *= (static_cast<double>(d) + k) / k;
  return std::round(count);
}

KernelMoments::KernelMoments(const KernelChoice& choice, std::size_t d, std::size_t most) {
  if (monomials(choice, d) > static_cast<double>(most)) return;
  list_monomials(choice, d);
  const int degree = kernel_degree(choice.kernel);
  for (std::size_t t = 1; t < monomial_.size(); ++t) {
    std::vector<int> parent = monomial_[t];
    std::size_t axis = 0;
    while (parent[axis] == 0) ++axis;
    --parent[axis];
    power_.push_back({t, find(parent), axis});
  }
  // After r passes along an axis the moments of degree a >= r have z^(a-r) (z + s)^r.
  for (std::size_t axis = 0; axis < d; ++axis) {
    for (int r = 1; r <= degree; ++r) {
      for (std::size_t t = monomial_.size(); t-- > 0;) {
        std::vector<int> lower = monomial_[t];
        if (lower[axis] < r) continue;
        --lower[axis];
        move_.push_back({t, find(lower), axis});
      }
    }
  }
  expand(choice, d);
}

/// In an order in which what divides a monomial stands before it.
void KernelMoments::list_monomials(const KernelChoice& choice, std::size_t d) {
  const int degree = kernel_degree(choice.kernel);
  const bool product = choice.type == KernelType::product;
  std::vector<int> b(d, 0);
  for (;;) {
    monomial_.push_back(b);
    std::size_t k = 0;
    for (; k < d; ++k) {
      ++b[k];
      int of_all = 0;
      for (const int e : b) of_all += e;
      if ((product ? b[k] : of_all) <= degree) break;
      b[k] = 0;
    }
    if (k == d) return;
  }
}

/// The kernel's coefficients: (1 - u^2)^p in all variables, or in each of them.
void KernelMoments::expand(const KernelChoice& choice, std::size_t d) {
  coefficient_.assign(monomial_.size(), 0.0);
  coefficient_[0] = 1;
  const auto multiply = [&](std::size_t first, std::size_t last) {
    for (std::size_t t = monomial_.size(); t-- > 0;) {
      for (std::size_t k = first; k < last; ++k) {
        std::vector<int> lower = monomial_[t];
        if (lower[k] < 2) continue;
        lower[k] -= 2;
        coefficient_[t] -= coefficient_[find(lower)];
      }
    }
  };
  for (int p = 0; p < row_of(choice.kernel).outer; ++p) {
    if (choice.type == KernelType::product) {
      for (std::size_t k = 0; k < d; ++k) multiply(k, k + 1);
    } else {
      multiply(0, d);
    }
  }
}

std::size_t KernelMoments::find(const std::vector<int>& exponents) const {
  const auto at = std::find(monomial_.begin(), monomial_.end(), exponents);
  return static_cast<std::size_t>(at - monomial_.begin());
}

void KernelMoments::add(double w, const double* z, double* power, double* to) const {
  power[0] = w;
  to[0] += w;
  for (const Step& step : power_) {
    power[step.to] = power[step.from] * z[step.axis];
    to[step.to] += power[step.to];
  }
}

void KernelMoments::move(const double* s, double* moments) const {
  for (const Step& step : move_) moments[step.to] += s[step.axis] * moments[step.from];
}

double KernelMoments::sum(const double* moments) const {
  double sum = 0;
  for (std::size_t t = coefficient_.size(); t-- > 0;) sum += coefficient_[t] * moments[t];
  return sum;
}

}  // namespace kestrel
