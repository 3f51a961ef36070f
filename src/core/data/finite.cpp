#include "core/data/finite.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kestrel {

bool all_finite(Span<const double> values, const ParallelOptions& options) {
  constexpr std::size_t kValuesOfItem = std::size_t{1} << 17;
  const std::size_t items = (values.size + kValuesOfItem - 1) / kValuesOfItem;
  std::vector<char> finite(items);
  parallel_for(items, options, [&](std::size_t item, int) {
    const double* begin = values.begin() + item * kValuesOfItem;
    const double* end = begin + std::min(kValuesOfItem, values.size - item * kValuesOfItem);
    finite[item] = std::all_of(begin, end, [](double value) { return std::isfinite(value); });
  });
  return std::find(finite.begin(), finite.end(), 0) == finite.end();
}

}  // namespace kestrel
