// Whether numbers can be computed with.
#ifndef KESTREL_CORE_DATA_FINITE_HPP
#define KESTREL_CORE_DATA_FINITE_HPP

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"

namespace kestrel {

/// Whether no value is NaN (R's missing values are) or infinite. One pass, O(n).
bool all_finite(Span<const double> values, const ParallelOptions& options);

}  // namespace kestrel

#endif
