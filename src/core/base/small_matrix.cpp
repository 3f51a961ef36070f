#include "core/base/small_matrix.hpp"

// Eigen must not start threads of its own: only parallel_for does.
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>

namespace kestrel {

namespace {

Eigen::Map<const Eigen::MatrixXd> view_of(const std::vector<double>& matrix, std::size_t n) {
  const Eigen::Index size = static_cast<Eigen::Index>(n);
  return {matrix.data(), size, size};
}

std::vector<double> numbers_of(const Eigen::MatrixXd& m) { return {m.data(), m.data() + m.size()}; }

/// solve_definite(). With a size that the compiler knows nothing is allocated.
template <int kSize>
bool solve_sized(const double* matrix, std::size_t n, double least, const double* b, double* y) {
  using Square = Eigen::Matrix<double, kSize, kSize>;
  using Vector = Eigen::Matrix<double, kSize, 1>;
  const Eigen::Index size = static_cast<Eigen::Index>(n);
  const Eigen::LLT<Square> factors(Eigen::Map<const Square>(matrix, size, size));
  if (factors.info() != Eigen::Success) return false;
  // Pivots are squares of the factor's diagonal.
  if (!(factors.matrixLLT().diagonal().array().square().minCoeff() > least)) return false;
  Eigen::Map<Vector>(y, size) = factors.solve(Eigen::Map<const Vector>(b, size));
  return true;
}

}  // namespace

std::vector<double> lower_times_transpose(Span<const double> lower, std::size_t n) {
  std::vector<double> product(n * n, 0.0);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      for (std::size_t k = 0; k <= std::min(a, b); ++k) {
        product[b * n + a] += lower[k * n + a] * lower[k * n + b];
      }
    }
  }
  return product;
}

SymmetricEigen symmetric_eigen(const std::vector<double>& matrix, std::size_t n) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(view_of(matrix, n));
  return {numbers_of(solver.eigenvalues()), numbers_of(solver.eigenvectors())};
}

std::vector<double> inverse_matrix(const std::vector<double>& matrix, std::size_t n) {
  return numbers_of(Eigen::PartialPivLU<Eigen::MatrixXd>(view_of(matrix, n)).inverse());
}

double determinant(const std::vector<double>& matrix, std::size_t n) {
  return Eigen::PartialPivLU<Eigen::MatrixXd>(view_of(matrix, n)).determinant();
}

bool solve_definite(const double* matrix, std::size_t n, double least, const double* b, double* y) {
  switch (n) {
    case 1: return solve_sized<1>(matrix, n, least, b, y);
    case 2: return solve_sized<2>(matrix, n, least, b, y);
    case 3: return solve_sized<3>(matrix, n, least, b, y);
    default: return solve_sized<Eigen::Dynamic>(matrix, n, least, b, y);
  }
}

}  // namespace kestrel
