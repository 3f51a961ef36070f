// Sorting on threads, with polls.
#ifndef KESTREL_CORE_BASE_PARALLEL_SORT_HPP
#define KESTREL_CORE_BASE_PARALLEL_SORT_HPP

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "core/base/parallel.hpp"

namespace kestrel {

/// Values sorted or merged between two polls: a few milliseconds.
constexpr std::size_t kSortBlock = std::size_t{1} << 16;

/// How many of the first `count` values of two sorted runs, once merged, come from the first run.
/// Of equal values those of the first run come first.
template <class T, class Less>
std::size_t share_of_first(const T* a, std::size_t of_a, const T* b, std::size_t of_b,
                           std::size_t count, const Less& less) {
  std::size_t min = count > of_b ? count - of_b : 0, max = std::min(count, of_a);
  while (min < max) {
    const std::size_t middle = min + (max - min) / 2;
    if (less(b[count - middle - 1], a[middle])) {
      max = middle;
    } else {
      min = middle + 1;
    }
  }
  return min;
}

/// Sorts in ascending order. The result is that of std::sort if values that `less` does not tell
/// apart are identical. Sorts blocks of a fixed size, then merges two runs at a time; each merge is
/// cut into blocks of its output. O(n log n) time, and memory for a second copy.
template <class T, class Less = std::less<T>>
void parallel_sort(std::vector<T>* values, const ParallelOptions& options, const Less& less = {}) {
  const std::size_t n = values->size(), blocks = (n + kSortBlock - 1) / kSortBlock;
  std::size_t passes = 1;
  for (std::size_t run = kSortBlock; run < n; run *= 2) ++passes;
  const auto part = [&](std::size_t pass) {
    const double all = static_cast<double>(passes), done = static_cast<double>(pass);
    return part_of(options, done / all, (done + 1) / all);
  };
  parallel_for(blocks, part(0), [&](std::size_t block, int) {
    T* first = values->data() + block * kSortBlock;
    std::sort(first, first + std::min(kSortBlock, n - block * kSortBlock), less);
  });
  if (blocks < 2) return;
  std::vector<T> merged(n);
  std::size_t run = kSortBlock;
  for (std::size_t pass = 1; pass < passes; ++pass, run *= 2) {
    parallel_for(blocks, part(pass), [&](std::size_t block, int) {
      const std::size_t at = block * kSortBlock, begin = at / (2 * run) * (2 * run);
      const T* a = values->data() + begin;
      const std::size_t of_a = std::min(run, n - begin), of_b = std::min(run, n - begin - of_a);
      const T* b = a + of_a;
      const std::size_t first = at - begin, last = std::min(first + kSortBlock, of_a + of_b);
      const std::size_t i = share_of_first(a, of_a, b, of_b, first, less);
      const std::size_t j = share_of_first(a, of_a, b, of_b, last, less);
      std::merge(a + i, a + j, b + (first - i), b + (last - j), merged.data() + at, less);
    });
    values->swap(merged);
  }
}

}  // namespace kestrel

#endif
