// The samples that count at a point, a tile at a time.
#ifndef KESTREL_CORE_MIXED_MIXED_TILES_HPP
#define KESTREL_CORE_MIXED_MIXED_TILES_HPP

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kestrel {

class MixedTiles {
 public:
  /// Samples whose arrays the fastest cache holds.
  static constexpr std::size_t kTile = 512;

  void clear() { ranges_.clear(); }

  /// After the samples that were added before.
  void add(std::size_t first, std::size_t end) {
    if (!ranges_.empty() && ranges_.back().end == first) {
      ranges_.back().end = end;
    } else {
      ranges_.push_back({first, end});
    }
  }

  /// body(begin, count) for one tile after another.
  template <class Body>
  void each(const Body& body) const {
    for (const Range& range : ranges_) {
      for (std::size_t begin = range.first; begin < range.end; begin += kTile) {
        body(begin, std::min(range.end, begin + kTile) - begin);
      }
    }
  }

  /// body(j) for one sample after another.
  template <class Body>
  void each_sample(const Body& body) const {
    for (const Range& range : ranges_) {
      for (std::size_t j = range.first; j < range.end; ++j) body(j);
    }
  }

 private:
  struct Range {
    std::size_t first, end;
  };
  std::vector<Range> ranges_;
};

}  // namespace kestrel

#endif
