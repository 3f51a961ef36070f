// Passes over a sample on several threads.
#ifndef KESTREL_CORE_DATA_PASSES_HPP
#define KESTREL_CORE_DATA_PASSES_HPP

#include <algorithm>
#include <cstddef>

#include "core/base/parallel.hpp"
#include "core/base/raw_array.hpp"
#include "core/base/span.hpp"

namespace kestrel {

/// Samples of one part of a pass. Fixed, and what parts give is added in their order, so that
/// results have the same bits on any number of threads.
constexpr std::size_t kSamplesOfPart = std::size_t{1} << 15;

inline std::size_t parts_of_pass(std::size_t n) {
  return (n + kSamplesOfPart - 1) / kSamplesOfPart;
}

/// Calls body(part, begin, end) for every part [begin, end) of n samples.
template <class Body>
void pass_over(std::size_t n, const ParallelOptions& options, const Body& body) {
  parallel_for(parts_of_pass(n), options, [&](std::size_t part, int) {
    const std::size_t begin = part * kSamplesOfPart;
    body(part, begin, std::min(n, begin + kSamplesOfPart));
  });
}

/// Divides every value, in place.
inline void divide(Span<double> values, double divisor, const ParallelOptions& options) {
  if (divisor == 1.0) return;
  pass_over(values.size, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) values[i] /= divisor;
  });
}

/// Zeros, set by the threads that will use them.
inline RawVector<double> zeros(std::size_t n, const ParallelOptions& options) {
  RawVector<double> values(n);
  pass_over(n, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    std::fill(values.data() + begin, values.data() + end, 0.0);
  });
  return values;
}

}  // namespace kestrel

#endif
