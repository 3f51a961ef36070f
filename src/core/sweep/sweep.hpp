// The sweep engine: polynomial kernels on the line, in linear time once the samples are sorted.
// README.md in this folder describes the algorithm, with its sources and an example.
//
// Sums over windows are put together from stored sums, and nothing is ever subtracted: differences
// of prefix sums (Fan & Marron 1994; Seifert et al. 1994) lose eps (range / h)^degree, all digits
// on clustered or heavy-tailed data, which compensated addition does not prevent. Here the powers
// are of distances to an anchor inside the window.
//
// Points are taken in blocks of at most kSweepBlock, whose windows, sums and moments stay in the
// level-1 and level-2 caches: only the samples themselves are read from memory.
#ifndef KESTREL_CORE_SWEEP_SWEEP_HPP
#define KESTREL_CORE_SWEEP_SWEEP_HPP

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/base/run_options.hpp"
#include "core/data/sorted_sample.hpp"
#include "core/sweep/kernel.hpp"

namespace kestrel {

constexpr std::size_t kSweepBlock = 256;

/// The number of samples for which sums at the samples take one thread a tenth of a second at one
/// bandwidth (a third for local linear fits). With more of them there are enough work items for
/// many threads.
constexpr std::size_t kBriefSweep = 2000000;

/// Sums at the points [begin, begin + count) in ascending order.
struct SweepBlock {
  std::size_t begin, count;
  /// Number of the block; some numbers below sweep_slots() may be unused.
  std::size_t slot;
  const double* sum;
  std::size_t columns, stride;
  /// Samples [first, end) in sorted order lie in the window of each point. (When points are the
  /// sample itself the point is among them, but not in the sums.)
  const std::uint32_t *first, *end;

  /// The sums for polynomial p of the kernel; column 0 with weights w_j, column 1 as
  /// SweepColumns says. One value for each point of the block.
  const double* of(std::size_t p, std::size_t column) const {
    return sum + (p * columns + column) * stride;
  }
};

/// Called once for each block, in any order, on any worker. Blocks do not depend on the threads.
using BlockVisitor = std::function<void(const SweepBlock& block, int worker)>;

enum class SweepSide { left, both };

/// count: 1, or 2 (samples and points then need y). slope, in the units of y / x, is taken off the
/// second column, which has w_j (y_j - y - slope (x_j - x)) at the point (x, y).
struct SweepColumns {
  int count;
  double slope = 0.0;
};

/// Sums over the samples in the windows of the points. `points` may be the sample itself: then
/// every point is left out of its own sums, and its left side is what precedes it in sorted order.
/// Otherwise a sample at the position of a point counts as left of it. With SweepSide::left the
/// ends of the windows are not computed.
///
/// n samples, m points; method and sources in README.md. Error: relative to the sum of |terms|, a
/// few eps times the condition of the polynomial (3, 9, 27 for parabola, its square and its cube).
/// The same bits for any number of threads. O(n + m) time; less than 1 MB a thread and 8 (degree +
/// 1) / 256 bytes a sample and column.
void sweep_sums(const SortedSample& sample, const SortedSample& points, const SweepKernel& kernel,
                const SweepColumns& columns, SweepSide side, const RunOptions& options,
                const BlockVisitor& take);

/// The slots of all blocks are below this.
std::size_t sweep_slots(const SortedSample& sample, const SortedSample& points);

}  // namespace kestrel

#endif
