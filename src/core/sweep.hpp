// The sweep engine: polynomial kernels on the line, in linear time once the samples are sorted.
//
// For one bandwidth the sorted samples are cut into greedy *cells* narrower than h: a cell begins
// where the previous one's first sample is out of reach. The samples to the left of a point that
// its window holds are then the first ones of one cell and the last ones of the cell before, both
// stored sums (the two stacks of a sliding aggregation; van Herk 1992, Gil & Werman 1993), and by
// monotone rounding this holds for the predicate fl(|e - x|) < h exactly. Those to the right are
// the same on mirrored data. Nothing is ever subtracted: differences of prefix sums (Fan & Marron
// 1994; Seifert et al. 1994) lose eps (range / h)^degree, all digits on clustered or heavy-tailed
// data, and no compensated addition mends that. Here the powers are of distances to an anchor
// inside the window, so that no sum of weights cancels (docs of simd/sweep.hpp).
#ifndef KESTREL_CORE_SWEEP_HPP
#define KESTREL_CORE_SWEEP_HPP

#include <cstdint>
#include <vector>

#include "core/run_options.hpp"
#include "core/sorted_sample.hpp"
#include "core/span.hpp"
#include "core/sweep_kernel.hpp"
#include "simd/kernels.hpp"

namespace kestrel {

/// One worker's memory: moments of a run of this cell and of one of the cell before, and those of
/// all that comes before each run of the latter: 8 (degree + 1) / 256 bytes a sample and column.
struct SweepScratch {
  std::vector<double> near, edge, before_edge;
};

/// Sums at every point, points in ascending order.
struct SweepSums {
  std::size_t points = 0, columns = 0;
  std::vector<double> sum;
  /// Samples [first, end) in sorted order lie in the window. (When points are the sample itself
  /// the point is among them, but not in the sums.)
  std::vector<std::uint32_t> first, end;
  std::vector<SweepScratch> scratch;  // kept for the next call

  /// Polynomial p of the kernel; column 0 with weights w_j, column 1 with w_j (y_j - y of the
  /// point).
  double* of(std::size_t p, std::size_t column) {
    return sum.data() + (p * columns + column) * points;
  }
};

enum class SweepSide { left, both };

/// Sums over the samples in the windows of the points. `points` may be the sample itself: then
/// every point is left out of its own sums, and the left side of it is what precedes it in sorted
/// order. Otherwise a sample at the place of a point counts as left of it.
/// columns: 1, or 2 (samples and points then need y). Error: relative to the sum of |terms|, a few
/// eps times the condition of the polynomial (3, 9, 27 for parabola, its square and its cube). The
/// same bits for any number of threads. O(n + m) time for each call.
void sweep_sums(const SortedSample& sample, const SortedSample& points, const SweepKernel& kernel,
                int columns, SweepSide side, const RunOptions& options, SweepSums& out);

}  // namespace kestrel

#endif
