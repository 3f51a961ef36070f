#include "core/fourier/forms.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

using SmallMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 3, 3>;

SmallMatrix to_matrix(const Form3& h, std::size_t d) {
  const Eigen::Index size = static_cast<Eigen::Index>(d), skip = 3 - size;
  SmallMatrix m(size, size);
  for (Eigen::Index i = 0; i < size; ++i) {
    for (Eigen::Index j = 0; j < size; ++j) {
      m(i, j) = h[static_cast<std::size_t>(3 * (i + skip) + j + skip)];
    }
  }
  return m;
}

}  // namespace

Form3 inverse_form(const Form3& h, std::size_t d) {
  const SmallMatrix inverse = to_matrix(h, d).inverse();
  Form3 out{};
  const Eigen::Index skip = 3 - static_cast<Eigen::Index>(d);
  for (Eigen::Index i = 0; i < inverse.rows(); ++i) {
    for (Eigen::Index j = 0; j < inverse.cols(); ++j) {
      out[static_cast<std::size_t>(3 * (i + skip) + j + skip)] = inverse(i, j);
    }
  }
  return out;
}

double peak_of_form(const Form3& h, std::size_t d) {
  return 1 / std::sqrt(std::pow(2 * kPi, static_cast<double>(d)) * to_matrix(h, d).determinant());
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

std::array<double, 2> eigenvalue_range(const Form3& h, std::size_t d) {
  const Eigen::SelfAdjointEigenSolver<SmallMatrix> solver(to_matrix(h, d), Eigen::EigenvaluesOnly);
  return {solver.eigenvalues().minCoeff(), solver.eigenvalues().maxCoeff()};
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
