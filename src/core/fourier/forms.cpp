#include "core/fourier/forms.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/small_matrix.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

/// The block of the last d axes.
std::vector<double> block_of(const Form3& h, std::size_t d) {
  std::vector<double> block;
  for (std::size_t i = 3 - d; i < 3; ++i) {
    for (std::size_t j = 3 - d; j < 3; ++j) block.push_back(h[3 * i + j]);
  }
  return block;
}

}  // namespace

Form3 inverse_form(const Form3& h, std::size_t d) {
  const std::vector<double> inverse = inverse_matrix(block_of(h, d), d);
  Form3 out{};
  const std::size_t skip = 3 - d;
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < d; ++j) out[3 * (j + skip) + i + skip] = inverse[i * d + j];
  }
  return out;
}

double peak_of_form(const Form3& h, std::size_t d) {
  return 1 / std::sqrt(std::pow(2 * kPi, static_cast<double>(d)) * determinant(block_of(h, d), d));
}

std::vector<Exponents> monomials_of_degree(std::size_t d, int degree) {
  std::vector<Exponents> all;
  for (int i = d == 3 ? degree : 0; i >= 0; --i) {
    const int rest = degree - i;
    for (int j = d >= 2 ? rest : 0; j >= 0; --j) {
      all.push_back({i, j, rest - j});
    }
  }
  return all;
}

std::vector<Exponents> monomials_of_degrees(std::size_t d, const std::vector<int>& degrees) {
  std::vector<Exponents> all;
  for (const int degree : degrees) {
    const std::vector<Exponents> one = monomials_of_degree(d, degree);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

double least_share(const Form3& h, std::size_t d, const Point3& length) {
  double share = 0.89 / peak_of_form(h, d);
  for (std::size_t a = 3 - d; a < 3; ++a) share /= length[a] + 4.2 * std::sqrt(h[4 * a]);
  return share;
}

double least_deviation(const Form3& h, std::size_t d) {
  const Form3 inverse = inverse_form(h, d);
  double largest = 0;
  for (std::size_t a = 3 - d; a < 3; ++a) largest = std::max(largest, inverse[4 * a]);
  return 1 / std::sqrt(largest);
}

std::array<double, 2> eigenvalue_range(const Form3& h, std::size_t d) {
  const std::vector<double> values = symmetric_eigen(block_of(h, d), d).value;
  return {values.front(), values.back()};
}

int degree_of(const Exponents& e) { return e[0] + e[1] + e[2]; }

int highest_degree(const std::vector<Exponents>& monomials) {
  int degree = 0;
  for (const Exponents& e : monomials) degree = std::max(degree, degree_of(e));
  return degree;
}

GaussianDerivatives::GaussianDerivatives(const Form3& h, std::size_t d, int degree)
    : inverse_(inverse_form(h, d)),
      peak_(peak_of_form(h, d)),
      d_(d),
      degree_(degree),
      value_(static_cast<std::size_t>(kSide * kSide * kSide), 0.0) {}

// D^(alpha + e_k) K = -((h^-1 u)_k D^alpha K + sum_l alpha_l (h^-1)_kl D^(alpha - e_l) K).
bool GaussianDerivatives::evaluate(const Point3& u, double max) {
  Point3 v{};
  double exponent = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) v[a] += inverse_[3 * a + b] * u[b];
    exponent += v[a] * u[a];
  }
  if (exponent > max) return false;
  const int max0 = d_ == 3 ? degree_ : 0, max1 = d_ >= 2 ? degree_ : 0;
  for (int i = 0; i <= max0; ++i) {
    for (int j = 0; j <= std::min(max1, degree_ - i); ++j) {
      for (int k = 0; k <= degree_ - i - j; ++k) {
        if (i + j + k == 0) {
          value_[0] = peak_ * std::exp(-0.5 * exponent);
          continue;
        }
        const std::size_t axis = i > 0 ? 0 : j > 0 ? 1 : 2;
        Exponents lower{i, j, k};
        --lower[axis];
        double sum = v[axis] * at(lower);
        for (std::size_t l = 0; l < 3; ++l) {
          if (lower[l] == 0) continue;
          Exponents lowest = lower;
          --lowest[l];
          sum += lower[l] * inverse_[3 * axis + l] * at(lowest);
        }
        value_[index_of({i, j, k})] = -sum;
      }
    }
  }
  return true;
}

}  // namespace kestrel
