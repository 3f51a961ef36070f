// The order of values, with polls.
#ifndef KESTREL_CORE_DATA_ORDER_HPP
#define KESTREL_CORE_DATA_ORDER_HPP

#include <cstdint>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"

namespace kestrel {

/// The indices of the values in ascending order. Equal values are ordered by `then`, which may be
/// empty, and after that by index. No value is NaN. O(n), plus O(t log t) for t equal ones; 40
/// bytes a value.
std::vector<std::uint32_t> order_of(Span<const double> values, Span<const double> then,
                                    const ParallelOptions& options);

}  // namespace kestrel

#endif
