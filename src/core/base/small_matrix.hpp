// The linear algebra of a few variables, by Eigen. No other file includes Eigen's headers for
// matrices: they take the compiler longer than most files of the core.
//
// A matrix is n*n numbers. Symmetric ones read the same by rows and by columns.
#ifndef KESTREL_CORE_BASE_SMALL_MATRIX_HPP
#define KESTREL_CORE_BASE_SMALL_MATRIX_HPP

#include <cstddef>
#include <vector>

#include "core/base/span.hpp"

namespace kestrel {

/// L L' of a lower triangle L, column-major. Does not read above the diagonal. O(n^3).
std::vector<double> lower_times_transpose(Span<const double> lower, std::size_t n);

/// Eigenvalues in ascending order; the eigenvector of value[k], of length one, is the n numbers
/// from vector[k * n] on.
struct SymmetricEigen {
  std::vector<double> value, vector;
};

/// Of a symmetric matrix, of which one triangle is read. O(n^3).
SymmetricEigen symmetric_eigen(const std::vector<double>& matrix, std::size_t n);

/// By elimination with pivots; not finite if the matrix is singular. O(n^3).
std::vector<double> inverse_matrix(const std::vector<double>& matrix, std::size_t n);
double determinant(const std::vector<double>& matrix, std::size_t n);

/// The solution y of A y = b by Cholesky's factors. Returns false, and sets nothing, unless A is so
/// positive definite that all its pivots are above `least`. A: symmetric, of which the lower
/// triangle is read. y and b: n numbers. O(n^3).
bool solve_definite(const double* matrix, std::size_t n, double least, const double* b, double* y);

}  // namespace kestrel

#endif
