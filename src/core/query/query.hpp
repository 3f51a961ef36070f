// Queries: what boxes hold of a density.
#ifndef KESTREL_CORE_QUERY_QUERY_HPP
#define KESTREL_CORE_QUERY_QUERY_HPP

#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

/// The density sum_j w_j K_H(z - x_j) / sum_j w_j, x: n*d, w: n weights that are not negative;
/// root: lower Cholesky factor of H, d*d column-major.
struct QueryDensity {
  MatrixView x;
  Span<const double> w;
  KernelChoice kernel;
  Span<const double> root;
};

/// Of every box: the share of the density; and mean and variance of a variable within, with the
/// density there as weights, NaN without mass and empty where no variable was asked for.
struct QueryAnswers {
  std::vector<double> share, mean, variance;
};

/// lower, upper: m*d limits, which may be infinite; of: the variable asked for, or -1
/// (Andrzejewski et al. 2013, eq. 9 to 11).
///
/// Kernels: the normal one with any H, product kernels (diagonal H), and radial ones that are
/// polynomials in up to three dimensions; one dimension any kernel.
/// Error: the normal kernel with a diagonal H, 5e-15 (1 + d) of the share itself (measured; z
/// bandwidths from the data the rounding of limits adds 6e-16 z^2); with correlations 1e-13 of the
/// share for each dimension and 1e-13 of the whole mass more (core/query/normal_mixture.hpp); other
/// product kernels 1e-14 d of the whole mass, as the rounding of limits is seen at a kernel's foot;
/// radial ones 1e-11 of the mass of the kernels that are cut. Variances of boxes whose share is
/// above 100 times that, 1e-11 of themselves and ten times the share's relative error. Means and
/// variances know rows to within the rounding of their distance from the middle one. O(n d) for
/// each box, times the terms of a mixture, less what is inside or out, after O(n d log n) for a
/// tree, on one thread and without a poll; O(n d + m d) memory and at most 25 MB. The same bits for
/// any number of threads; other instruction sets differ in the last ones.
/// Throws error(input) when sizes do not match, a limit is NaN or a lower one above the upper one,
/// weights are negative or all zero, numbers are not finite, samples lie more than 1e150 bandwidths
/// from each other, a root is not positive, for product kernels not diagonal, or for the normal
/// kernel too close to singular, and for other kernels.
QueryAnswers query_boxes(const QueryDensity& density, const MatrixView& lower,
                         const MatrixView& upper, std::ptrdiff_t of, const RunOptions& options);

/// Of every box the share of the weights of the rows that lie in it, limits included. x: n*d, w: n
/// weights; lower, upper: m*d. O(n log n + m n^(1 - 1/d)) time. Throws error(input) as above.
std::vector<double> query_rows(const MatrixView& x, Span<const double> w, const MatrixView& lower,
                               const MatrixView& upper, const RunOptions& options);

}  // namespace kestrel

#endif
