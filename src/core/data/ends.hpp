// The least and the largest of many numbers.
#ifndef KESTREL_CORE_DATA_ENDS_HPP
#define KESTREL_CORE_DATA_ENDS_HPP

#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"

namespace kestrel {

struct Ends {
  double least, largest;
};

/// The ends of each of some columns of numbers, none of them NaN; {0, 0} of none. On random numbers
/// this is ten times as fast as std::minmax_element(), which guesses half of its branches wrong.
/// Polls report a fraction of 0.
std::vector<Ends> ends_of(const std::vector<Span<const double>>& columns,
                          const ParallelOptions& options);

}  // namespace kestrel

#endif
