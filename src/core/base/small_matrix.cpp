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
  const Eigen::Index size = static_cast<Eigen::Index>(n);
  const Eigen::LLT<Eigen::MatrixXd> factors(Eigen::Map<const Eigen::MatrixXd>(matrix, size, size));
  if (factors.info() != Eigen::Success) return false;
  // Pivots are squares of the factor's diagonal.
  if (!(factors.matrixLLT().diagonal().array().square().minCoeff() > least)) return false;
  Eigen::Map<Eigen::VectorXd>(y, size) = factors.solve(Eigen::Map<const Eigen::VectorXd>(b, size));
  return true;
}

}  // namespace kestrel
