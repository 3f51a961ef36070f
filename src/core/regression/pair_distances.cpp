#include "core/regression/pair_distances.hpp"

#include <algorithm>
#include <iterator>

#include "core/data/passes.hpp"
#include "shared/local_fit.hpp"

namespace kestrel {

std::optional<std::vector<double>> pair_distances(const SortedSample& sample, double lower,
                                                  double upper, PairsOf pairs) {
  std::vector<double> position;
  std::unique_copy(sample.x(), sample.x() + sample.size(), std::back_inserter(position));
  const std::size_t n = position.size(), apart = pairs == PairsOf::all ? n : 2;
  std::vector<double> distance;
  std::size_t first = 0;  // the first position that is farther than `lower` from position i
  for (std::size_t i = 0; i < n; ++i) {
    while (first < n && position[first] - position[i] <= lower) ++first;
    for (std::size_t j = std::max(first, i + 1); j < std::min(n, i + apart + 1); ++j) {
      const double between = position[j] - position[i];
      if (between > upper) break;
      if (distance.size() == kMaxPairDistances) return std::nullopt;
      distance.push_back(between);
    }
  }
  std::sort(distance.begin(), distance.end());
  distance.erase(std::unique(distance.begin(), distance.end()), distance.end());
  return distance;
}

Isolated most_isolated(const SortedSample& sample, std::size_t rows,
                       const ParallelOptions& options) {
  const std::size_t n = sample.size();
  std::vector<Isolated> parts(parts_of_pass(n), Isolated{0, 0.0});
  pass_over(n, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    Isolated found{0, 0.0};
    for (std::size_t i = begin; i < end; ++i) {
      if (sample.given(i) >= rows) continue;
      const double distance = nearest_neighbour(sample.x(), std::size_t{0}, n, i);
      if (distance > found.distance) found = {i, distance};
    }
    parts[part] = found;
  });
  Isolated found{0, 0.0};
  for (const Isolated& part : parts) {
    if (part.distance > found.distance) found = part;
  }
  return found;
}

}  // namespace kestrel
