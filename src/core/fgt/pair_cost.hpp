// From which bandwidth on cells cost less than the sums pair by pair.
#ifndef KESTREL_CORE_FGT_PAIR_COST_HPP
#define KESTREL_CORE_FGT_PAIR_COST_HPP

#include <vector>

#include "core/fgt/cell_order.hpp"

namespace kestrel {

/// Seconds of lag sums over so many pairs of cells with so many moments, these included.
double cell_seconds(double cell_pairs, double samples, int moments);
/// Seconds of bringing samples into order, which sums pair by pair begin with.
double sort_seconds(double samples);

/// How many samples there are in which cells.
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
