#include "core/data/weights.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/data/passes.hpp"

namespace kestrel {

void check_weight_count(std::size_t samples, std::size_t weights) {
  if (weights == samples) return;
  throw error(ErrorKind::input, "there are " + std::to_string(samples) + " samples but " +
                                    std::to_string(weights) + " weights");
}

WeightSums weight_sums(Span<const double> w, const ParallelOptions& options) {
  struct Part {
    long double sum = 0, squares = 0;
    double max = 0, least = std::numeric_limits<double>::infinity();
    std::size_t positive = 0;
  };
  std::vector<Part> parts(parts_of_pass(w.size));
  pass_over(w.size, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    Part here;
    for (std::size_t i = begin; i < end; ++i) {
      const long double weight = w[i];
      here.sum += weight;
      here.squares += weight * weight;
      here.max = std::max(here.max, w[i]);
      if (!(w[i] > 0)) continue;
      ++here.positive;
      here.least = std::min(here.least, w[i]);
    }
    parts[part] = here;
  });
  Part all;
  for (const Part& part : parts) {
    all.sum += part.sum;
    all.squares += part.squares;
    all.max = std::max(all.max, part.max);
    all.least = std::min(all.least, part.least);
    all.positive += part.positive;
  }
  WeightSums sums;
  sums.sum = static_cast<double>(all.sum);
  sums.squares = static_cast<double>(all.squares);
  sums.max = all.max;
  sums.least = all.least;
  sums.positive = all.positive;
  return sums;
}

}  // namespace kestrel
