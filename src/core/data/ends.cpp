#include "core/data/ends.hpp"

#include <algorithm>

namespace kestrel {

namespace {

/// The ends of count > 0 numbers: eight at a time, without branches.
Ends ends_of_strip(const double* values, std::size_t count) {
  constexpr std::size_t kLanes = 8;
  double least[kLanes], largest[kLanes];
  for (std::size_t lane = 0; lane < kLanes; ++lane) least[lane] = largest[lane] = values[0];
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      least[lane] = value < least[lane] ? value : least[lane];
      largest[lane] = value > largest[lane] ? value : largest[lane];
    }
  }
  Ends ends{values[0], values[0]};
  for (; i < count; ++i) {
    ends.least = std::min(ends.least, values[i]);
    ends.largest = std::max(ends.largest, values[i]);
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    ends.least = std::min(ends.least, least[lane]);
    ends.largest = std::max(ends.largest, largest[lane]);
  }
  return ends;
}

}  // namespace

std::vector<Ends> ends_of(const std::vector<Span<const double>>& columns,
                          const ParallelOptions& options) {
  constexpr std::size_t kStrip = std::size_t{1} << 17;
  struct Strip {
    std::size_t column, begin, count;
    Ends ends;
  };
  std::vector<Strip> strips;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (std::size_t begin = 0; begin < columns[c].size; begin += kStrip) {
      strips.push_back({c, begin, std::min(kStrip, columns[c].size - begin), {}});
    }
  }
  parallel_for(strips.size(), part_of(options, 0, 0), [&](std::size_t k, int) {
    Strip& strip = strips[k];
    strip.ends = ends_of_strip(columns[strip.column].data + strip.begin, strip.count);
  });
  std::vector<Ends> ends(columns.size(), Ends{0.0, 0.0});
  for (const Strip& strip : strips) {
    Ends& all = ends[strip.column];
    if (strip.begin == 0) all = strip.ends;
    all.least = std::min(all.least, strip.ends.least);
    all.largest = std::max(all.largest, strip.ends.largest);
  }
  return ends;
}

}  // namespace kestrel
