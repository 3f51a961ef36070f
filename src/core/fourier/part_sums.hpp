// Sums over samples in one pass, on several threads.
#ifndef KESTREL_CORE_FOURIER_PART_SUMS_HPP
#define KESTREL_CORE_FOURIER_PART_SUMS_HPP

#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/data/passes.hpp"

namespace kestrel {

/// That many totals over n samples: add(i, sum) adds the share of sample i to each. Computed in
/// parts of fixed size that are added in order: the same bits for any number of threads.
template <class Add>
std::vector<double> add_parts(std::size_t n, std::size_t sums, const RunOptions& options,
                              const Add& add) {
  const std::size_t parts = parts_of_pass(n);
  std::vector<double> partial(parts * sums, 0.0), total(sums, 0.0);
  pass_over(n, options.parallel, [&](std::size_t part, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) add(i, partial.data() + part * sums);
  });
  for (std::size_t part = 0; part < parts; ++part) {
    for (std::size_t s = 0; s < sums; ++s) total[s] += partial[part * sums + s];
  }
  return total;
}

}  // namespace kestrel

#endif
