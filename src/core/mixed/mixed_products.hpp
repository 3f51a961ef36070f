// The products of the kernels of continuous columns at one point.
#ifndef KESTREL_CORE_MIXED_MIXED_PRODUCTS_HPP
#define KESTREL_CORE_MIXED_MIXED_PRODUCTS_HPP

#include <cstddef>
#include <vector>

#include "core/mixed/mixed_neighbours.hpp"
#include "core/mixed/mixed_tiles.hpp"
#include "shared/mixed_reach.hpp"

namespace kestrel {

/// Columns with kernels of one form are a group, which a leaf computes at once. One object a
/// worker.
class MixedProducts {
 public:
  /// by_point: the derivatives are those by the point, not by log(h) or, with neighbours, by a
  /// factor of all bandwidths of a column. neighbours: null for fixed bandwidths.
  MixedProducts(const MixedSample& sample, const MixedKernel& kernel, bool by_point,
                const MixedNeighbours* neighbours, const simd::MixedTable& table);

  /// The columns with a finite bandwidth, in the order of derivatives.
  const std::vector<std::size_t>& columns() const { return columns_; }
  /// Whether kernels of one form are exponentials, so that products may underflow.
  bool gaussian() const { return gaussian_groups_ == 1; }
  /// Whether some kernel is zero beyond a distance, with bandwidths that are the same for all
  /// samples; and whether all samples with columns between `low` and `high` are beyond it.
  bool has_reach() const { return has_reach_; }
  bool out_of_reach(const double* point, const double* low, const double* high) const;
  /// The sum of squares in bandwidths between a sample and a point along the columns of these.
  double square_distance(std::size_t j, const double* point) const;

  /// The reciprocals of the bandwidths of all columns at the next points.
  void set_scales(const double* scale);
  /// At a point. Gaussian kernels are divided by exp(-nearest / 2); nearest = 0 unless gaussian().
  void start(const double* point, double nearest);
  /// Of `count` samples from `begin` on, at most MixedTiles::kTile, to value[0], ...; derivatives
  /// by the columns to slope[k][0], ... unless `slope` is null.
  void fill(std::size_t begin, std::size_t count, double* value, double* const* slope);

 private:
  struct Group {
    ContinuousKernel kernel;
    double reach;                          // 0 if it has none
    std::vector<std::size_t> place;        // in columns_
    std::vector<const double*> x, scales;  // of samples, if these have bandwidths of their own
    std::vector<double> scale, at;
  };
  simd::MixedProduct product_of(const Group& group, double* value, double* const* slope) const;

  const simd::MixedTable& table_;
  const bool by_point_;
  bool has_reach_ = false;
  std::vector<std::size_t> columns_;
  std::vector<Group> groups_;
  int gaussian_groups_ = 0;
  double nearest_ = 0.0;
  std::vector<double> spare_;
};

}  // namespace kestrel

#endif
