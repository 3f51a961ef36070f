// Derivatives of Gaussian kernel sums at evaluation points, pair by pair.
#ifndef KESTREL_CORE_DIRECT_DERIVATIVES_HPP
#define KESTREL_CORE_DIRECT_DERIVATIVES_HPP

#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/evaluation_points.hpp"
#include "core/data/weights.hpp"
#include "core/kernel/derivative.hpp"

namespace kestrel {

/// For each monomial the factor that makes the sum of w_j u^a exp(-|u|^2 / 2) of sums in the
/// coordinates of tiles, which are u times gaussian_unit(). O(monomials).
std::vector<double> moment_units(const Monomials& monomials);

/// out[t * m + i] = sum_j w_j u^a exp(-|u|^2 / 2), u = L^-1 (e_i - x_j), for every monomial u^a of
/// at most that degree, a = a_t in the order of Monomials. All else as for direct_derivatives().
void direct_moments(const MatrixView& x, Weights w, const EvaluationPoints& points,
                    Span<const double> root, int degree, const RunOptions& options,
                    Span<double> out);

/// out[t * m + i] = sum_j w_j D^a K_H(e_i - x_j), K_H the N(0, H) density, a = a_t the multi-index
/// number t of |a| = order in the order of Monomials (core/kernel/derivative.hpp), i < m.
///
/// x: n*d samples; w: n weights; points: m points of dimension d; root: lower Cholesky factor L of
/// H = L L', d*d column-major, in the units of x; out: m * derivative_count(d, order) values in
/// units of x^-(d + order). order: 0 to kHighestDerivative.
/// Error: at most 1e-13 of the sum of the absolute values of the terms of the Hermite polynomials.
/// The same bits for every number of threads. Throws error(input) if sizes do not match, a root is
/// not positive, and as derivative_count(). O(n m M), M the monomials up to that order; memory
/// O(m d + M^2), and about 64 MiB more.
void direct_derivatives(const MatrixView& x, Weights w, const EvaluationPoints& points,
                        Span<const double> root, int order, const RunOptions& options,
                        Span<double> out);

}  // namespace kestrel

#endif
