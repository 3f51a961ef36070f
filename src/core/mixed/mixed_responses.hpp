// Sums over mixed data of many responses at once, which have the same weights: the replicates of a
// bootstrap, or the columns of a design.
#ifndef KESTREL_CORE_MIXED_MIXED_RESPONSES_HPP
#define KESTREL_CORE_MIXED_MIXED_RESPONSES_HPP

#include <cstddef>
#include <vector>

#include "core/mixed/mixed_row.hpp"

namespace kestrel {

/// What is computed of a response at a point: the sum of its products with the weights, or with
/// their squares; the same with the weights divided by their sum; the fit of MixedKernel; its
/// derivative by a column.
enum class MixedFunctional { sum, square, mean, mean_square, fit, slope };

struct MixedResponses {
  MixedFunctional functional = MixedFunctional::fit;
  std::size_t column = 0;  // for slope
  bool leave_out = false;  // the observation itself, where the points are the sample
  MatrixView y;            // a column for each response, rows as given
};

/// A column for each response and a row for each point, as given; NaN where no sample has a
/// positive weight, but sums are 0 there. Local linear fits are those of the responses alone: where
/// neighbours do not differ in a direction, the slope is 0. O(m n (p + q + B)) for B responses, the
/// same bits for any number of threads. Memory: 32 n numbers for each worker.
std::vector<double> mixed_responses(const MixedSample& sample, const MixedSample& points,
                                    const MixedKernel& kernel, const MixedResponses& responses,
                                    const RunOptions& options);

}  // namespace kestrel

#endif
