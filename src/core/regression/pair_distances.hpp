// Distances of observations on a line: where cross-validation curves jump and bend.
#ifndef KESTREL_CORE_REGRESSION_PAIR_DISTANCES_HPP
#define KESTREL_CORE_REGRESSION_PAIR_DISTANCES_HPP

#include <cstddef>
#include <optional>
#include <vector>

#include "core/data/sorted_sample.hpp"

namespace kestrel {

/// The maximum number of pairs that are listed: 8 MB, which are sorted in less than a tenth of a
/// second.
constexpr std::size_t kMaxPairDistances = 1000000;

/// Of which positions distances are taken.
enum class PairsOf {
  /// All of them: there windows gain observations, and the curve of a compact kernel may bend; that
  /// of the uniform kernel jumps.
  all,
  /// Those next to each other or next but one, which include every position and its two nearest
  /// others. Kernels that are zero at the edge let an observation in with no weight, so their
  /// curves jump only where a window gains its first position or, with local linear fits, its
  /// second.
  nearest
};

/// The distances in (lower, upper] of distinct positions, ascending, each once, as rounded
/// differences: those that decide what is in a window. None if the pairs are more than
/// kMaxPairDistances. O(n) and a sort of the pairs.
std::optional<std::vector<double>> pair_distances(const SortedSample& sample, double lower,
                                                  double upper, PairsOf pairs);

/// Of the first `rows` rows in the given order the one whose nearest other row is the farthest: its
/// number in sorted order, the first of several, and that distance. O(n). The sample has at least
/// two rows.
struct Isolated {
  std::size_t number;
  double distance;
};
Isolated most_isolated(const SortedSample& sample, std::size_t rows,
                       const ParallelOptions& options);

}  // namespace kestrel

#endif
