// Local sums of the Gaussian kernel.
#ifndef KESTREL_CORE_REGRESSION_GAUSSIAN_SUMS_HPP
#define KESTREL_CORE_REGRESSION_GAUSSIAN_SUMS_HPP

#include "core/regression/gaussian_call.hpp"

namespace kestrel {

/// local_sums() for the Gaussian kernel.
///
/// Where cells as wide as the bandwidth hold enough samples, sums go from the nodes of cells of
/// samples to those of cells of points (nodes.hpp), and are interpolated there: O(1) a point. They
/// are used where is_accurate() says that enough digits are left. The other points, isolated ones
/// mostly, are summed pair by pair, tied samples as one: O(places within reach).
void gaussian_sums(const LocalSource& source, const SortedSample& points, const LocalKernel& kernel,
                   int power, const RunOptions& options, const LocalTake& take);

/// Calls `take` with the sums of the points [begin, begin + count), count <= kSweepBlock, as block
/// number `slot`.
void gaussian_block(const GaussianCall& call, std::size_t begin, std::size_t count,
                    std::size_t slot, int worker, const LocalTake& take);

}  // namespace kestrel

#endif
