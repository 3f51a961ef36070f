// Sums whose rounding errors grow slowly.
#ifndef KESTREL_CORE_BASE_SUMMATION_HPP
#define KESTREL_CORE_BASE_SUMMATION_HPP

#include <cstddef>

namespace kestrel {

/// v[0] + ... + v[n-1] by halves: the rounding error grows with log n, not n. The order is a
/// function of n alone. `stride` is the distance between terms.
double pairwise_sum(const double* v, std::size_t n, std::size_t stride = 1);

}  // namespace kestrel

#endif
