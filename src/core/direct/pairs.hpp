// The direct engine over all pairs of samples, for bandwidth selectors.
#ifndef KESTREL_CORE_DIRECT_PAIRS_HPP
#define KESTREL_CORE_DIRECT_PAIRS_HPP

#include <vector>

#include "core/data/weights.hpp"
#include "core/direct/direct.hpp"

namespace kestrel {

/// sum_{i<j} w_i w_j K_H(x_i - x_j) with the normalised kernel. Arguments, errors and bits as
/// direct_density. O(n^2 d / 2) time, O(n d) memory.
double direct_pair_sum(const MatrixView& x, Weights w, const KernelChoice& choice,
                       Span<const double> root, const RunOptions& options);

/// sum_{i<j} w_i w_j (nabla^2)^(order/2) phi_g(x_i - x_j), phi_g the N(0, g^2 I_d) density, order
/// even and at most 10. In one dimension this is the derivative of that order: Andrzejewski et al.
/// (2013), eqs 15 and 17; in several the functional eta of Chacon & Duong (2010). Units
/// x^-(d+order). Terms alternate in sign: the error is 1e-14 of the sum of their absolute values.
/// O(n^2 d / 2) time, O(n d) memory. Throws error(input) for another order or a g that is not
/// positive.
double direct_pair_laplacian(const MatrixView& x, Weights w, double g, int order,
                             const RunOptions& options);

/// Its parts: coefficients of P in (nabla^2)^(order/2) exp(-q/2) = P(q) exp(-q/2), q = |u|^2 in
/// R^d, by nabla^2 (P e^(-q/2)) = [4 q P'' + (2 d - 4 q) P' + (q - d) P] e^(-q/2),
std::vector<double> laplacian_polynomial(std::size_t d, int order);
/// and the constant (2 pi)^(-d/2) g^(-d-order). Throws as direct_pair_laplacian.
ScaledNumber laplacian_scale(std::size_t d, double g, int order);

/// The multi-indices alpha of R^d with |alpha| = 0, 2, ..., order, each as d exponents, in the
/// order of direct_pair_moments.
std::vector<std::vector<int>> even_multi_indices(std::size_t d, int order);

/// sum_{i<j} w_i w_j exp(-|u|^2 / 2) u^alpha, u = (x_i - x_j) / g, for every alpha of
/// even_multi_indices(d, order): all the sums that the functionals psi_r, |r| <= order, need
/// (Chacon & Duong 2010). Order at most 8. O(n^2 (d+order choose d) / 2) time, O(n d) memory.
std::vector<double> direct_pair_moments(const MatrixView& x, Weights w, double g, int order,
                                        const RunOptions& options);

}  // namespace kestrel

#endif
