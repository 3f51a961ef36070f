#include "core/fourier/cubes.hpp"

#include <cmath>

#include "core/base/whole.hpp"

namespace kestrel {

Cubes::Cubes(const Box3& box, double side, std::size_t max) : low_(box.low), side_(side) {
  const auto along = [&](std::size_t a) {
    return std::floor((box.high[a] - box.low[a]) / side_) + 1;
  };
  while (along(0) * along(1) * along(2) > static_cast<double>(max)) side_ *= 2;
  per_side_ = 1 / side_;
  level_.push_back({{whole_number<std::size_t>(along(0)), whole_number<std::size_t>(along(1)),
                     whole_number<std::size_t>(along(2))},
                    {}});
  while (size_of(level_.back()) > 1) {
    const CubeIndex& cubes = level_.back().cubes;
    level_.push_back({{(cubes[0] + 1) / 2, (cubes[1] + 1) / 2, (cubes[2] + 1) / 2}, {}});
  }
}

std::uint32_t Cubes::number(const Point3& z) const {
  CubeIndex index;
  for (std::size_t a = 0; a < 3; ++a) {
    const double cube = std::max(0.0, (z[a] - low_[a]) * per_side_);
    index[a] = std::min(whole_number<std::size_t>(cube), level_[0].cubes[a] - 1);
  }
  return static_cast<std::uint32_t>(at(level_[0], index));
}

void Cubes::file(const std::vector<std::uint32_t>& number) {
  start_.assign(count() + 1, 0);
  for (const std::uint32_t cube : number) {
    if (cube != kNowhere) ++start_[cube + 1];
  }
  for (std::size_t cube = 0; cube < count(); ++cube) start_[cube + 1] += start_[cube];
  std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
  item_.resize(start_.back());
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (number[i] != kNowhere) item_[next[number[i]]++] = i;
  }
  for (Level& level : level_) level.holds_items.assign(size_of(level), 0);
  for (std::size_t cube = 0; cube < count(); ++cube) {
    if (start_[cube + 1] == start_[cube]) continue;
    const Level& first = level_[0];
    CubeIndex index{cube / (first.cubes[1] * first.cubes[2]),
                    cube / first.cubes[2] % first.cubes[1], cube % first.cubes[2]};
    for (Level& level : level_) {
      level.holds_items[at(level, index)] = 1;
      for (std::size_t& p : index) p /= 2;
    }
  }
}

}  // namespace kestrel
