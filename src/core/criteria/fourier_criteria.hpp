// The `fourier` engine over all pairs of samples: Gaussian sums, cross-validation and density
// functionals for any bandwidth matrix, in one to three dimensions, after one pass over the data.
#ifndef KESTREL_CORE_CRITERIA_FOURIER_CRITERIA_HPP
#define KESTREL_CORE_CRITERIA_FOURIER_CRITERIA_HPP

#include <memory>
#include <vector>

#include "core/data/weights.hpp"
#include "core/fourier/modes.hpp"

namespace kestrel {

/// unbiased: sums over i != j divided by their number, as in Wand & Jones (1995), eq. 3.4, and in
/// ks; paper: divided by n^2, as in Andrzejewski et al. (2013), eq. 24.
enum class LscvForm { unbiased, paper };

/// Bandwidth matrices H, G are d*d, symmetric positive definite, in squared units of x. A gradient
/// is the symmetric matrix D, d*d, with dF = tr(D dH); with H = L L', dF = sum over the lower
/// triangle of (2 D L) dL. If `gradient` is empty, none is computed.
///
/// With `axes`, a matrix A (d*d, column-major), a query is about the samples A x_i: its matrices,
/// its gradient and its value are in the units of A x. So data that are scaled or sphered need no
/// other grid. Empty means A = I.
///
/// All values are relative to the number of samples. With weights that is W = sum w; where a
/// formula divides by n, it is n_eff = (sum w)^2 / sum w^2. Errors: the tolerance, relative to the
/// sum of the absolute values of the Fourier integrand, which is the value itself for mean_kernel,
/// scv and the psi of even exponents. The same bits for every number of threads.
///
/// For a bandwidth matrix outside the range of the grid the samples are spread again, over a grid
/// that serves it too; this may throw error(memory). So the last bits depend on the calls before.
/// Not thread-safe, and not to be used inside a parallel_for.
class FourierCriteria {
 public:
  /// x and w must outlive the object. Errors and cost as fourier_geometry and FourierGrid.
  FourierCriteria(const MatrixView& x, Weights w, const FourierDemand& demand,
                  const RunOptions& options);

  /// Replaces the grid by one for bandwidths from `min` to `max` (as in FourierDemand) only, unless
  /// the present one serves them: for a curve over a wide range, part by part. A grid for all of it
  /// would need a long period and small cells at once. Errors and cost as of the constructor.
  void prepare(double min, double max, const RunOptions& options);

  /// W^-2 sum_{i,j} w_i w_j K_H(x_i - x_j), i = j included.
  double mean_kernel(Span<const double> H, Span<double> gradient, const RunOptions& options);

  /// sum_{i<j} w_i w_j K_H(x_i - x_j), as direct_pair_sum. The error is relative to the sum with i
  /// = j.
  double pair_sum(Span<const double> H, const RunOptions& options);

  /// Least-squares cross-validation, S(2H) - 2 (S(H) without i = j): Wand & Jones (1995), 4.7;
  /// Chacon & Duong (2010). Throws error(input) for fewer than two samples with a weight.
  double lscv(Span<const double> H, LscvForm form, Span<double> gradient, const RunOptions& options,
              Span<const double> axes = {});

  /// Smoothed cross-validation with pilot G (Duong & Hazelton 2005, eq. 5): K_H*K_H(0) / n_eff +
  /// W^-2 sum_{i,j} w_i w_j (K_{2H+2G} - 2 K_{H+2G} + K_{2G})(x_i - x_j). The gradient is by H.
  double scv(Span<const double> H, Span<const double> G, Span<double> gradient,
             const RunOptions& options, Span<const double> axes = {});

  /// psi_alpha(G) = W^-2 sum_{i,j} w_i w_j D^alpha K_G(x_i - x_j), i = j included (Chacon & Duong
  /// 2010), for the multi-indices of degree r = order, even and at most 10, in the order of
  /// even_multi_indices. The derivative of psi_alpha by G_kl is half of psi_(alpha + e_k + e_l),
  /// one of order r + 2, since the normal density obeys the heat equation.
  std::vector<double> psi(Span<const double> G, int order, const RunOptions& options,
                          Span<const double> axes = {});

  const FourierModes& modes() const { return *modes_; }
  /// Those of the last grid, for a density; null after a spread that was interrupted.
  const FourierModes* kept_modes() const { return modes_.get(); }
  /// How often the samples were spread; for tests.
  int spreads() const { return spreads_; }

 private:
  /// Spreads the samples again if an earlier spread was interrupted.
  void make_ready(const RunOptions& options);
  void spread(double min, double max, const RunOptions& options);
  /// Makes sure that the grid serves Gaussians of these forms, for sums of that degree.
  void cover(const Form3& narrow, const Form3& wide, int degree, const RunOptions& options);

  MatrixView x_;
  Weights w_;
  FourierDemand demand_;
  std::unique_ptr<FourierModes> modes_;
  int spreads_ = 0;
};

}  // namespace kestrel

#endif
