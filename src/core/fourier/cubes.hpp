// Cubes of whitened space and the samples in them, for sums that need the nearest samples only.
#ifndef KESTREL_CORE_FOURIER_CUBES_HPP
#define KESTREL_CORE_FOURIER_CUBES_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/fourier/geometry.hpp"
#include "core/fourier/ranges.hpp"

namespace kestrel {

/// A box of whitened coordinates, the last d axes of three; the others are [0, 0].
struct Box3 {
  Point3 low{}, high{};

  static Box3 empty(std::size_t d) {
    Box3 box;
    for (std::size_t a = 3 - d; a < 3; ++a) {
      box.low[a] = kInfinity;
      box.high[a] = -box.low[a];
    }
    return box;
  }
  void add(const Point3& z) {
    for (std::size_t a = 0; a < 3; ++a) {
      low[a] = std::min(low[a], z[a]);
      high[a] = std::max(high[a], z[a]);
    }
  }
  bool is_empty() const { return !(low[0] <= high[0] && low[1] <= high[1] && low[2] <= high[2]); }
  bool holds(const Point3& z) const { return squared_distance({z, z}) == 0; }
  /// The part of it that is within `reach` of another box along each axis.
  Box3 within(const Box3& other, double reach) const {
    Box3 box = *this;
    for (std::size_t a = 0; a < 3; ++a) {
      box.low[a] = std::max(box.low[a], other.low[a] - reach);
      box.high[a] = std::min(box.high[a], other.high[a] + reach);
    }
    return box;
  }
  /// The squared distance of the nearest points of two boxes.
  double squared_distance(const Box3& other) const {
    double sum = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double gap = std::max({0.0, other.low[a] - high[a], low[a] - other.high[a]});
      sum += gap * gap;
    }
    return sum;
  }
};

/// A box cut into cubes, and samples or points filed under the cubes that they lie in. Along each
/// axis two cubes are united to one of twice the side, and so on: a search visits only those that
/// hold something.
class Cubes {
 public:
  /// `side` is increased if there would be more than `max` cubes.
  Cubes(const Box3& box, double side, std::size_t max);

  std::size_t count() const { return size_of(level_[0]); }
  /// The cube of a point of the box.
  std::uint32_t number(const Point3& z) const;

  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
  /// Files item i under cube number[i], unless that is kNowhere. O(items + cubes).
  void file(const std::vector<std::uint32_t>& number);
  /// The items of a cube, in ascending order.
  const std::size_t* begin(std::size_t cube) const { return item_.data() + start_[cube]; }
  const std::size_t* end(std::size_t cube) const { return item_.data() + start_[cube + 1]; }

  /// Calls visit(cube) for the cubes that hold items and whose squared distance from `box` is at
  /// most `max`, which visit() may decrease. Near cubes tend to come first.
  template <class Visit>
  void visit(const Box3& box, const double& max, const Visit& visit) const {
    descend(level_.size() - 1, {0, 0, 0}, box, max, visit);
  }

 private:
  using CubeIndex = std::array<std::size_t, 3>;
  struct Level {
    CubeIndex cubes;
    std::vector<char> holds_items;
  };
  static std::size_t size_of(const Level& level) {
    return level.cubes[0] * level.cubes[1] * level.cubes[2];
  }
  static std::size_t at(const Level& level, const CubeIndex& index) {
    return (index[0] * level.cubes[1] + index[1]) * level.cubes[2] + index[2];
  }

  template <class Visit>
  void descend(std::size_t level, const CubeIndex& index, const Box3& box, const double& max,
               const Visit& visit) const {
    if (!level_[level].holds_items[at(level_[level], index)]) return;
    const double side = side_ * static_cast<double>(std::size_t{1} << level);
    Box3 cube;
    std::size_t near = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      cube.low[a] = low_[a] + side * static_cast<double>(index[a]);
      cube.high[a] = cube.low[a] + side;
      if (box.low[a] + box.high[a] > cube.low[a] + cube.high[a]) near |= std::size_t{1} << a;
    }
    if (cube.squared_distance(box) > max) return;
    if (level == 0) {
      visit(at(level_[0], index));
      return;
    }
    const Level& parts = level_[level - 1];
    for (std::size_t part = 0; part < 8; ++part) {
      const std::size_t half = part ^ near;
      const CubeIndex next{2 * index[0] + (half & 1), 2 * index[1] + (half >> 1 & 1),
                           2 * index[2] + (half >> 2)};
      if (next[0] < parts.cubes[0] && next[1] < parts.cubes[1] && next[2] < parts.cubes[2]) {
        descend(level - 1, next, box, max, visit);
      }
    }
  }

  Point3 low_;
  double side_, per_side_;
  std::vector<Level> level_;
  std::vector<std::size_t> item_, start_;
};

}  // namespace kestrel

#endif
