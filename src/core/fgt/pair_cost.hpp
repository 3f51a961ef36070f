// From which bandwidth on cells cost less than sums pair by pair.
#ifndef KESTREL_CORE_FGT_PAIR_COST_HPP
#define KESTREL_CORE_FGT_PAIR_COST_HPP

#include <vector>

#include "core/fgt/cell_order.hpp"

namespace kestrel {

/// Seconds of lag sums over that many pairs of cells with that many moments, computing the moments
/// included.
double cell_seconds(double cell_pairs, double samples, int moments);
/// Seconds of sorting samples, with which sums pair by pair begin.
double sort_seconds(double samples);

/// The number of samples in each cell.
class CellCounts {
 public:
  explicit CellCounts(const CellOrder& order);

  /// The counts of wider cells, each of two narrow ones.
  void coarsen_to(int exponent);
  /// Whether moments of cells cost less than the sums pair by pair, for `sums` bandwidths.
  bool favour_cells(int lags, int moments, double sums) const;

 private:
  int exponent_;
  std::vector<double> key_, count_;
};

}  // namespace kestrel

#endif
