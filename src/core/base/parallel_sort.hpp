// Sorting on threads, with polls.
#ifndef KESTREL_CORE_BASE_PARALLEL_SORT_HPP
#define KESTREL_CORE_BASE_PARALLEL_SORT_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/raw_array.hpp"

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

/// Sorts blocks of a fixed size, then merges two runs at a time; each merge is cut into blocks of
/// its output. `spare`: room for n values. O(n log n).
template <class T, class Less>
void merge_sort(T* values, T* spare, std::size_t n, const ParallelOptions& options,
                const Less& less) {
  const std::size_t blocks = (n + kSortBlock - 1) / kSortBlock;
  std::size_t passes = 1;
  for (std::size_t run = kSortBlock; run < n; run *= 2) ++passes;
  const auto part = [&](std::size_t pass) {
    const double all = static_cast<double>(passes), done = static_cast<double>(pass);
    return part_of(options, done / all, (done + 1) / all);
  };
  parallel_for(blocks, part(0), [&](std::size_t block, int) {
    T* first = values + block * kSortBlock;
    std::sort(first, first + std::min(kSortBlock, n - block * kSortBlock), less);
  });
  T *from = values, *to = spare;
  std::size_t run = kSortBlock;
  for (std::size_t pass = 1; pass < passes; ++pass, run *= 2, std::swap(from, to)) {
    parallel_for(blocks, part(pass), [&](std::size_t block, int) {
      const std::size_t at = block * kSortBlock, begin = at / (2 * run) * (2 * run);
      const T* a = from + begin;
      const std::size_t of_a = std::min(run, n - begin), of_b = std::min(run, n - begin - of_a);
      const T* b = a + of_a;
      const std::size_t first = at - begin, last = std::min(first + kSortBlock, of_a + of_b);
      const std::size_t i = share_of_first(a, of_a, b, of_b, first, less);
      const std::size_t j = share_of_first(a, of_a, b, of_b, last, less);
      std::merge(a + i, a + j, b + (first - i), b + (last - j), to + at, less);
    });
  }
  if (from == values) return;
  parallel_for(blocks, part_of(options, 1, 1), [&](std::size_t block, int) {
    const std::size_t first = block * kSortBlock;
    std::copy(from + first, from + std::min(n, first + kSortBlock), values + first);
  });
}

// ---- numbers, by cells -------------------------------------------------------------------------

/// The number that std::less compares first. An overload makes parallel_sort() sort a type by
/// cells.
inline double leading(double value) { return value; }
template <class Rest>
double leading(const std::pair<double, Rest>& value) {
  return value.first;
}

/// Values in one cell of the first level, and at most in one of the second: few enough for the
/// caches, and for insertion.
constexpr std::size_t kSortCell = 1024, kInserted = 24;
/// Cells of each level: about as many places as can be written to side by side.
constexpr std::size_t kMaxSortCells = 2048;
using SortCell = std::uint16_t;
/// Values whose cells sort_cell() keeps, rather than computing them twice.
constexpr std::size_t kKeptCells = 4096;

/// The line cut into cells of equal width between two numbers. The first and the last cell also
/// have what lies beyond. If the two numbers are the same one, the cells are what is below it, the
/// number itself and what is above.
class SortCells {
 public:
  SortCells(double from, double to, std::size_t cells)
      : from_(from),
        one_(from == to),
        scale_(one_ ? 1.0 : static_cast<double>(cells) / (to - from)),
        last_(static_cast<double>(cells - 1)) {}

  /// Whether the range is neither too wide nor too narrow for numbers.
  bool valid() const { return scale_ > 0 && std::isfinite(scale_); }
  /// Never decreases as the value grows, whatever the rounding.
  SortCell of(double value) const {
    if (one_) return static_cast<SortCell>((value < from_ ? 0 : 1) + (value > from_ ? 1 : 0));
    const double at = std::min(std::max((value - from_) * scale_, 0.0), last_);
    return static_cast<SortCell>(static_cast<std::int32_t>(at));
  }

 private:
  double from_;
  bool one_;
  double scale_, last_;
};

/// Each value moves to the left past larger ones: for few values.
template <class T>
void insertion_sort(T* values, std::size_t n) {
  const std::less<T> less{};
  for (std::size_t i = 1; i < n; ++i) {
    if (!less(values[i], values[i - 1])) continue;
    const T value = values[i];
    std::size_t k = i;
    for (; k > 0 && less(value, values[k - 1]); --k) values[k] = values[k - 1];
    values[k] = value;
  }
}

template <class T>
void sort_unless_in_order(T* values, std::size_t n) {
  if (n <= kInserted) {
    insertion_sort(values, n);
  } else if (!std::is_sorted(values, values + n)) {
    poll_if_due({});
    std::sort(values, values + n);
  }
}

/// Sorts n values of `from` into `to` by one level of cells. Cells that stay large go to std::sort.
template <class T>
void sort_cell(const T* from, std::size_t n, T* to) {
  double min = HUGE_VAL, max = -HUGE_VAL;
  for (std::size_t i = 0; i < n; ++i) {
    min = std::min(min, leading(from[i]));
    max = std::max(max, leading(from[i]));
  }
  std::size_t count = 1;
  while (count < kMaxSortCells && 2 * count < n) count *= 2;
  const SortCells cells(min, max, count);
  if (n <= kInserted || !(min < max) || !cells.valid()) {
    std::copy(from, from + n, to);
    sort_unless_in_order(to, n);
    return;
  }
  std::uint32_t end[kMaxSortCells];
  std::fill(end, end + count, 0);
  SortCell kept[kKeptCells];
  const bool keeps = n <= kKeptCells;
  for (std::size_t i = 0; i < n; ++i) {
    const SortCell cell = cells.of(leading(from[i]));
    if (keeps) kept[i] = cell;
    ++end[cell];
  }
  std::uint32_t sum = 0, most = 0;
  for (std::size_t cell = 0; cell < count; ++cell) {
    most = std::max(most, end[cell]);
    sum += std::exchange(end[cell], sum);
  }
  for (std::size_t i = 0; i < n; ++i) {
    to[end[keeps ? kept[i] : cells.of(leading(from[i]))]++] = from[i];
  }
  if (most <= kInserted) {  // no value leaves its cell
    insertion_sort(to, n);
    return;
  }
  for (std::size_t cell = 0, begin = 0; cell < count; begin = end[cell++]) {
    sort_unless_in_order(to + begin, end[cell] - begin);
  }
}

/// Whether no value comes before the one to its left.
template <class T, class Less>
bool in_order(const T* values, std::size_t n, const ParallelOptions& options, const Less& less) {
  std::vector<char> block_is((n + kSortBlock - 1) / kSortBlock);
  parallel_for(block_is.size(), options, [&](std::size_t block, int) {
    const T* first = values + block * kSortBlock;
    block_is[block] = std::is_sorted(first, std::min(first + kSortBlock + 1, values + n), less);
  });
  return std::find(block_is.begin(), block_is.end(), 0) == block_is.end();
}

/// Values that rise or fall throughout. Returns false for others, which it leaves as they are.
template <class T>
bool sort_monotone(T* values, std::size_t n, const ParallelOptions& options) {
  if (in_order(values, n, options, std::less<T>())) return true;
  if (!in_order(values, n, options, [](const T& a, const T& b) { return b < a; })) return false;
  parallel_for((n / 2 + kSortBlock - 1) / kSortBlock, options, [&](std::size_t block, int) {
    const std::size_t end = std::min(n / 2, (block + 1) * kSortBlock);
    for (std::size_t i = block * kSortBlock; i < end; ++i) std::swap(values[i], values[n - 1 - i]);
  });
  return true;
}

/// The cells of a first level, for n values of which a few are looked at: all but the tails lie
/// within, if those few are like the others. Not valid() if most values would be in one cell.
template <class T>
SortCells cells_for(const T* values, std::size_t n, std::size_t count) {
  constexpr std::size_t looked_at = 512, tail = 8, most = looked_at - looked_at / 8;
  double seen[looked_at];
  for (std::size_t k = 0; k < looked_at; ++k) seen[k] = leading(values[n / looked_at * k]);
  std::sort(seen, seen + looked_at);
  const double from = seen[tail], to = seen[looked_at - 1 - tail], beside = (to - from) / 4;
  const SortCells cells(from - beside, to + beside, count);
  for (std::size_t k = 0; cells.valid() && k + most < looked_at; ++k) {
    const double first = seen[k], last = seen[k + most];
    if (first != last && cells.of(first) == cells.of(last)) return {0.0, HUGE_VAL, count};
  }
  return cells;
}

/// Moves n values into `to`, cell after cell. Returns where the cells begin, and n. Two bytes of
/// memory a value.
template <class T>
std::vector<std::size_t> deal(const T* from, std::size_t n, const SortCells& cells,
                              std::size_t count, T* to, const ParallelOptions& options) {
  const std::size_t blocks = (n + kSortBlock - 1) / kSortBlock;
  std::vector<std::size_t> next(blocks * count), begin(count + 1, n);
  const RawArray<SortCell> cell_of(n);
  parallel_for(blocks, part_of(options, 0, 0.3), [&](std::size_t block, int) {
    std::size_t* size = next.data() + block * count;
    const std::size_t end = std::min(n, (block + 1) * kSortBlock);
    for (std::size_t i = block * kSortBlock; i < end; ++i) {
      cell_of[i] = cells.of(leading(from[i]));
      ++size[cell_of[i]];
    }
  });
  std::size_t sum = 0;
  for (std::size_t cell = 0; cell < count; ++cell) {
    begin[cell] = sum;
    for (std::size_t k = cell; k < next.size(); k += count) sum += std::exchange(next[k], sum);
  }
  parallel_for(blocks, part_of(options, 0.3, 1), [&](std::size_t block, int) {
    std::size_t* at = next.data() + block * count;
    const std::size_t end = std::min(n, (block + 1) * kSortBlock);
    for (std::size_t i = block * kSortBlock; i < end; ++i) to[at[cell_of[i]]++] = from[i];
  });
  return begin;
}

/// parallel_sort() by std::less and leading(). Cells that hold about a thousand values each are cut
/// into cells that hold a few. A cell that gets far more is cut again by itself, at most `more`
/// times; its values are merged if that does not help. O(n) where the density is bounded, and O(n
/// log n) at worst.
template <class T>
void sort_numbers(T* values, T* spare, std::size_t n, const ParallelOptions& options, int more) {
  const ParallelOptions silent = part_of(options, 0, 0);
  if (sort_monotone(values, n, silent)) return;
  const std::size_t count = std::min(kMaxSortCells, std::max<std::size_t>(3, n / kSortCell));
  const SortCells cells = cells_for(values, n, count);
  if (more < 0 || !cells.valid()) return merge_sort(values, spare, n, options, std::less<T>());
  const std::vector<std::size_t> begin =
      deal(values, n, cells, count, spare, part_of(options, 0, 0.4));
  const auto size = [&](std::size_t cell) { return begin[cell + 1] - begin[cell]; };
  const auto crowded = [&](std::size_t cell) {
    return size(cell) > std::max(kSortBlock, 8 * (n / count));
  };
  parallel_for(count, part_of(options, 0.4, 1), [&](std::size_t cell, int) {
    const T* from = spare + begin[cell];
    if (crowded(cell)) {
      std::copy(from, from + size(cell), values + begin[cell]);
    } else {
      sort_cell(from, size(cell), values + begin[cell]);
    }
  });
  for (std::size_t cell = 0; cell < count; ++cell) {
    if (!crowded(cell)) continue;
    sort_numbers(values + begin[cell], spare + begin[cell], size(cell), part_of(options, 1, 1),
                 more - 1);
  }
}

// ---- any values --------------------------------------------------------------------------------

template <class T, class = void>
struct HasLeading : std::false_type {};
template <class T>
struct HasLeading<T, std::void_t<decltype(leading(std::declval<const T&>()))>> : std::true_type {};

/// Below this many values std::sort takes less time than cells.
constexpr std::size_t kFewSorted = 1024;

/// Sorts in ascending order; no leading() number is NaN. The result is that of std::sort if values
/// that `less` does not tell apart are identical. Takes memory for a second copy.
template <class T, class Less = std::less<T>>
void parallel_sort(T* values, std::size_t n, const ParallelOptions& options,
                   const Less& less = {}) {
  constexpr bool by_cells = HasLeading<T>::value && std::is_same<Less, std::less<T>>::value;
  if (n <= (by_cells ? kFewSorted : kSortBlock)) {
    poll_if_due(part_of(options, 0, 0));
    std::sort(values, values + n, less);
    return;
  }
  const RawArray<T> spare(n);
  if constexpr (by_cells) {
    sort_numbers(values, spare.data(), n, options, 3);
  } else {
    merge_sort(values, spare.data(), n, options, less);
  }
}

/// Writes n values of `from` to `to` in ascending order, as parallel_sort() would sort them. Takes
/// memory for the values of a cell, if they are spread as cells need them, else for a second copy.
template <class T>
void parallel_sort(const T* from, std::size_t n, T* to, const ParallelOptions& options) {
  const ParallelOptions silent = part_of(options, 0, 0);
  const std::size_t count = std::min(kMaxSortCells, n / kSortCell);
  const SortCells cells = count > 2 ? cells_for(from, n, count) : SortCells(0.0, HUGE_VAL, 1);
  if (!cells.valid() || in_order(from, n, silent, std::less<T>())) {
    parallel_for((n + kSortBlock - 1) / kSortBlock, silent, [&](std::size_t block, int) {
      const std::size_t begin = block * kSortBlock, end = std::min(n, begin + kSortBlock);
      std::copy(from + begin, from + end, to + begin);
    });
    parallel_sort(to, n, options);
    return;
  }
  const std::vector<std::size_t> begin = deal(from, n, cells, count, to, part_of(options, 0, 0.4));
  const auto size = [&](std::size_t cell) { return begin[cell + 1] - begin[cell]; };
  const std::size_t most = std::max(kSortBlock, 8 * (n / count));
  std::vector<RawArray<T>> spare;
  for (std::size_t k = parallel_workers(count, options); k > 0; --k) spare.emplace_back(most);
  parallel_for(count, part_of(options, 0.4, 1), [&](std::size_t cell, int worker) {
    if (size(cell) > most) return;
    T* unsorted = spare[static_cast<std::size_t>(worker)].data();
    std::copy(to + begin[cell], to + begin[cell + 1], unsorted);
    sort_cell(unsorted, size(cell), to + begin[cell]);
  });
  for (std::size_t cell = 0; cell < count; ++cell) {
    if (size(cell) > most) parallel_sort(to + begin[cell], size(cell), part_of(options, 1, 1));
  }
}

template <class T, class Less = std::less<T>>
void parallel_sort(std::vector<T>* values, const ParallelOptions& options, const Less& less = {}) {
  parallel_sort(values->data(), values->size(), options, less);
}

}  // namespace kestrel

#endif
