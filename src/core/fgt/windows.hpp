// Gaussian pair sums over sorted samples, each with those within reach. The `fgt` engine falls back
// on them where there are so few samples a cell that cells save nothing, or where all pairs are so
// far apart that only a sum pair by pair has a relative accuracy.
#ifndef KESTREL_CORE_FGT_WINDOWS_HPP
#define KESTREL_CORE_FGT_WINDOWS_HPP

#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

class WindowSums {
 public:
  /// O(n log n). Does not check the data.
  WindowSums(Span<const double> x, Weights w, const ParallelOptions& options);

  /// sum_{i<j} w_i w_j phi_s^(order)(x_i - x_j), s^2 = variance h^2: variance 1 with an even order,
  /// or 2 with order 0 (h is exact then; sqrt(2) h would not be). Every term has a relative error
  /// of a few units in the last place, however far apart the pair, except next to a zero of the
  /// Hermite polynomial. The pairs left out sum to less than 1e-16 of the largest term between
  /// neighbours. O(n + pairs within reach).
  double sum(double h, int variance, int order, const RunOptions& options) const;

 private:
  double reach(double h, int variance, int order) const;

  std::vector<double> x_, w_;
  double total_weight_ = 0.0;
};

}  // namespace kestrel

#endif
