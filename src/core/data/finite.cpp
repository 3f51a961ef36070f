#include "core/data/finite.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/data/passes.hpp"

namespace kestrel {

bool all_finite(Span<const double> values, const ParallelOptions& options) {
  std::vector<char> finite(parts_of_pass(values.size));
  pass_over(values.size, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    finite[part] = std::all_of(values.begin() + begin, values.begin() + end,
                               [](double value) { return std::isfinite(value); });
  });
  return std::find(finite.begin(), finite.end(), 0) == finite.end();
}

}  // namespace kestrel
