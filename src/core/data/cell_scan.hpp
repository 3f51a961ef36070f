// How many neighbours a sample has, and how they lie, at every scale: for data whose clusters are
// far narrower than they are apart.
#ifndef KESTREL_CORE_DATA_CELL_SCAN_HPP
#define KESTREL_CORE_DATA_CELL_SCAN_HPP

#include <cstddef>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

/// The samples in cubic cells of z = L^-1 x.
struct CellLevel {
  double side = 0;
  /// n_eff times the share, by weight, of the ordered pairs i != j that have a cell in common:
  /// without weights, the mean number of other samples in the cell of a sample.
  double neighbours = 0;
  /// The covariance of z within the cells, pooled, d*d; zero if all cells hold one place.
  std::vector<double> covariance;
};

/// Levels with sides widest, widest / 2, widest / 4, ..., down to the first one that has less than
/// `few` neighbours or at which all pairs with a common cell are ties.
///
/// x: n*d samples, finite; root: L, lower triangular, d*d column-major; widest > 0. With `thin`
/// only the widest cells of some samples are looked at, of so many that they hold at least 512
/// samples if there are as many. They are mostly crowded cells, so `neighbours` is then larger than
/// the mean of all samples.
///
/// O(n d) for each level, and less for those at which most samples are alone. At most 16 d + 60
/// bytes a sample. Throws error(input) if there is not one weight a row, error(memory) for 2^31
/// samples or more.
std::vector<CellLevel> scan_cells(const MatrixView& x, Weights w, Span<const double> root,
                                  double widest, double few, bool thin,
                                  const ParallelOptions& options);

}  // namespace kestrel

#endif
