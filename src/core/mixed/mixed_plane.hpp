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
  MixedPlane(std::size_t columns, const simd::MixedTable& table)
      : columns_(columns), table_(table), mean_(columns) {}

  /// Adds `beta`, `weight` and `ridged` to a fit with the sum of the weights. O(n p^2).
  void solve(const MixedPlaneData& data, MixedFit& fit);
  /// After solve(): the slope by column c is sum_j w_j (a[0] + sum_k a[k + 1] z_kj) v_j.
  void slope_weights(std::size_t c, double* a) const;

 private:
  void sum_up_centred(const MixedPlaneData& data, std::vector<double>& c, std::vector<double>& g,
                      double* level);

  const std::size_t columns_;
  const simd::MixedTable& table_;
  std::vector<double> inverse_;  // of the centred moments
  std::vector<double> mean_;
};

}  // namespace kestrel

#endif
