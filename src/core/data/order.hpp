// The order of values, with polls.
#ifndef KESTREL_CORE_DATA_ORDER_HPP
#define KESTREL_CORE_DATA_ORDER_HPP

#include <cstdint>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"

namespace kestrel {

/// The places of the values in ascending order; where these are equal in that of `then`, which may
/// be empty, and after that in their own. No value is NaN. O(n), and O(t log t) for t equal ones;
/// 40 bytes a value.
std::vector<std::uint32_t> order_of(Span<const double> values, Span<const double> then,
                                    const ParallelOptions& options);

}  // namespace kestrel

#endif
