// Nearest neighbours on the line, as package np counts them.
#ifndef KESTREL_CORE_DATA_NEIGHBOURS_HPP
#define KESTREL_CORE_DATA_NEIGHBOURS_HPP

#include <cstddef>
#include <vector>

#include "core/base/raw_array.hpp"
#include "core/data/sorted_sample.hpp"

namespace kestrel {

/// Whether all fits have one bandwidth, each point its own, or each sample its own: distances to
/// neighbours.
enum class BandwidthType { fixed, generalized_nn, adaptive_nn };

/// Let d_0 < d_1 < ... be the distances of a point to the samples, as rounded, each of them once.
/// The k-th nearest neighbour is at d_k. At a sample d_0 = 0, so a sample is no neighbour of its
/// own, and neither are tied ones; two samples at the same distance are one neighbour, and at a
/// point between samples the nearest one counts as none. Distances that are no normal numbers are
/// taken for 0.
class NeighbourWalk {
 public:
  NeighbourWalk() = default;
  /// From a point outwards; x ascends. O(log n).
  NeighbourWalk(const double* x, std::size_t n, double point);

  /// d_k, NaN if there are no more than k distances. O(samples passed): k does not fall.
  double to(std::size_t k);
  /// How many neighbours have been met.
  std::size_t met() const { return met_; }

 private:
  const double* x_ = nullptr;
  std::size_t left_ = 0, right_ = 0, end_ = 0;  // passed are the samples [left_, right_)
  double point_ = 0.0, distance_ = -1.0;
  std::size_t met_ = 0;
};

/// Walks from all samples.
class NeighbourDistances {
 public:
  /// `line` outlives the object.
  NeighbourDistances(const SortedSample& line, const ParallelOptions& options);

  /// d_k of every sample, in sorted order; k does not fall. O(samples passed by the walks).
  RawArray<double> to(std::size_t k, const ParallelOptions& options);

 private:
  const std::size_t size_;
  std::vector<NeighbourWalk> walks_;
};

/// The largest k up to `limit` for which every sample has a k-th neighbour. O(n limit).
std::size_t most_neighbours(const SortedSample& line, std::size_t limit,
                            const ParallelOptions& options);

}  // namespace kestrel

#endif
