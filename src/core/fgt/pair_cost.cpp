#include "core/fgt/pair_cost.hpp"

#include <cmath>

#include "core/fgt/costs.hpp"

namespace kestrel {

double cell_seconds(double cell_pairs, double samples, int moments) {
  return 1e-9 * moments * (moments * cell_pairs * kLagCellPairNs + samples * kLagMomentNs);
}

double sort_seconds(double samples) { return 1e-9 * samples * kLagSortNs; }

CellCounts::CellCounts(const CellOrder& order) : exponent_(order.exponent()) {
  for (std::size_t c = 0; c < order.cells(); ++c) {
    key_.push_back(order.key(c));
    count_.push_back(static_cast<double>(order.count(c)));
  }
}

void CellCounts::coarsen_to(int exponent) {
  for (; exponent_ < exponent; ++exponent_) {
    std::size_t parents = 0;
    for (std::size_t c = 0; c < key_.size(); ++c) {
      const double parent = std::floor(0.5 * key_[c]), count = count_[c];
      if (parents > 0 && key_[parents - 1] == parent) {
        count_[parents - 1] += count;
      } else {
        key_[parents] = parent;
        count_[parents++] = count;
      }
    }
    key_.resize(parents);
    count_.resize(parents);
  }
}

bool CellCounts::favour_cells(int lags, int moments, double sums) const {
  double cell_pairs = 0, pairs = 0, samples = 0, within_reach = 0;
  for (std::size_t c = 0, next = 0; c < key_.size(); ++c) {
    for (; next < key_.size() && key_[next] - key_[c] <= lags; ++next) {
      within_reach += count_[next];
    }
    within_reach -= count_[c];
    cell_pairs += static_cast<double>(next - c);
    pairs += count_[c] * (within_reach + 0.5 * count_[c]);
    samples += count_[c];
  }
  return cell_seconds(cell_pairs, samples, moments) <
         sort_seconds(samples) + 1e-9 * sums * pairs * kLagPairNs;
}

}  // namespace kestrel
