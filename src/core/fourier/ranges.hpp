// Ranges of the samples and points that the grids of the `fourier` engine cover.
#ifndef KESTREL_CORE_FOURIER_RANGES_HPP
#define KESTREL_CORE_FOURIER_RANGES_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/data/passes.hpp"

namespace kestrel {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The range of some numbers; empty at first.
struct Range {
  double low = kInfinity, high = -low;

  void add(double v) {
    low = v < low ? v : low;
    high = v > high ? v : high;
  }
  double length() const { return high - low; }
};

/// The ranges of three coordinates of n items: numbers(i, add) calls add(a, v) for each coordinate
/// a of item i that counts, on several threads. O(n); the result does not depend on the threads.
template <class Numbers>
std::array<Range, 3> ranges_of(std::size_t n, const RunOptions& options, const Numbers& numbers) {
  std::vector<std::array<Range, 3>> of_part(parts_of_pass(n));
  pass_over(n, options.parallel, [&](std::size_t part, std::size_t begin, std::size_t end) {
    std::array<Range, 3> range;
    for (std::size_t i = begin; i < end; ++i) {
      numbers(i, [&](std::size_t a, double v) { range[a].add(v); });
    }
    of_part[part] = range;
  });
  std::array<Range, 3> all;
  for (const std::array<Range, 3>& range : of_part) {
    for (std::size_t a = 0; a < 3; ++a) {
      all[a].low = std::min(all[a].low, range[a].low);
      all[a].high = std::max(all[a].high, range[a].high);
    }
  }
  return all;
}

}  // namespace kestrel

#endif
