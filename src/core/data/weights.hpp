// Weights of a sample.
#ifndef KESTREL_CORE_DATA_WEIGHTS_HPP
#define KESTREL_CORE_DATA_WEIGHTS_HPP

#include <cstddef>
#include <limits>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"

namespace kestrel {

/// Throws error(input) unless there is one weight a sample.
void check_weight_count(std::size_t samples, std::size_t weights);

/// What is asked of the weights as a whole.
struct WeightSums {
  double sum = 0, squares = 0, max = 0;
  double min_positive = std::numeric_limits<double>::infinity();
  std::size_t positive = 0;  // how many are above zero
};

/// w: finite, not negative; may be empty. Sums are of long doubles. One pass, O(n).
WeightSums weight_sums(Span<const double> w, const ParallelOptions& options);

}  // namespace kestrel

#endif
