// Bandwidths of regressions on mixed data that are distances to nearest neighbours.
#ifndef KESTREL_CORE_MIXED_MIXED_NEIGHBOURS_HPP
#define KESTREL_CORE_MIXED_MIXED_NEIGHBOURS_HPP

#include <cstddef>
#include <memory>
#include <vector>

#include "core/mixed/mixed_sample.hpp"

namespace kestrel {

/// The distances along each column to the nearest neighbours that kernel.h counts, as of
/// NeighbourWalk: of points (generalized_nn) or samples (adaptive_nn). Samples of weight 0 are no
/// neighbours. The window of the uniform kernel is open.
class MixedNeighbours {
 public:
  /// O((n + m) log n + m k) for each column. Throws error(input) if adaptive_nn and a sample has
  /// no k-th neighbour.
  MixedNeighbours(const MixedSample& sample, const MixedSample& points, const MixedKernel& kernel,
                  const ParallelOptions& options);
  /// Null for bandwidths that are fixed.
  static std::unique_ptr<MixedNeighbours> of(const MixedSample& sample, const MixedSample& points,
                                             const MixedKernel& kernel,
                                             const ParallelOptions& options);

  bool adaptive() const { return adaptive_; }
  /// The reciprocals of the bandwidths: at point i along all columns, false if it lacks neighbours;
  /// of all samples along column c.
  bool copy_scales(std::size_t i, double* to) const;
  const double* scales(std::size_t c) const { return scale_.data() + c * rows_; }
  /// Of a sample: the product of reciprocals over all columns, relative to the largest of each,
  /// which its weight is multiplied by.
  double times(std::size_t j) const { return times_.empty() ? 1.0 : times_[j]; }

 private:
  bool adaptive_;
  std::size_t rows_, columns_;
  std::vector<double> scale_, times_;
};

}  // namespace kestrel

#endif
