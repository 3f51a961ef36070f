#include "core/data/weights.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/data/passes.hpp"

namespace kestrel {

void check_weights(Weights w, const ParallelOptions& options) {
  if (w.absent()) return;
  pass_over(w.size, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!(w[i] >= 0) || !std::isfinite(w[i])) {
        throw error(ErrorKind::input, "weights must be finite and not negative");
      }
    }
  });
}

void check_weight_count(std::size_t samples, std::size_t weights) {
  if (weights == samples) return;
  throw error(ErrorKind::input, "there are " + std::to_string(samples) + " samples but " +
                                    std::to_string(weights) + " weights");
}

WeightSums weight_sums(Weights w, const ParallelOptions& options) {
  if (w.absent()) {
    const double n = static_cast<double>(w.size);
    return {n, n, w.size > 0 ? 1.0 : 0.0, 1.0, w.size};
  }
  struct Part {
    long double sum = 0, squares = 0;
    WeightSums rest;
  };
  std::vector<Part> parts(parts_of_pass(w.size));
  pass_over(w.size, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    Part here;
    for (std::size_t i = begin; i < end; ++i) {
      const long double weight = w[i];
      here.sum += weight;
      here.squares += weight * weight;
      here.rest.max = std::max(here.rest.max, w[i]);
      if (!(w[i] > 0)) continue;
      ++here.rest.positive;
      here.rest.min_positive = std::min(here.rest.min_positive, w[i]);
    }
    parts[part] = here;
  });
  Part all;
  for (const Part& part : parts) {
    all.sum += part.sum;
    all.squares += part.squares;
    all.rest.max = std::max(all.rest.max, part.rest.max);
    all.rest.min_positive = std::min(all.rest.min_positive, part.rest.min_positive);
    all.rest.positive += part.rest.positive;
  }
  all.rest.sum = static_cast<double>(all.sum);
  all.rest.squares = static_cast<double>(all.squares);
  return all.rest;
}

}  // namespace kestrel
