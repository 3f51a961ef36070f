// Queries: the mass and moments of a density in boxes.
#ifndef KESTREL_CORE_QUERY_QUERY_HPP
#define KESTREL_CORE_QUERY_QUERY_HPP

#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

/// The density sum_j w_j K_H(z - x_j) / sum_j w_j; x: n*d; w: n weights that are not negative;
/// root: lower Cholesky factor of H, d*d column-major.
struct QueryDensity {
  MatrixView x;
  Weights w;
  KernelChoice kernel;
  Span<const double> root;
};

/// For every box: its share of the density; and the mean and variance of a variable in the box
/// under that density, NaN without mass and empty if no variable was asked for.
struct QueryAnswers {
  std::vector<double> share, mean, variance;
};

/// lower, upper: m*d limits, which may be infinite; of: the variable asked for, or -1
/// (Andrzejewski et al. 2013, eq. 9 to 11).
///
/// Kernels: the normal one with any H, product kernels (diagonal H), and radial ones that are
/// polynomials in up to three dimensions; in one dimension any kernel.
///
/// Error of a share:
/// - normal kernel, diagonal H: 5e-15 (1 + d) of itself (measured; z bandwidths from the data the
///   rounding of limits adds 6e-16 z^2);
/// - normal kernel with correlations: 1e-13 of itself for each dimension, and 1e-13 of the whole
///   mass (core/query/normal_mixture.hpp), or 2e-13 d of the whole mass (see below);
/// - other product kernels: 1e-14 d of the whole mass, as limits are rounded at a kernel's edge;
/// - radial kernels: 1e-11 of the mass of the kernels that are cut.
///
/// Error of a variance, if the share is above 100 times its error: 1e-11 of itself and ten times
/// the share's relative error. In means and variances rows are rounded relative to their distance
/// from the middle one.
///
/// O(n d) for each box, times the terms of a mixture, less for nodes inside or outside, after O(n d
/// log n) for a tree, which takes one thread and does not poll; O(n d + m d) memory and at most 25
/// MB. Shares of many boxes of the normal kernel with correlations, in two and three variables, are
/// read off a Fourier series where that is expected to take less time (normal_series.hpp): O(n + N
/// log N + m) for N cells, without moments. The same bits for any number of threads; instruction
/// sets differ in the last bits.
///
/// Throws error(input) if sizes do not match, a limit is NaN or a lower one above the upper one,
/// weights are negative or all zero, numbers are not finite, samples lie more than 1e150 bandwidths
/// from each other, a root is not positive, for product kernels not diagonal, or for the normal
/// kernel too close to singular, and for other kernels.
QueryAnswers query_boxes(const QueryDensity& density, const MatrixView& lower,
                         const MatrixView& upper, std::ptrdiff_t of, const RunOptions& options);

/// For every box the share of the weights of the rows in it, limits included. x: n*d; w: n weights;
/// lower, upper: m*d. O(n log n + m n^(1 - 1/d)) time. Throws error(input) as above.
std::vector<double> query_rows(const MatrixView& x, Weights w, const MatrixView& lower,
                               const MatrixView& upper, const RunOptions& options);

}  // namespace kestrel

#endif
