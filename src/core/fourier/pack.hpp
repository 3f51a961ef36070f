// Clusters of samples that are far apart, moved together so that one small grid holds them.
//
// Pairs of samples farther apart than the reach of the widest kernel add nothing to a sum over
// pairs. So each cluster may be shifted, as long as it stays that far from the others:
//
//      a                                          a    b   cc
//                                 b      =>       aa   b   c
//      aa         c c             b
//
// Sums over pairs do not change; the grid has the size of the clusters, not of the gaps.
#ifndef KESTREL_CORE_FOURIER_PACK_HPP
#define KESTREL_CORE_FOURIER_PACK_HPP

#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"
#include "core/fourier/geometry.hpp"

namespace kestrel {

struct PackedSamples {
  std::size_t d = 0;
  std::vector<double> z;  // n*d, whitened and moved; in the order given
  std::vector<double> w;
  /// The box of the clusters, by variable. Samples of clusters so small that their pairs are better
  /// summed one by one lie outside of it.
  Point3 low{}, high{};

  MatrixView view() const { return {z.data(), w.size(), d}; }
  Weights weights() const { return {w.data(), w.size()}; }
};

/// Finds clusters that are at least a reach apart, and packs them. The reach is such that the pairs
/// of different clusters are at most a twentieth of the tolerance of a sum for bandwidths of at
/// most `max`, in units of the root, and of its moments of degree two.
///
/// x: n*d samples, d = 1 to 3, finite; w: n weights; root: lower triangular, d*d column-major. The
/// result has no samples if the clusters do not take less than half of the volume that the samples
/// span. It is the same for any number of threads. O(n) expected, with at most 150 bytes a sample;
/// O(1) if a few samples show that there is nothing to gain.
PackedSamples pack_clusters(const MatrixView& x, Weights w, const std::vector<double>& root,
                            double max, double tolerance, const RunOptions& options);

}  // namespace kestrel

#endif
