// Sums over all pairs by the engine "fourier": Gaussian sums and density functionals for any
// bandwidth matrix, in one to three dimensions, after one pass over the data.
#ifndef KESTREL_CORE_CRITERIA_FOURIER_SUMS_HPP
#define KESTREL_CORE_CRITERIA_FOURIER_SUMS_HPP

#include <array>
#include <memory>
#include <vector>

#include "core/criteria/pair_sums.hpp"
#include "core/data/weights.hpp"
#include "core/fourier/mode_source.hpp"
#include "core/fourier/modes.hpp"

namespace kestrel {

/// Matrices, sums and gradients are those of pair_sums.hpp. With `axes`, a matrix A (d*d,
/// column-major), a query is about the samples A x_i: its matrices, its gradient and its value are
/// in the units of A x. So data that are scaled or sphered need no other grid. Empty means A = I.
///
/// Errors: the tolerance, relative to the sum of the absolute values of the Fourier integrand,
/// which is the value itself for gaussian(), smoothed() and the psi of even exponents, with i = j.
/// The same bits for every number of threads.
///
/// Clusters of samples that are farther apart than kernels reach are packed, if that makes the grid
/// less than half as large (core/fourier/pack.hpp).
///
/// For a bandwidth matrix outside the range of the grid the samples are spread again, over a grid
/// that serves it too; this may throw error(memory). So the last bits depend on the calls before.
/// Not thread-safe, and not to be used inside a parallel_for.
class FourierSums {
 public:
  /// x and w must outlive the object. Errors and cost as fourier_geometry and FourierGrid.
  FourierSums(const MatrixView& x, Weights w, const FourierDemand& demand,
              const RunOptions& options);

  /// Of samples that are on a grid already, whose spacing is fixed: bandwidths that it does not
  /// serve are error(unfit). Modes are made when they are needed, and again for wider bandwidths.
  /// `source` must outlive the object.
  explicit FourierSums(const ModeSource& source);
  /// Tells it what a selector will ask for, if it has such samples. Returns whether it has.
  bool expect(const FourierDemand& demand);

  /// Replaces the grid by one for bandwidths from `min` to `max` (as in FourierDemand) only, unless
  /// the present one serves them: for a curve over a wide range, part by part. A grid for all of it
  /// would need a long period and small cells at once. Errors and cost as of the constructor.
  void prepare(double min, double max, const RunOptions& options);

  /// The smallest and the largest h with S = h^2 times the squared root of the demand along some
  /// direction.
  std::array<double, 2> relative_bandwidths(Span<const double> S, Span<const double> axes,
                                            const RunOptions& options);

  /// K_M.
  SumWithGradient gaussian(Span<const double> M, bool gradient, const RunOptions& options,
                           Span<const double> axes = {});

  /// K_2H and K_H in one pass over the modes (Wand & Jones 1995, 4.7; Chacon & Duong 2010).
  PairSums::Both both(Span<const double> H, bool gradient, const RunOptions& options,
                      Span<const double> axes = {});

  /// K_(2H + 2G) - 2 K_(H + 2G) + K_2G, i = j included, in one pass without cancellation (Duong &
  /// Hazelton 2005, eq. 5). The gradient is by H.
  SumWithGradient smoothed(Span<const double> H, Span<const double> G, bool gradient,
                           const RunOptions& options, Span<const double> axes = {});

  /// psi_alpha(G) = W^-2 sum_{i,j} w_i w_j D^alpha K_G(x_i - x_j), i = j included (Chacon & Duong
  /// 2010), for the multi-indices of degree r = order, even and at most 10, in the order of
  /// even_multi_indices. The derivative of psi_alpha by G_kl is half of psi_(alpha + e_k + e_l),
  /// one of order r + 2, since the normal density obeys the heat equation.
  std::vector<double> psi(Span<const double> G, int order, const RunOptions& options,
                          Span<const double> axes = {});

  const FourierModes& modes() const { return *modes_; }
  /// Those of the last grid, for a density; null after a spread that was interrupted, and if the
  /// samples are packed.
  const FourierModes* kept_modes() const { return packed_root_.empty() ? modes_.get() : nullptr; }
  /// How often the samples were spread; for tests.
  int spreads() const { return spreads_; }

 private:
  /// Spreads the samples again if an earlier spread was interrupted.
  void make_ready(const RunOptions& options);
  const FourierGeometry& geometry() const {
    return source_ != nullptr ? source_->axes() : modes_->geometry();
  }
  void spread(double min, double max, const RunOptions& options);
  /// Spreads packed samples, and returns true, if that takes less than half of so many cells.
  bool spread_packed(const FourierDemand& demand, double cells, const RunOptions& options);
  void set_modes(const MatrixView& x, Weights w, const FourierGeometry& geometry,
                 const FourierDemand& demand, const RunOptions& options);
  /// Makes sure that the grid serves Gaussians of these forms, for sums of that degree.
  void cover(const Form3& narrow, const Form3& wide, int degree, const RunOptions& options);

  MatrixView x_;
  Weights w_;
  FourierDemand demand_;  // of a source only the bandwidths, in units of its axes
  const ModeSource* source_ = nullptr;
  std::unique_ptr<FourierModes> modes_;
  /// If the samples are packed: the root in units of which they are. That of the grid is the
  /// identity then.
  std::vector<double> packed_root_;
  int spreads_ = 0;
};

}  // namespace kestrel

#endif
