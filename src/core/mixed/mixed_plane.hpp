// The local plane: a weighted least-squares fit by several columns.
#ifndef KESTREL_CORE_MIXED_MIXED_PLANE_HPP
#define KESTREL_CORE_MIXED_MIXED_PLANE_HPP

#include <cstddef>
#include <vector>

#include "core/mixed/mixed_tiles.hpp"
#include "simd/mixed/mixed.hpp"

namespace kestrel {

/// A local fit at a point, relative to a reference response. The weights of the samples in it are
/// l_j = w_j t_j / scale, t_j = weight[0] + sum_c weight[c + 1] z_c, with z_c = (x_c - point_c) /
/// unit(c); the fit minus the reference is beta[0], its slopes by z_c are beta[c + 1].
struct MixedFit {
  bool supported = false;  // some sample has a positive weight
  bool ridged = false;     // a direction in which the neighbours do not differ has no slope
  double sum = 0.0;        // of the weights, divided by scale
  double scale = 1.0;
  std::vector<double> beta, weight;
};

/// The samples of a fit: their weights, responses minus the reference, and columns z.
struct MixedPlaneData {
  const MixedTiles& tiles;
  const double *weight, *v;
  const std::vector<double*>& z;
  double* spare;  // room for a number for each sample
};

/// Planes through one set of samples after another.
class MixedPlane {
 public:
  /// one_sign: no weight is negative.
  MixedPlane(std::size_t columns, bool one_sign, const simd::MixedTable& table)
      : columns_(columns), one_sign_(one_sign), table_(table), mean_(columns) {}

  /// Adds `beta`, `weight` and `ridged` to a fit with the sum of the weights, which may be made
  /// more precise. O(n p^2).
  void solve(const MixedPlaneData& data, MixedFit& fit);
  /// The same from sums about the point, for weights of one sign: of 1, the response, each column,
  /// each with the response, and of the products of columns k and m <= k, row after row. Returns
  /// false, with no fit, if it would lose digits.
  bool solve_sums(const double* sums, MixedFit& fit);
  static std::size_t number_of_sums(std::size_t columns) {
    return 2 + 2 * columns + columns * (columns + 1) / 2;
  }
  /// After solve(): the slope by column c is sum_j w_j (a[0] + sum_k a[k + 1] z_kj) v_j.
  void slope_weights(std::size_t c, double* a) const;

 private:
  /// Moments of 1 and the columns about `mean_`, with each other and with the responses minus
  /// `level_`.
  template <class Real>
  struct Moments {
    std::vector<Real> moment, right;
  };

  void clear();
  /// Both return whether the moments have lost three digits at most.
  bool sum_up(const MixedPlaneData& data, double sum);
  bool centre(double sum, double magnitude, const std::vector<double>& magnitude_first);
  void sum_up_precisely(const MixedPlaneData& data);
  /// Returns false, with no fit, if a pivot is below `least_pivot` of its magnitude.
  template <class Real>
  bool solve_moments(const Moments<Real>& moments, double least_pivot, MixedFit& fit);

  const std::size_t columns_;
  const bool one_sign_;
  const simd::MixedTable& table_;
  Moments<double> fast_;
  Moments<long double> precise_;
  /// The mean of the columns, weighted by the magnitudes of the weights; the sums of the magnitudes
  /// of the terms of the moments' diagonal; the inverse of the moments; sums of the columns.
  std::vector<double> mean_, size_, inverse_, first_;
  double level_ = 0.0;
};

}  // namespace kestrel

#endif
