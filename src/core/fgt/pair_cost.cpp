#include "core/fgt/pair_cost.hpp"

#include <cmath>

namespace kestrel {

namespace {

/// Seconds of a pair of cells per squared number of moments (measured 4.3e-11 for 40 moments to
/// 5.7e-11 for 16, and four times that with SSE2); of a sample per moment, sorting by cell included
/// (3e-10 in full cells to 7e-10); of a pair of samples (1.5e-8 to 2.0e-8); of sorting a sample
/// (4e-8 to 1.2e-7 for n = 1000 to 1e6). Measured in 2026-11 on a Xeon with AVX-512, one thread.
/// They choose between two ways to compute one sum, for all instruction sets alike, and do not
/// promise times.
constexpr double kCellPairSeconds = 6e-11, kMomentSeconds = 5e-10, kPairSeconds = 1.5e-8,
                 kSortSeconds = 1e-7;

}  // namespace

double cell_seconds(double cell_pairs, double samples, int moments) {
  return moments * (moments * cell_pairs * kCellPairSeconds + samples * kMomentSeconds);
}

double sort_seconds(double samples) { return samples * kSortSeconds; }

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
         sort_seconds(samples) + sums * pairs * kPairSeconds;
}

}  // namespace kestrel
