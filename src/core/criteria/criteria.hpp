// What bandwidth selectors minimise, and what they estimate on the way, written once over the sums
// of any engine.
//
// Matrices, gradients and W are those of pair_sums.hpp; s = sum w^2 / W^2 stands where a formula
// divides by n. Values are in the units of the density. Errors: those of the sums, relative to the
// sum of the absolute values of the terms. The same bits for any number of threads. Cost: that of
// the sums. The core's errors are those of the engine; error(input) is also for a matrix that is
// not positive definite.
#ifndef KESTREL_CORE_CRITERIA_CRITERIA_HPP
#define KESTREL_CORE_CRITERIA_CRITERIA_HPP

#include <vector>

#include "core/criteria/pair_sums.hpp"

namespace kestrel {

/// unbiased: sums over i != j divided by their number, as in Wand & Jones (1995), eq. 3.4, and in
/// ks; paper: divided by n^2, as in Andrzejewski et al. (2013), eq. 24.
enum class LscvForm { unbiased, paper };

/// Least-squares cross-validation of the Gaussian kernel: W^-2 sum_{i,j} w_i w_j K_2H(x_i - x_j) -
/// 2 c W^-2 sum_{i != j} w_i w_j K_H(x_i - x_j), c = 1 / (1 - s) or, for the paper's form, 1 (Wand
/// & Jones 1995, 3.3 and 4.7; Chacon & Duong 2010). Throws error(input) for fewer than two samples
/// with a weight.
SumWithGradient lscv(PairSums& sums, Span<const double> H, LscvForm form, bool gradient,
                     const RunOptions& options);

/// Cross-validation for the derivatives of an order r, r >= 1: (-1)^r times the sums of lscv() with
/// (nabla^2)^r K_M in place of K_M, by x, M = 2H and H (Chacon & Duong 2013, section 3.1). Orders
/// up to 3, and without a gradient 4. Units of the density over x^2r.
SumWithGradient derivative_lscv(PairSums& sums, Span<const double> H, int order, bool gradient,
                                const RunOptions& options);

/// The same as lscv() at h^2 S for every h; on the line with any kernel that the engine takes, and
/// K*K in place of K_2H (Andrzejewski et al. 2013, eqs 24-27). S is d*d.
std::vector<double> lscv_curve(PairSums& sums, Span<const double> S, Span<const double> h,
                               Kernel kernel, LscvForm form, const RunOptions& options);

/// Smoothed cross-validation at several H with as many pilots G, one after the other: s K_2H(0) +
/// W^-2 sum_{i,j} w_i w_j (K_(2H + 2G) - 2 K_(H + 2G) + K_2G)(x_i - x_j) (Duong & Hazelton 2005,
/// eq. 5; on the line Jones, Marron & Park 1991). The gradients are by H.
std::vector<SumWithGradient> scv(PairSums& sums, Span<const double> H, Span<const double> G,
                                 bool gradient, const RunOptions& options);

/// Smoothed cross-validation for the derivatives of an order r, r >= 1: (-1)^r times the sums of
/// scv() at one H and one pilot G with (nabla^2)^r K_M in place of K_M (Chacon & Duong 2011,
/// section 3). Orders and units as for derivative_lscv(). A difference of three sums, to 1e-12 of
/// the first.
SumWithGradient derivative_scv(PairSums& sums, Span<const double> H, Span<const double> G,
                               int order, bool gradient, const RunOptions& options);

/// psi_alpha(g) = W^-2 sum_{i,j} w_i w_j D^alpha phi_g(x_i - x_j), i = j included, for the alpha of
/// multi_indices(d, order) (Wand & Jones 1995, 4.7; Chacon & Duong 2010). Units x^-(d + order).
std::vector<double> psi(PairSums& sums, double g, int order, const RunOptions& options);

/// The same sum of (nabla^2)^(order/2) phi_g for every g: on the line the functionals psi_r of Wand
/// & Jones (1995, 3.5).
std::vector<double> eta(PairSums& sums, Span<const double> g, int order, const RunOptions& options);

}  // namespace kestrel

#endif
