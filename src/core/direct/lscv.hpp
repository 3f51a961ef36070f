// The direct engine for cross-validation with a bandwidth matrix, in any dimension: least-squares
// cross-validation (LSCV) and smoothed cross-validation (SCV) with the Gaussian kernel.
//
// S(H) = sum_{i<j} w_i w_j K_H(x_i - x_j), K_H the N(0, H) density, and H = L L'. With
// u = L^-1 (x_i - x_j) and the second moments M = sum_{i<j} w_i w_j K_H(x_i - x_j) u u',
//     dS = tr(G dH),   G = 1/2 L^-T (M - S I) L^-1,
// since d log K_H(x) = 1/2 (x' H^-1 dH H^-1 x - tr(H^-1 dH)) (Chacon & Duong 2010, section 4). By
// the entries of L itself, dS/dL is the lower triangle of 2 G L = L^-T (M - S I). For K*K = K_2H,
// with S_2 = sum w_i w_j K_2H, M_2 = sum w_i w_j K_2H u u' and u as above,
//     dS_2 = tr(G_2 dH),   G_2 = 1/2 L^-T (M_2 / 2 - S_2 I) L^-1.
// A sum of K_{a H + B} in SCV (Chacon & Duong 2010, eq. 9) is S at aH + B; its derivative by H is a
// times G there.
#ifndef KESTREL_CORE_DIRECT_LSCV_HPP
#define KESTREL_CORE_DIRECT_LSCV_HPP

#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/pair_curve.hpp"
#include "core/data/weights.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

/// A sum over pairs i < j of w_i w_j K, in units of the density of x; and that of w_i w_j K u u',
/// d*d column-major, symmetric, empty if not asked for.
struct GaussianPairSums {
  double sum = 0.0;
  std::vector<double> moments;
};

/// K*K = K_2H and K_H; the u of both is L^-1 (x_i - x_j).
struct LscvPairSums {
  GaussianPairSums convolution, kernel;
};

/// Turns sums in the whitened variable v of sqrt(2) L, in which K*K is 2^-|v|^2, into LscvPairSums:
/// multiplies by the constants of the densities, and turns v v' into u u'. Throws as direct_lscv.
void scale_lscv(std::size_t d, Span<const double> root, LscvPairSums& sums);

/// Bandwidths h, with H = h^2 L L', in the whitened variable v of smallest * L: at h, |u|^2 / 4 is
/// ln(2) factor |v|^2 with factor = (smallest / h)^2 / 2. Whitening by the smallest h makes blocks
/// of points small enough for all of them.
class CurveFactors {
 public:
  /// Throws as direct_lscv_curve.
  CurveFactors(std::size_t d, Span<const double> root, Span<const double> h);

  double smallest = 1.0;
  std::vector<double> factor;  // one for each h

  /// The curve, from sums without the constants of the densities: of K*K in sums[2 s], of K in
  /// sums[2 s + 1].
  PairCurve curve(const std::vector<double>& sums) const;

 private:
  std::vector<ScaledNumber> of_convolution_, of_kernel_;
};

/// All sums of LSCV(H) (math: Wand & Jones 1995, 4.7; Andrzejewski et al. 2013, eq. 32-35), with
/// one exponential a pair: K_2H is exp(-s/4), K_H its square. x: n rows in d variables; w: n
/// weights; root: lower Cholesky factor L of H, d*d column-major.
///
/// Error of a sum: at most 1e-13 of the sum of w_i w_j K (1 + (0.01 + 0.002 c) |u|^2), c the
/// largest |L_kl / L_kk|, l < k. That is relative to the sum itself, except for pairs beyond ten
/// bandwidths and for strong correlation, where it is the effect of rounding L (2^-52 c |u|^2).
/// Error of a moment: 1e-13 of the sum of these terms times (1 + |u_k u_l|). The same bits for any
/// number of threads. In up to three variables and for 1024 samples and more, pairs out of reach of
/// the kernel are left out if these are most (near_pairs.hpp). That adds an error of at most 2^-55
/// of the terms i = j, which every criterion has besides.
///
/// O(n^2 d / 2) time, O(n log n + pairs within reach) if others are left out, with moments about
/// twice that (d > 3: and another n^2 d^2 / 4 operations where points of a block of 256 lie more
/// than 16 bandwidths apart); O(n d) memory. Throws error(input) for a root as kernel_scale does,
/// and if there is not one weight a row.
LscvPairSums direct_lscv(const MatrixView& x, Weights w, Span<const double> root, bool moments,
                         const RunOptions& options);

/// S(H) and M for one matrix alone: for the sums of SCV with a pilot. Otherwise as direct_lscv.
GaussianPairSums direct_gaussian_moments(const MatrixView& x, Weights w, Span<const double> root,
                                         const RunOptions& options);

/// The sums of direct_lscv at H = h^2 Sigma for every bandwidth in h, which need not be sorted:
/// LSCV_h of Andrzejewski et al. (2013), eqs 24-27 and 39-43. root: of Sigma. The squared distance
/// of a pair is computed once and stays in cache for all h: O(n^2 (d + |h|) / 2) time, O(n d + |h|)
/// memory. Errors and bits as direct_lscv. Also throws error(input) for an h that is not a positive
/// number with a finite reciprocal.
PairCurve direct_lscv_curve(const MatrixView& x, Weights w, Span<const double> root,
                            Span<const double> h, const RunOptions& options);

}  // namespace kestrel

#endif
