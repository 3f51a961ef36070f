// Sums over samples in one pass, on several threads.
#ifndef KESTREL_CORE_FOURIER_PART_SUMS_HPP
#define KESTREL_CORE_FOURIER_PART_SUMS_HPP

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/fourier/ranges.hpp"

namespace kestrel {

/// That many totals over n samples: add(i, sum) adds the share of sample i to each. Computed in
/// parts of fixed size that are added in order: the same bits for any number of threads.
template <class Add>
std::vector<double> add_parts(std::size_t n, std::size_t sums, const RunOptions& options,
                              const Add& add) {
  const std::size_t parts = (n + kFourierPart - 1) / kFourierPart;
  std::vector<double> partial(parts * sums, 0.0), total(sums, 0.0);
  parallel_for(parts, options.parallel, [&](std::size_t part, int) {
    double* sum = partial.data() + part * sums;
    for (std::size_t i = part * kFourierPart; i < std::min(n, (part + 1) * kFourierPart); ++i)
      add(i, sum);
  });
  for (std::size_t part = 0; part < parts; ++part) {
    for (std::size_t s = 0; s < sums; ++s) total[s] += partial[part * sums + s];
  }
  return total;
}

}  // namespace kestrel

#endif
